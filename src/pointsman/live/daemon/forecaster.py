"""When jobs will start, worked out beside the turns, and what would be if something else were done."""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from pointsman.engine.jit.ahead import HOSTED_HOOKS, compile_ahead, units_of
from pointsman.errors import PointsmanError
from pointsman.live.daemon.daemon import Daemon, TooMany
from pointsman.live.forecast.futures import Start, starts
from pointsman.live.forecast.present import Present
from pointsman.live.forecast.record import Record
from pointsman.live.forecast.whatif import Answer, Change, what_if
from pointsman.live.records.book import Cause

EVERY_S: Final = 10.0
BUSY: Final = 0.1
"""Forecasts that nobody asked for take no more of the time than this."""
FRESH_MS: Final = 10_000
"""Whoever asks is told what was foretold no longer ago than that."""
SWITCH_S: Final = 0.0002
"""For how long a forecast keeps the interpreter from a turn, which lets go of it at each statement of SQL. Python's own
5 ms made turns take ten times as long.
"""
_MOST_ASKING: Final = 2
_ENDING: Final = (Cause.CANCEL, Cause.TIME_LIMIT)


@dataclass(frozen=True)
class Foretold:
    """When jobs start that wait."""

    at_ms: int
    starts: dict[int, Start]
    """By job, from `at_ms` on."""


class Forecaster:
    """One thread beside the daemon's, which gets a copy of the world."""

    def __init__(self, daemon: Daemon) -> None:
        sys.setswitchinterval(SWITCH_S)
        self._daemon = daemon
        self._thread = ThreadPoolExecutor(1, "forecast")
        self._record = Record()
        self._last: Foretold | None = None
        self._took_s = 0.0
        self._under_way: asyncio.Task[Foretold] | None = None
        self._asking: Counter[int] = Counter()
        """By user, questions that are being answered."""

    async def run(self) -> None:
        """Promise jobs that come when they will start."""
        while True:
            await asyncio.sleep(max(EVERY_S, self._took_s * (1 / BUSY - 1)))
            if self.unpromised():
                with suppress(PointsmanError):  # whoever asks is told
                    await self.foretell()

    def unpromised(self) -> bool:
        """Whether a job waits that has been promised no start."""
        made = self._daemon.loop.promises.made
        return any(job not in made for job in self._waiting())

    def _waiting(self) -> Iterator[int]:
        loop = self._daemon.loop
        return (job for job in loop.jobs if loop.attempt_of(job) is None and job not in loop.held)

    async def foretold(self) -> Foretold:
        """A recent forecast, if it has all pending jobs, else a new one.

        Raises:
            UsageError: nothing can be foretold under this policy.
        """
        last = self._last
        fresh = last is not None and self._daemon.clock.now_ms() - last.at_ms < FRESH_MS
        if last is not None and fresh and all(job in last.starts for job in self._waiting()):
            return last
        return await self.foretell()

    async def foretell(self) -> Foretold:
        """A new forecast; callers that come meanwhile share it."""
        if self._under_way is None or self._under_way.done():
            self._under_way = asyncio.create_task(self._foretell())
        return await asyncio.shield(self._under_way)

    async def _foretell(self) -> Foretold:
        present, began_s = self._present(), time.monotonic()
        found = await self._aside(lambda: starts(present, self._record))
        self._took_s = time.monotonic() - began_s
        self._last = Foretold(present.now_ms, found)
        self._promise(present, self._last)
        return self._last

    async def what_if(self, change: Change, uid: int) -> Answer:
        """What would be if this were done now, as user `uid` asks.

        Raises:
            UsageError: it cannot be foretold. InputError: the cluster could never run such a job. TooMany: others ask.
        """
        if self._asking[uid] >= _MOST_ASKING:
            raise TooMany(f"{_MOST_ASKING} questions of yours are being answered; ask again in a while")
        present, roster = self._present(), self._daemon.roster
        self._asking[uid] += 1
        try:
            return await self._aside(lambda: _answer(present, change, roster, self._record))
        finally:
            self._asking[uid] -= 1

    async def _aside(self, work: Callable[[], Any]) -> Any:
        def with_record() -> Any:
            self._record.read_on(self._daemon.store.path)
            return work()

        return await asyncio.get_running_loop().run_in_executor(self._thread, with_record)

    def _present(self) -> Present:
        loop = self._daemon.loop
        known = len(loop.world.prepared.trace)
        attempts = loop.attempts.values()
        return Present(
            loop.world.copy(),
            max(self._daemon.clock.now_ms(), loop.world.now_ms),
            dict(loop.jobs),
            {one.id.job: one.started_ms for one in attempts if one.started_ms is not None},
            tuple((job, until_ms) for job, until_ms in loop.pauses.ends_ms().items() if job not in loop.held),
            {kind: number for kind, number in self._daemon.roster.numbers.items() if number < known},
            cancelled=tuple(one.id.job for one in attempts if one.cause in _ENDING),
        )

    def _promise(self, present: Present, foretold: Foretold) -> None:
        """To jobs that have not started yet, once."""
        jobs = present.world.simulation.handle.jobs
        loop, at_ms = self._daemon.loop, foretold.at_ms
        new = set(jobs["row"][(jobs["state"] != 0) & (jobs["attempt"] == 0)].tolist()) - loop.promises.made
        made = {
            job: (at_ms + start.early_ms, at_ms + start.likely_ms, at_ms + start.late_ms)
            for job, start in foretold.starts.items()
            if job in new and job in loop.jobs and loop.attempt_of(job) is None
        }
        if made:
            with self._daemon.store.turn():
                loop.promises.make(at_ms, made)

    def close(self) -> None:
        """Begin nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _answer(present: Present, change: Change, roster: Any, record: Record) -> Answer:
    if change.deciding is not None:
        policy: Any = change.deciding.spec.make(dict(change.deciding.params))
        compile_ahead(units_of(getattr(policy, "hooks", HOSTED_HOOKS)))
    return what_if(present, change, roster, record)
