"""A daemon and its socket, for as long as it lives."""

import asyncio
import os
import signal
import socket
import stat
import sys
import traceback
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import uvicorn

from pointsman.errors import BackendError, UsageError
from pointsman.live.daemon.app import api
from pointsman.live.daemon.forecaster import Forecaster
from pointsman.live.daemon.observing import daemon_of
from pointsman.live.daemon.peers import PeerProtocol
from pointsman.live.daemon.setting import Setting

SWITCH_S: Final = 0.0002
"""For how long a thread beside the turns keeps the interpreter from one, which lets go of it at each statement of SQL.
Python's own 5 ms made turns take ten times as long.
"""


def serve(setting: Setting, path: Path, operators: frozenset[int], ready: Callable[[], None]) -> None:
    """Own a live cluster until asked to stop, by SIGTERM or SIGINT; `ready` is called once it listens at `path`.

    Raises:
        UsageError: the policy cannot run live, or something else is at `path`. BackendError: another daemon owns the
            store, or a turn could not be kept.
    """
    asyncio.run(_serve(setting, path, operators, ready))


async def _serve(setting: Setting, path: Path, operators: frozenset[int], ready: Callable[[], None]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it is ignored, nobody hears how a process ends
    sys.setswitchinterval(SWITCH_S)
    daemon = daemon_of(setting)
    await daemon.take_turn()
    listening = _listening(path)
    ours = path.stat().st_ino
    forecaster = Forecaster(daemon)
    config = uvicorn.Config(
        api(daemon, forecaster, operators),
        http=PeerProtocol,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    server.capture_signals = _no_signals  # ty: ignore
    answering = asyncio.create_task(server.serve(sockets=[listening]))
    tasks = [asyncio.create_task(_heard_of(one)) for one in (forecaster.run(), *daemon.beside(forecaster))]
    ready()
    try:
        await daemon.run()
    finally:
        if path.exists() and path.stat().st_ino == ours:  # else it is that of another daemon by now
            path.unlink()
        for task in tasks:
            task.cancel()
        forecaster.close()
        server.should_exit = True
        await answering


async def _heard_of(beside: Coroutine[Any, Any, None]) -> None:
    """What happens beside turns may fail; the daemon's log says so."""
    try:
        await beside
    except Exception:
        traceback.print_exc()


def _listening(path: Path) -> socket.socket:
    """A socket at `path` to which all users may connect; the kernel says who they are."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if path.exists():
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise UsageError(f"{path} is no socket; name another place")
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(path))
                raise BackendError(f"another daemon listens at {path}")
            except ConnectionRefusedError:
                path.unlink()  # of one that died
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.bind(str(path))
    except OSError as error:
        listening.close()
        raise UsageError(f"{path}: {error.strerror}; name a shorter path in a folder that you may write to") from None
    os.chmod(path, 0o666)
    return listening


class _no_signals:
    """Signals are the daemon's affair."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass
