"""When jobs will start, worked out beside the turns, and what would be if something else were done."""

import asyncio
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeVar

from pointsman.errors import PointsmanError
from pointsman.live.control.loop import RELIEVED
from pointsman.live.daemon.daemon import Daemon, TooMany
from pointsman.live.forecast.calibration import Start
from pointsman.live.forecast.moment import Moment
from pointsman.live.forecast.process import FilesChanged, ForecastProcess
from pointsman.live.forecast.whatif import Answer, Change
from pointsman.live.records.book import Cause
from pointsman.live.world.checkpoint import checkpoint

FIRST_S: Final = 1.0
"""For so long a daemon that begins has the machine to itself; a question that comes sooner is answered all the same."""
EVERY_S: Final = 10.0
BUSY: Final = 0.1
"""Forecasts that nobody asked for take no more of the time than this."""
FRESH_MS: Final = 10_000
"""Whoever asks is told what was foretold no longer ago than that."""
_T = TypeVar("_T")
_MOST_ASKING: Final = 2
_ENDING: Final = (Cause.CANCEL, Cause.TIME_LIMIT)


@dataclass(frozen=True)
class Foretold:
    """When jobs start that wait."""

    at_ms: int
    starts: dict[int, Start]
    """By job, from `at_ms` on."""


class Forecaster:
    """Two processes beside the daemon's, which get its world as it is between two turns."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        cluster, store = daemon.roster.cluster, daemon.store.path
        self._starting, self._asked = ForecastProcess(cluster, store), ForecastProcess(cluster, store)
        self._last: Foretold | None = None
        self._by: object = None
        """The policy by which it was foretold."""
        self._took_s = 0.0
        self._under_way: asyncio.Task[Foretold] | None = None
        self._asking: Counter[int] = Counter()
        """By user, questions that are being answered."""
        self._has_told = False

    async def run(self) -> None:
        """Promise jobs that come when they will start."""
        await asyncio.sleep(FIRST_S)
        with suppress(PointsmanError, OSError):  # whoever asks is told
            await self._starting.begin()
        while True:
            await asyncio.sleep(max(EVERY_S, self._took_s * (1 / BUSY - 1)))
            if self.unpromised():
                try:
                    await self.foretell()
                except FilesChanged:
                    return
                except PointsmanError:
                    pass  # whoever asks is told
                except Exception:  # of a policy in Python: the next time may be better
                    traceback.print_exc()

    def unpromised(self) -> bool:
        """Whether a job waits that has been promised no start."""
        made = self._daemon.loop.promises.made
        return any(job not in made for job in self._waiting())

    def _waiting(self) -> Iterator[int]:
        loop = self._daemon.loop
        return (job for job in loop.jobs if loop.attempt_of(job) is None and job not in loop.held)

    @property
    def _policy(self) -> object:
        return self._daemon.loop.world.simulation.policy

    async def foretold(self) -> Foretold:
        """A recent forecast, if it has all pending jobs, else a new one.

        Raises:
            UsageError: nothing can be foretold under this policy.
        """
        last = self._last
        fresh = last is not None and self._daemon.clock.now_ms() - last.at_ms < FRESH_MS and self._by is self._policy
        if last is not None and fresh and all(job in last.starts for job in self._waiting()):
            return last
        return await self.foretell()

    async def foretell(self) -> Foretold:
        """A new forecast; callers that come meanwhile share it."""
        if self._under_way is None or self._under_way.done():
            self._under_way = asyncio.create_task(self._foretell())
        return await asyncio.shield(self._under_way)

    async def _foretell(self) -> Foretold:
        began_s, policy = time.monotonic(), self._policy
        foretold = Foretold(*await self._tell_of_change(self._starting.starts(self._now)))
        self._last, self._by, self._took_s = foretold, policy, time.monotonic() - began_s
        self._promise(foretold)
        return foretold

    async def what_if(self, change: Change, uid: int) -> Answer:
        """What would be if this were done now, as user `uid` asks.

        Raises:
            UsageError: it cannot be foretold. InputError: the cluster could never run such a job. TooMany: others ask.
        """
        if self._asking[uid] >= _MOST_ASKING:
            raise TooMany(f"{_MOST_ASKING} questions of yours are being answered; ask again in a while")
        self._asking[uid] += 1
        try:
            return await self._tell_of_change(self._asked.what_if(self._now, change))
        finally:
            self._asking[uid] -= 1

    async def order(self) -> list[int]:
        """The pending jobs of an observed world in the order in which its policy would start them.

        Raises:
            UsageError: nothing can be foretold under this policy.
        """
        return await self._tell_of_change(self._asked.order(self._now))

    async def _tell_of_change(self, answering: Awaitable[_T]) -> _T:
        """An answer; an alarm says once that there can be none until the daemon is started again."""
        try:
            return await answering
        except FilesChanged as error:
            if not self._has_told:
                self._has_told = True
                with self._daemon.store.turn():
                    self._daemon.loop.alarms.sound(str(error), self._daemon.clock.now_ms())
            raise

    def _now(self) -> Moment:
        loop, roster = self._daemon.loop, self._daemon.roster
        attempts = loop.attempts.values()
        with self._daemon.watched():  # the policy says what it remembers
            kept = checkpoint(loop.world)
        return Moment(
            kept,
            roster.deciding,
            self._daemon.store.setting(RELIEVED),
            tuple(roster.kinds[: len(loop.world.prepared.trace)]),
            max(self._daemon.clock.now_ms(), loop.world.now_ms),
            {one.id.job: one.started_ms for one in attempts if one.started_ms is not None},
            tuple((job, until_ms) for job, until_ms in loop.pauses.ends_ms().items() if job not in loop.held),
            tuple(one.id.job for one in attempts if one.cause in _ENDING),
        )

    def _promise(self, foretold: Foretold) -> None:
        """To jobs that have not started yet, once."""
        loop, at_ms = self._daemon.loop, foretold.at_ms
        jobs = loop.world.simulation.handle.jobs
        new = set(jobs["row"][(jobs["state"] != 0) & (jobs["attempt"] == 0)].tolist()) - loop.promises.made
        made = {
            job: (at_ms + start.early_ms, at_ms + start.likely_ms, at_ms + start.late_ms, start.scale_ms)
            for job, start in foretold.starts.items()
            if job in new
        }
        if made:
            with self._daemon.store.turn():
                loop.promises.make(at_ms, made)

    def close(self) -> None:
        """Answer nothing more."""
        self._starting.close()
        self._asked.close()
