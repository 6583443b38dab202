"""Requests to a daemon over its unix socket, with the standard library alone."""

import http.client
import json
import os
import socket
import struct
from pathlib import Path
from typing import Any

from pointsman.errors import BackendError, PointsmanError

SOCKET = "POINTSMAN_SOCKET"
"""The environment variable that names the socket."""


class Refused(PointsmanError):
    """The daemon refused a request, and said why."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def own_folder() -> Path:
    """Where a daemon of this user keeps its files by default."""
    if os.getuid() == 0:
        return Path("/var/lib/pointsman")
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "pointsman"


def own_socket() -> Path:
    """Where a daemon of this user listens by default."""
    if os.getuid() == 0:
        return Path("/run/pointsman/api.sock")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return Path(runtime) / "pointsman" / "api.sock" if runtime else own_folder() / "api.sock"


def known_socket() -> Path:
    """Where the daemon listens: the one that the environment names, this user's own, or the machine's."""
    if named := os.environ.get(SOCKET):
        return Path(named)
    return own if (own := own_socket()).exists() else Path("/run/pointsman/api.sock")


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))
        self._check_owner()

    def _check_owner(self) -> None:
        """A socket that any user may have made in its place is not spoken to."""
        found = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        uid = struct.unpack("3i", found)[1]
        if uid not in (0, os.getuid(), self.path.parent.stat().st_uid):
            raise BackendError(f"{self.path} belongs to user {uid}, who is not the owner of its folder")


def call(method: str, path: str, body: Any = None) -> Any:
    """What the daemon answers.

    Raises:
        BackendError: it cannot be reached. Refused: it will not do that.
    """
    place = known_socket()
    connection = _Connection(place)
    try:
        content = None if body is None else json.dumps(body).encode()
        connection.request(method, f"/api/v1{path}", content, {"Content-Type": "application/json"} if content else {})
        answer = connection.getresponse()
        data = json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise BackendError(f"no daemon answers at {place}: {why} ('pointsman live start' starts one)") from None
    finally:
        connection.close()
    if answer.status >= 400:
        raise Refused(str(data.get("detail", data)), int(data.get("exit_code", 1)))
    return data
