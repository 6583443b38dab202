"""A process in which questions about what may come are answered, so that no turn waits for them."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any, Final

from pointsman.cluster import Cluster
from pointsman.engine.sdk.live import load_policy
from pointsman.errors import BackendError, PointsmanError
from pointsman.live.forecast.calibration import Start
from pointsman.live.forecast.futures import likely_order, starts
from pointsman.live.forecast.moment import Moment
from pointsman.live.forecast.record import Record
from pointsman.live.forecast.whatif import Answer, Change, stand_in, under, under_own_policy, what_if
from pointsman.live.world.checkpoint import NotAlike

_DIED: Final = "the process that looks ahead has died; ask again, and see the daemon's log"
CHANGED: Final = (
    "Pointsman's files have changed since the daemon was started, and nothing more is foretold: start it again; jobs "
    "run on meanwhile"
)
_PACKAGE: Final = Path(__file__).parents[2]
_ORDER: Final = "order"
LONGEST_S: Final = 600.0
"""After which whoever asks is told that there is no answer."""


class FilesChanged(BackendError):
    """A new process would be of another version than the daemon."""


class ForecastProcess:
    """It answers one question at a time. It begins when it is first asked, and anew if it has died."""

    def __init__(self, cluster: Cluster, store: Path) -> None:
        self._cluster, self._store = cluster, store
        self._free = asyncio.Lock()
        self._process: BaseProcess | None = None
        self._closed = False
        self._files = _stamp_of_files()

    async def begin(self) -> None:
        """It takes seconds to import what it needs."""
        async with self._free:
            await asyncio.to_thread(self._begin_if_none)

    async def starts(self, now: Callable[[], Moment]) -> tuple[int, dict[int, Start]]:
        """When each pending job starts, by its row, from a time on, ms. `now` is called once the process is free.

        Raises:
            UsageError: nothing can be foretold under this policy. BackendError: the process has died. FilesChanged: it
                cannot begin.
        """
        return await self._ask(now, None)

    async def what_if(self, now: Callable[[], Moment], change: Change) -> Answer:
        """What would be if this were done now.

        Raises:
            UsageError: it cannot be foretold. InputError: the cluster could never run such a job. BackendError: the
                process has died.
        """
        return await self._ask(now, change)

    async def order(self, now: Callable[[], Moment]) -> list[int]:
        """The pending jobs of an observed world, by row, in the order in which its policy would start them.

        Raises:
            UsageError: nothing can be foretold under this policy. BackendError: the process has died. FilesChanged: it
                cannot begin.
        """
        return await self._ask(now, _ORDER)

    async def _ask(self, now: Callable[[], Moment], change: Change | str | None) -> Any:
        answer = await asyncio.shield(asyncio.create_task(self._answered(now, change)))  # or the next gets this answer
        if isinstance(answer, PointsmanError):
            raise answer
        return answer

    async def _answered(self, now: Callable[[], Moment], change: Change | str | None) -> Any:
        async with self._free:
            answering = asyncio.create_task(asyncio.to_thread(self._answer, now(), change))
            try:
                return await asyncio.wait_for(asyncio.shield(answering), LONGEST_S)
            except TimeoutError:
                self._kill()  # it may not even read what it is asked
                await answering
                return BackendError(f"there is no answer after {LONGEST_S:g} s")

    def _answer(self, moment: Moment, change: Change | str | None) -> Any:
        try:
            self._begin_if_none()
            self._pipe.send((moment._replace(checkpoint=b""), change))
            self._pipe.send_bytes(moment.checkpoint)  # as it is, without a copy
            answer = self._pipe.recv()
            return FilesChanged(CHANGED) if isinstance(answer, NotAlike) and self._are_files_changed() else answer
        except (EOFError, OSError):
            self._kill()
            if self._process is not None:
                self._process.join()  # or it seems to be alive for a moment, and the next is asked of it
            if self._closed:
                return BackendError("the daemon is stopping")
            return FilesChanged(CHANGED) if self._are_files_changed() else BackendError(_DIED)

    def _begin_if_none(self) -> None:
        if self._closed:
            raise BackendError("the daemon is stopping")
        if self._process is None or not self._process.is_alive():
            if self._are_files_changed():
                raise FilesChanged(CHANGED)
            context = get_context("spawn")
            self._pipe, other = context.Pipe()
            process = context.Process(target=_serve, args=(other, self._cluster, self._store), daemon=True)
            process.start()
            other.close()
            self._process = process

    def _are_files_changed(self) -> bool:
        return self._files != _stamp_of_files()

    def close(self) -> None:
        """What is being answered remains without an answer."""
        self._closed = True
        self._kill()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()


def _stamp_of_files() -> int:
    """Another one once a module of this package is another, or has been written again."""
    found = (path.stat() for path in sorted(_PACKAGE.rglob("*.py")))
    return hash(tuple((one.st_mtime_ns, one.st_size) for one in found))


def _serve(pipe: Connection, cluster: Cluster, store: Path) -> None:
    """Answer what is asked, for as long as the daemon lives."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which a terminal sends to all
    Thread(target=_die_with_parent, daemon=True).start()
    record = Record()
    with suppress(EOFError, ConnectionError):  # the daemon has died, which the thread may learn later
        while True:
            moment, change = pipe.recv()
            moment = moment._replace(checkpoint=pipe.recv_bytes())
            pipe.send(_answer_or_error(moment, change, cluster, record, store))


def _die_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)


def _answer_or_error(moment: Moment, change: Change | str | None, cluster: Cluster, record: Record, store: Path) -> Any:
    try:
        return _answer(moment, change, cluster, record, store)
    except PointsmanError as error:
        return error


def _answer(moment: Moment, change: Change | str | None, cluster: Cluster, record: Record, store: Path) -> Any:
    present, roster = moment.made_again(cluster, record, store)
    if isinstance(change, str):
        return likely_order(under_own_policy(present), record)
    then = None
    if moment.deciding.observes is not None:
        if change is not None and change.deciding == moment.deciding:
            then = under_own_policy(present)
        present, roster = under(present, stand_in(moment.deciding), roster)
    if change is None:
        return moment.now_ms, starts(present, record)
    if change.deciding is not None:
        policy: Any = change.deciding.spec.make(dict(change.deciding.params))
        load_policy(policy)
    return what_if(present, change, roster, record, then=then)
