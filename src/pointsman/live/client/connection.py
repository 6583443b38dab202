"""Requests to a daemon over its unix socket, with the standard library alone."""

import json
import os
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pointsman.errors import BackendError, PointsmanError, UsageError

SOCKET = "POINTSMAN_SOCKET"
"""The environment variable that names the socket."""


_MOST_BYTES = 1 << 20


class Refused(PointsmanError):
    """The daemon refused a request, and said why."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class NoDaemon(BackendError):
    """Nobody listens there."""


_MACHINES: Final = Path("/var/lib/pointsman")


def own_folder() -> Path:
    """Where a daemon of this user keeps its files by default."""
    if os.getuid() == 0:
        return _MACHINES
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


def known_folder() -> Path:
    """Where the daemon that listens keeps its files; without one, where this user's own has kept them, or the
    machine's.
    """
    with suppress(BackendError):
        if folder := served_folder():
            return folder
    own = own_folder()
    return _MACHINES if os.path.exists(_MACHINES / "store") and not os.path.exists(own / "store") else own


def served_folder() -> Path | None:
    """Where the daemon that listens keeps its files; None if it does not say.

    Raises:
        NoDaemon, BackendError, Refused: as `call`.
    """
    folder = call("GET", "/status").get("state")
    return None if folder is None else Path(folder)


def _connect(path: Path, timeout_s: float) -> socket.socket:
    """A socket that another user cannot have made in the daemon's place."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(timeout_s)
        connection.connect(str(path))
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        uid = struct.unpack("3i", found)[1]
        if uid not in (0, os.getuid(), path.parent.stat().st_uid):
            raise BackendError(f"{path} belongs to user {uid}, who is not the owner of its folder")
    except BaseException:
        connection.close()
        raise
    return connection


def _exchange(place: Path, method: str, path: str, body: Any, timeout_s: float) -> tuple[int, Any]:
    """The status and the content of an answer. Python's own client of HTTP takes half of the time of a command to
    import, for what is needed of it here: one request, answered by as many bytes as come.
    """
    content = b"" if body is None else json.dumps(body).encode()
    if len(content) > _MOST_BYTES:
        raise UsageError(
            f"the request has {len(content):,} bytes, and at most {_MOST_BYTES:,} are taken (--export NONE?)"
        )
    head = f"{method} /api/v1{path} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {len(content)}\r\n"
    with _connect(place, timeout_s) as connection:
        connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + content)
        with connection.makefile("rb") as answer:
            status = int(answer.readline().split()[1])
            while answer.readline().strip():
                pass
            return status, json.loads(answer.read())


def quoted(name: str) -> str:
    """A name as part of a path."""
    return "".join(
        c if c.isascii() and (c.isalnum() or c in "-_.~") else f"%{byte:02X}"
        for c in name
        for byte in c.encode(errors="surrogateescape")
    )


def call(method: str, path: str, body: Any = None, timeout_s: float = 60.0) -> Any:
    """What the daemon answers.

    Raises:
        NoDaemon: there is none. BackendError: it cannot be reached, or gives no answer. Refused: it will not do that.
    """
    place = known_socket()
    try:
        status, data = _exchange(place, method, path, body, timeout_s)
    except TimeoutError:
        raise BackendError(f"the daemon at {place} gave no answer in {timeout_s:g} s") from None
    except (OSError, ValueError, IndexError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        gone = FileNotFoundError | ConnectionRefusedError | ConnectionResetError  # the last one of a daemon that dies
        kind = NoDaemon if isinstance(error, gone) else BackendError
        raise kind(f"no daemon answers at {place}: {why} ('pointsman live start' starts one)") from None
    if status >= 400:
        raise Refused(str(data.get("detail", data)), int(data.get("exit_code", 1)))
    return data
