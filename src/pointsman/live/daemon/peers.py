"""Who is at the other end of a unix socket: the kernel says, and nobody can say otherwise."""

import asyncio
import socket
import struct
from typing import Any, NamedTuple

from uvicorn.protocols.http.h11_impl import H11Protocol

_CREDENTIALS = struct.Struct("3i")


class Peer(NamedTuple):
    """A process that has connected."""

    pid: int
    uid: int
    gid: int


class PeerProtocol(H11Protocol):
    """HTTP whose requests know the `peer` in their state."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Ask the kernel, once for each connection."""
        connection: Any = transport.get_extra_info("socket")
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        self.app_state = {**self.app_state, "peer": Peer(*_CREDENTIALS.unpack(found))}
        super().connection_made(transport)
