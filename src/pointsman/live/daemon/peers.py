"""Who is at the other end of a unix socket: the kernel says, and nobody can say otherwise."""

import asyncio
import socket
import struct
from collections import Counter
from typing import Any, ClassVar, NamedTuple

from uvicorn.protocols.http.h11_impl import H11Protocol

_CREDENTIALS = struct.Struct("3i")


class Peer(NamedTuple):
    """A process that has connected."""

    pid: int
    uid: int
    gid: int


class PeerProtocol(H11Protocol):
    """HTTP whose requests know the `peer` in their state. No user may keep many connections from the others."""

    most_of_user = 64
    """Connections of one user at once."""
    _open: ClassVar[Counter[int]] = Counter()

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Ask the kernel, once for each connection."""
        connection: Any = transport.get_extra_info("socket")
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        self.peer = Peer(*_CREDENTIALS.unpack(found))
        self.app_state = {**self.app_state, "peer": self.peer}
        self._open[self.peer.uid] += 1
        super().connection_made(transport)
        if self._open[self.peer.uid] > self.most_of_user:
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """One less of its user."""
        self._open[self.peer.uid] -= 1
        super().connection_lost(exc)
