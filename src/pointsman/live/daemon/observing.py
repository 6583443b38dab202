"""The owner of a mirror of a cluster on which another scheduler decides."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from pointsman.cluster import Cluster
from pointsman.engine.sdk.live import STARTS_INCLUDED
from pointsman.errors import BackendError, PointsmanError, RunError, UsageError
from pointsman.live.backends.facts import Denied, Refused
from pointsman.live.control.alarms import Alarms
from pointsman.live.control.orders import JobOrder, UserOrder
from pointsman.live.daemon.daemon import Daemon
from pointsman.live.daemon.forecaster import Forecaster
from pointsman.live.daemon.setting import OBSERVED, Setting
from pointsman.live.daemon.slurm.instead import SUBMIT, refuse
from pointsman.live.daemon.submission import Submission
from pointsman.live.forecast.process import FilesChanged
from pointsman.live.forecast.whatif import Change
from pointsman.live.observe.advising import Advised, Adviser, hand_back, set_all
from pointsman.live.observe.loop import ObservingLoop
from pointsman.live.observe.priorities import LOWEST
from pointsman.live.observe.sight import Cost, Looks
from pointsman.live.records.seat_records import end_all
from pointsman.live.world.roster import Deciding

COST_S: Final = 60.0
"""Between two times that it is noted what looking costs."""
TROUBLE_S: Final = 15.0
"""What keeps us from looking so long is told."""
WORTH_S: Final = 3600.0
"""Between two times that it is worked out what the policy would change."""
FIRST_S: Final = 120.0
"""After the first look, it is worked out so soon."""
LOOKS: Final = 6
"""From one time that priorities are changed to the next."""
AT_FLOOR: Final = (
    f"jobs that have Slurm's lowest priority, {LOWEST}, cannot be brought into another order: give PriorityWeightAge "
    "in slurm.conf, or lower the nice values of users"
)
BY_OTHERS: Final = 3
"""An alarm tells it if somebody else has changed the nice values of this many jobs."""
SET_BY_OTHERS: Final = (
    "somebody else has changed nice values of jobs that this daemon had changed, and these jobs are left alone: if "
    "another daemon advises this Slurm, stop one of them by 'pointsman live stop --hand-back --state DIR'"
)
_OURSELVES: Final = -1
_ADD_COST: Final = """
INSERT INTO looks VALUES (?, ?, ?, ?) ON CONFLICT (hour, command) DO UPDATE SET
  requests = requests + excluded.requests, longest_s = max(longest_s, excluded.longest_s)
"""


class Watching(Looks, Advised, Protocol):
    """What looks, all the time."""

    trouble: str
    """Why the last look showed nothing; empty if it did."""

    @property
    def interval_s(self) -> float:
        """Between two looks, now."""
        ...

    def begin(self, keys: Mapping[str, bool]) -> None:
        """Look from now on; `keys` are those of the jobs that were seen lately, and whether they have ended."""
        ...

    def why_left(self, id_: str) -> str:
        """Why a job that is there is not observed; empty if none is called so."""
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
        self.loop.world.copy()  # which tells whether the policy can be asked at all
        self.loop.owner = self
        self._changing, self._hands_back = asyncio.Lock(), False
        self.watching: Watching = self.backend  # ty: ignore
        self.watching.begin(self.loop.keys())

    def _take_seats(self, cluster: Cluster, deciding: Deciding) -> None:
        try:
            super()._take_seats(cluster, deciding)
        except (UsageError, RunError):
            if not self._can_decide(cluster, deciding):
                raise
            self._forget_jobs()
            super()._take_seats(cluster, deciding)

    def _forget_jobs(self) -> None:
        """Nodes, GPUs or partitions that jobs have are not there any more: as they are seen, they come anew."""
        with self.store.turn():
            now_ms = end_all(self.store)
            said = "nodes or partitions have changed so that jobs do not fit any more: all jobs are taken in anew"
            Alarms(self.store).sound(said, now_ms)

    def _resolve_deciding(self, last: Deciding | None) -> Deciding:
        return replace(super()._resolve_deciding(last), observes=self.setting.observes)

    async def submit(self, submission: Submission, uid: int) -> int:
        raise UsageError(f"this daemon {self._does}: use '{SUBMIT}'")

    def check_takes(self, order: UserOrder) -> None:
        refuse(order, self.loop.jobs[order.job].shown if isinstance(order, JobOrder) else "", self._does)

    def why_left(self, id_: str) -> str:
        return self.watching.why_left(id_)

    @property
    def _does(self) -> str:
        title = self.watching.title
        if self.setting.advises is None:
            return f"only observes {title}, and changes nothing"
        return f"only changes priorities of {title}'s jobs"

    def beside(self, forecaster: Forecaster) -> list[Coroutine[Any, Any, None]]:
        """What it does besides turns."""
        tasks = [self.note_costs(), self.note_worths(forecaster), self.note_trouble(), self.take_back()]
        return tasks if self.setting.advises is None else [*tasks, self.advise(forecaster)]

    async def advise(self, forecaster: Forecaster) -> None:
        """Bring the jobs that wait into the policy's order, now and then."""
        assert self.setting.advises is not None
        adviser, said = Adviser(self.store, self.setting.advises), ""
        while True:
            await asyncio.sleep(LOOKS * self.watching.interval_s)
            async with self._changing:
                if self._hands_back:
                    return
                trouble = await self._advise_by(adviser, forecaster)
            if trouble and trouble != said:
                self._alarm(trouble)
            said = trouble

    async def _advise_by(self, adviser: Adviser, forecaster: Forecaster) -> str:
        """What went wrong."""
        if len(self.loop.waiting) < 2 or self.watching.trouble:
            return ""
        try:
            order = await forecaster.order()
        except FilesChanged:
            return ""  # which is told
        except PointsmanError as error:
            return f"no order could be advised: {error}"
        waiting = [self.loop.waiting[row] for row in order if row in self.loop.waiting]
        alive = {job.shown for job in self.loop.jobs.values()}
        with self.store.turn():
            planned = adviser.plan(waiting, alive, self.roster.deciding.policy, self.clock.now_ms())
        failed = await set_all(self.watching, planned)
        adviser.note_done([one for one in planned if one.unit not in failed], self.clock.now_ms())
        if adviser.count_theirs(waiting) >= BY_OTHERS:
            return SET_BY_OTHERS
        if sum(job.priority == LOWEST and adviser.scope.has(job) for job in waiting) > 1:
            return AT_FLOOR
        serious = [error for error in failed.values() if not isinstance(error, Refused) or isinstance(error, Denied)]
        return f"nice values were not set: {serious[0]}" if serious else ""

    async def take_back(self) -> None:
        """Jobs whose priorities an earlier daemon has changed, and this one may not, have their own again."""
        said = ""
        while True:
            await asyncio.sleep(self.watching.interval_s)
            if not self.loop.turns:  # nothing has been seen yet
                continue
            try:
                async with self._changing:
                    scope = self.setting.advises
                    stay = set() if scope is None else scope.names(self.loop.there.values())
                    return await hand_back(self.store, self.watching, self.clock.now_ms(), stay)
            except BackendError as error:
                if str(error) != said:
                    said = str(error)
                    self._alarm(said)

    async def hand_back(self) -> None:
        """Jobs have their own priorities again, and no others are advised any more.

        Raises:
            BackendError: some have not, or it cannot be known.
        """
        async with self._changing:
            self._hands_back = True
            await hand_back(self.store, self.watching, self.clock.now_ms())

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

    async def note_trouble(self) -> None:
        """Say so if nothing can be seen for more than a moment, once for each cause."""
        last = said = ""
        while True:
            await asyncio.sleep(TROUBLE_S)
            last, before = self.watching.trouble, last
            if not last:
                said = ""
            elif last == before != said:
                said = last
                self._alarm(f"{self.watching.title} cannot be observed: {said}")

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
        except FilesChanged:
            return  # which is told
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
