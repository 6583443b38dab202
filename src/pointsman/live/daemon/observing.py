"""The owner of a mirror of a cluster on which another scheduler decides."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn, Protocol

from pointsman.engine.sdk.live import STARTS_INCLUDED
from pointsman.errors import PointsmanError, UsageError
from pointsman.live.backends.facts import Refused, Unsure
from pointsman.live.control.orders import Order
from pointsman.live.daemon.daemon import Daemon
from pointsman.live.daemon.forecaster import Forecaster
from pointsman.live.daemon.setting import OBSERVED, Setting
from pointsman.live.daemon.submission import Submission
from pointsman.live.forecast.whatif import Change
from pointsman.live.observe.advising import Advice, Advised, Adviser, note_taken_back, to_take_back
from pointsman.live.observe.loop import Looks, ObservingLoop
from pointsman.live.observe.sight import Cost
from pointsman.live.world.roster import Deciding

COST_S: Final = 60.0
"""Between two times that it is noted what looking costs."""
WORTH_S: Final = 3600.0
"""Between two times that it is worked out what the policy would change."""
FIRST_S: Final = 120.0
"""After the first look, it is worked out so soon."""
LOOKS: Final = 6
"""From one time that priorities are changed to the next."""
_OURSELVES: Final = -1
_ADD_COST: Final = """
INSERT INTO looks VALUES (?, ?, ?, ?) ON CONFLICT (hour, command) DO UPDATE SET
  requests = requests + excluded.requests, longest_s = max(longest_s, excluded.longest_s)
"""


class Watching(Looks, Advised, Protocol):
    """What looks, all the time."""

    @property
    def interval_s(self) -> float:
        """Between two looks, now."""
        ...

    def begin(self, keys: Mapping[str, bool]) -> None:
        """Look from now on; `keys` are those of the jobs that were seen lately, and whether they have ended."""
        ...

    def costs(self) -> Mapping[str, Cost]:
        """What looking costs, by the question."""
        ...


class ObservingDaemon(Daemon):
    """It decides nothing, and takes no jobs."""

    sort = OBSERVED
    Loop = ObservingLoop
    overheads = STARTS_INCLUDED
    loop: ObservingLoop  # ty: ignore

    def _recover(self) -> None:
        super()._recover()
        self.loop.owner = self
        self.watching: Watching = self.backend  # ty: ignore
        self.watching.begin(self.loop.keys())

    def _resolve_deciding(self, last: Deciding | None) -> Deciding:
        return replace(super()._resolve_deciding(last), observes=self.setting.observes)

    async def submit(self, submission: Submission, uid: int) -> int:
        self._refuse()

    async def order(self, order: Order) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        title = self.watching.title
        raise UsageError(f"this daemon only observes {title}, and changes nothing: use the commands of {title}")

    def beside(self, forecaster: Forecaster) -> list[Coroutine[Any, Any, None]]:
        """What it does besides turns."""
        tasks = [self.note_costs(), self.note_worths(forecaster)]
        return tasks if self.setting.advises is None else [*tasks, self.advise(forecaster)]

    async def advise(self, forecaster: Forecaster) -> None:
        """Bring the jobs that wait into the policy's order, now and then."""
        assert self.setting.advises is not None
        adviser = Adviser(self.store, self.setting.advises, self.roster.deciding.policy)
        while True:
            await asyncio.sleep(LOOKS * self.watching.interval_s)
            if len(self.loop.waiting) > 1:
                try:
                    order = await forecaster.order()
                except PointsmanError as error:
                    self._alarm(f"no order could be advised: {error}")
                    continue
                waiting = [self.loop.waiting[row] for row in order if row in self.loop.waiting]
                with self.store.turn():
                    planned = adviser.plan(waiting, self.clock.now_ms())
                failed = await self._set_all(planned)
                with self.store.turn():
                    adviser.forget(failed)

    async def hand_back(self) -> None:
        """Jobs that wait have their own priorities again."""
        planned = to_take_back(self.store)
        failed = await self._set_all(planned)
        with self.store.turn():
            done = [advice.unit for advice in planned if advice not in failed]
            note_taken_back(self.store, done, self.clock.now_ms())

    async def _set_all(self, planned: Sequence[Advice]) -> list[Advice]:
        """Set these nice values; which could not be set."""
        failed = []
        for advice in planned:
            try:
                await asyncio.to_thread(self.watching.set_nice, advice.unit, advice.nice)
            except (Refused, Unsure) as error:
                self._alarm(f"the nice value of {advice.unit} was not set: {error}")
                failed.append(advice)
        return failed

    def _alarm(self, said: str) -> None:
        with self.store.turn():
            self.loop.alarms.sound(said, self.clock.now_ms())

    async def note_costs(self) -> None:
        """Keep what looking costs, minute by minute."""
        while True:
            await asyncio.sleep(COST_S)
            hour = self.clock.now_ms() // 3_600_000
            rows = [(hour, kind, *cost) for kind, cost in self.watching.costs().items()]
            with self.store.turn():
                self.store.connection.executemany(_ADD_COST, rows)

    async def note_worths(self, forecaster: Forecaster) -> None:
        """Keep what the policy would change from now on, hour by hour."""
        await asyncio.sleep(FIRST_S)
        while True:
            await self._note_worth(forecaster)
            await asyncio.sleep(WORTH_S)

    async def _note_worth(self, forecaster: Forecaster) -> None:
        at_ms, jobs = self.clock.now_ms(), len(self.loop.jobs)
        if jobs == 0:
            return
        try:
            answer = await forecaster.what_if(Change(self.roster.deciding), _OURSELVES)
        except PointsmanError as error:
            self._alarm(f"it could not be worked out what the policy would change: {error}")
            return
        if answer.until_end is not None:
            figure = answer.until_end
            row = (at_ms, jobs, figure.now_s, figure.change_s, figure.low_s, figure.high_s, answer.gain, answer.lose)
            with self.store.turn():
                self.store.connection.execute("INSERT OR REPLACE INTO worths VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def daemon_of(setting: Setting) -> Daemon:
    """The daemon that a setting asks for."""
    if setting.preempts is not None:
        from pointsman.live.daemon.slurm.acting import ActingDaemon

        return ActingDaemon(setting)
    return Daemon(setting) if setting.observes is None else ObservingDaemon(setting)
