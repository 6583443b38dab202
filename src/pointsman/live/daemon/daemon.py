"""The owner of a live cluster: it gathers what users want, takes turns, and answers once a turn is kept."""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from pointsman.cluster import Cluster, load_cluster
from pointsman.engine.sdk.live import load_policy
from pointsman.errors import BackendError, InputError, PointsmanError, RunError, UsageError
from pointsman.live.backends.local.rights import own_directory
from pointsman.live.control.loop import ControlLoop
from pointsman.live.control.orders import Order, UserOrder
from pointsman.live.control.recovery import going_on, recovered
from pointsman.live.control.succession import go_on_in, grow_in_place, successor
from pointsman.live.daemon.setting import ACTED, DECIDING, OBSERVED, RUN, SIMULATED, SORT, SORTS, Setting
from pointsman.live.daemon.submission import Submission, is_known, user_name
from pointsman.live.daemon.watchdog import Watchdog, was_hung
from pointsman.live.records.job import Job
from pointsman.live.records.seat_records import take_kept_seats
from pointsman.live.records.store import Store
from pointsman.live.world.checkpoint import NotAlike
from pointsman.live.world.kind import Kind
from pointsman.live.world.live_world import ROOM
from pointsman.live.world.roster import Deciding, Roster, roster_of
from pointsman.policies.registry import DEFAULT
from pointsman.types import NEVER_MS

CLUSTER: Final = "cluster"
"""Under which name the store keeps the cluster file."""
_SIMULATES: Final = "simulates"
_SORT_BEFORE: Final = {"true": SIMULATED, "false": RUN}
"""What a store kept before there were three sorts, and under which name."""
_MOST_JOBS: Final = 10_000
"""The most jobs of one user that have not ended."""
_MOST_KINDS: Final = 1_000
"""The most kinds of jobs of one user: each makes the tables of all larger."""


class TooMany(PointsmanError):
    """A user has too many jobs."""

    exit_code = 2


class NoSuchJob(PointsmanError):
    """There is no job of that number."""

    exit_code = 2


@dataclass
class _Letter:
    """What came since the last turn, and who waits for an answer."""

    submission: Submission | None = None
    uid: int = -1
    order: Order | None = None
    deciding: Deciding | None = None
    answer: "asyncio.Future[int]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Daemon:
    """The only one that touches world, store and backend: all of it happens in one thread."""

    sort = RUN
    """What becomes of jobs: a store is of daemons of one sort only."""
    Loop: type[ControlLoop] = ControlLoop
    overheads: Any = "realistic"
    """What starts and stops take, unless its owner says so."""

    def __init__(self, setting: Setting) -> None:
        """Go on from what the store has.

        Raises:
            UsageError: the policy cannot run live. BackendError: another daemon owns the store.
        """
        self.setting = setting
        own_directory(setting.folder, 0o711)
        self.store = Store(setting.folder / "store")
        try:
            self._recover()
        except BaseException:
            self.store.close()
            raise
        self._watchdog = Watchdog(setting.folder, setting.longest_turn_s)
        self._mail: list[_Letter] = []
        self._coming: Counter[int] = Counter()
        """By user, submissions since the last turn."""
        self._kinds_of = Counter(kind.user for kind in self.roster.kinds)
        self._bell = asyncio.Event()
        self._stopping = False

    def _recover(self) -> None:
        cluster = load_cluster(self.setting.cluster)
        kept = self.store.setting(DECIDING)
        self._check_sort(is_new=kept is None)
        last = Deciding(**json.loads(kept)) if kept else None
        wanted = self._resolve_deciding(last)
        if gone := last is not None and last != wanted and not self._can_decide(cluster, last):
            last = None
        deciding = last or wanted
        for policy in {deciding.policy, wanted.policy}:
            self.setting.compile(policy)
        self.backend = self.setting.backend(cluster, self.setting.folder)
        self.node_names = cluster.layout().node_names
        if gone or not self._restore(cluster, deciding):
            self._take_seats(cluster, deciding)
        with self.store.turn():
            self.store.keep_setting(CLUSTER, cluster.to_yaml())
            if not kept or gone:
                self.store.keep_setting(DECIDING, json.dumps(asdict(deciding)))
        self.loop.limits = self.setting.limits
        hung = was_hung(self.setting.folder)
        if deciding != wanted:
            self._switch(wanted)
        elif hung is not None:
            self.loop.relieve(hung, self.clock.now_ms())

    def _restore(self, cluster: Cluster, deciding: Deciding) -> bool:
        """Whether it goes on from the checkpoint and the journal of the daemon before."""
        try:
            self.roster = Roster(cluster, deciding, self.store.kinds() or [Kind()])
            world = self.roster.first(self.store.kinds_at_checkpoint() or 1).world()
            self.loop: ControlLoop = recovered(world, self.store, self.backend, self.node_names, self.roster, self.Loop)
        except (NotAlike, InputError):
            return False
        self.clock = self.setting.clock(self.store, self.loop.world.now_ms)
        return True

    def _check_sort(self, *, is_new: bool) -> None:
        """That jobs of this store run where those before did.

        Raises:
            UsageError: they do not.
        """
        mine = SIMULATED if self.setting.simulates else self.sort
        kept = self.store.setting(SORT)
        if kept is None:
            kept = mine if is_new else _SORT_BEFORE[self.store.setting(_SIMULATES) or "false"]
            with self.store.turn():
                self.store.keep_setting(SORT, kept)
        if kept != mine:
            raise UsageError(f"the jobs in {self.setting.folder} {SORTS[kept]}: name another directory with --state")

    def _can_decide(self, cluster: Cluster, deciding: Deciding) -> bool:
        """Whether the files of a policy and its options are still there, and right."""
        try:
            self.setting.compile(deciding.policy)
            Roster(cluster, deciding)
        except (UsageError, InputError):
            return False
        return True

    def _resolve_deciding(self, last: Deciding | None) -> Deciding:
        """What is to decide; `last` is what did."""
        setting, base = self.setting, last or Deciding(DEFAULT, {}, {"overheads": self.overheads})
        options = {**base.options, "overheads": setting.overheads or base.options["overheads"]}
        least_s = base.min_run_s if setting.min_run_s is None else setting.min_run_s
        if setting.policy is None:
            return Deciding(base.policy, base.params, options, least_s)
        return Deciding(setting.policy, dict(setting.params), options, least_s)

    def _take_seats(self, cluster: Cluster, deciding: Deciding) -> None:
        """Go on from what the daemon before has written down of jobs, because its checkpoint is of no use. Kinds of
        which no job is left need not fit this cluster.
        """
        alive = self.store.alive_jobs()
        self.roster = roster_of(cluster, deciding, {job.shown or id_: job.kind for id_, job in alive.items()})
        world = self.roster.world()
        asks = {id_: self.roster.asked_anew(job.ask, job.kind, job.limit_ms) for id_, job in alive.items()}
        take_kept_seats(self.store, world, asks, self.node_names)
        self.loop = going_on(world, self.store, self.backend, self.node_names, self.Loop)
        self.clock = self.setting.clock(self.store, world.now_ms)
        go_on_in(self.loop, world, self.roster, {}, self.clock.now_ms())

    # -- what is wanted -----------------------------------------------------------------------------------

    async def submit(self, submission: Submission, uid: int) -> int:
        """A new job; its number, once it is kept.

        Raises:
            InputError: the cluster could never run it. TooMany: this user has too many jobs.
        """
        kind = submission.kind(uid)
        if uid != os.getuid() and (os.getuid() != 0 or not is_known(uid)):
            raise UsageError(f"this daemon cannot run jobs as user {user_name(uid)}")
        if self.loop.jobs_of[uid] + self._coming[uid] >= _MOST_JOBS:
            raise TooMany(f"{_MOST_JOBS:,} jobs of yours have not ended; wait for some, or cancel some")
        if len(self.loop.jobs) + self._coming.total() >= ROOM // 2:
            raise TooMany(f"{ROOM // 2:,} jobs have not ended, and there is no room for more")
        if kind not in self.roster.numbers and self._kinds_of[kind.user] >= _MOST_KINDS:
            raise TooMany(f"you have submitted {_MOST_KINDS:,} kinds of jobs; use fewer accounts, queues and models")
        is_new = kind not in self.roster.numbers
        self.roster.admit(kind)
        self._kinds_of[kind.user] += is_new
        self._coming[uid] += 1
        return await self._sent(_Letter(submission, uid))

    @property
    def is_beside_another(self) -> bool:
        """Whether its jobs are another scheduler's, which has its own numbers for them."""
        return self.sort in (OBSERVED, ACTED)

    def why_left(self, id_: str) -> str:
        """Why a job that another scheduler has is none of ours; empty if it has none of that name."""
        return ""

    def check_takes(self, order: UserOrder) -> None:
        """That it takes orders of this sort.

        Raises:
            UsageError: it does not; which command is to be used instead.
        """

    async def order(self, order: UserOrder) -> None:
        """Something is wanted of a job or a node that is there; returns once that is kept.

        Raises:
            UsageError: it does not take such orders.
        """
        self.check_takes(order)
        await self._sent(_Letter(order=order))

    async def _sent(self, letter: _Letter) -> int:
        if self._stopping:
            raise BackendError("the daemon is stopping")
        self._mail.append(letter)
        self._bell.set()
        return await letter.answer

    def _send_back(self, why: str) -> None:
        """Whoever waits for a turn waits in vain."""
        letters, self._mail = self._mail, []
        self._coming.clear()
        for letter in letters:
            if not letter.answer.done():
                letter.answer.set_exception(BackendError(why))

    async def decide_by(self, deciding: Deciding, uid: int = -1) -> None:
        """Another policy decides from the next turn on, because user `uid` wants so.

        Raises:
            UsageError: it cannot run live, or not with these parameters.
        """
        policy: Any = deciding.spec.make(dict(deciding.params))
        await asyncio.to_thread(load_policy, policy)
        await self._sent(_Letter(deciding=deciding, uid=uid))

    def _switch(self, deciding: Deciding) -> None:
        roster = Roster(self.roster.cluster, deciding, self.roster.numbers)
        settings = {DECIDING: json.dumps(asdict(deciding))}
        self._go_on_by(roster, settings)
        self.roster = roster

    def _go_on_by(self, roster: Roster, settings: Mapping[str, str]) -> None:
        """All jobs take their seats in a world of `roster`, which goes on."""
        world = successor(self.loop.world, self.loop.jobs, roster)
        go_on_in(self.loop, world, roster, settings, self.clock.now_ms())

    # -- turns --------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Take turns until asked to stop.

        Raises:
            BackendError: a turn could not be kept.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        while not self._stopping:
            await self._wait()
            await self.take_turn()
            self.clock.heed_steps(self.store)
        self._send_back("the daemon is stopping")
        self.loop.keep_all()
        self.close()

    def beside(self, forecaster: Any) -> Sequence[Coroutine[Any, Any, None]]:
        """What it does besides turns; it may ask the `Forecaster`."""
        return ()

    async def hand_back(self) -> None:
        """What was changed of jobs that others run is as it was."""

    def watched(self) -> AbstractContextManager[None]:
        """What a policy is asked meanwhile may take as long as a turn."""
        return self._watchdog.turn()

    def close(self) -> None:
        """Let another own the store. Jobs run on."""
        self._watchdog.close()
        self.store.close()

    def stop(self) -> None:
        """Take no more turns. Jobs run on."""
        self._stopping = True
        self._bell.set()

    async def _wait(self) -> None:
        try:
            await asyncio.wait_for(self._bell.wait(), self.next_turn_s())
            await asyncio.sleep(self.setting.gather_s)
        except TimeoutError:
            pass
        self._bell.clear()

    def next_turn_s(self) -> float:
        """How long it is until the next turn, if nothing is wanted before."""
        due_s = self.clock.until_s(self.loop.due_ms) if self.loop.due_ms < NEVER_MS else self.setting.poll_s
        return max(0.0, min(due_s, self.setting.poll_s))

    async def take_turn(self) -> None:
        """A turn, and what is asked of the backend before it and after.

        Raises:
            Exception: as `turn`.
        """
        self.turn()

    def turn(self, seen_ms: int | None = None) -> None:
        """All that was wanted and has happened since the last turn; `seen_ms`: when the backend was looked at, if that
        was before.

        Raises:
            Exception: it could not be kept, or the daemon has a fault; it must end.
        """
        letters, self._mail = self._mail, []
        self._coming.clear()
        try:
            with self.watched():
                self._switch_as_asked(letters)
                now_ms = self.clock.now_ms() if seen_ms is None else seen_ms  # what is seen from here on is of then
                jobs, orders = self._bring()
                if len(self.roster.numbers) > len(self.loop.world.prepared.trace):
                    self.grow()
                submissions = [letter for letter in letters if letter.submission is not None]
                jobs = [*map(self._job, submissions), *jobs]
                orders += [letter.order for letter in letters if letter.order is not None]
                numbers = self.loop.turn(now_ms, jobs, orders)[: len(submissions)]
        except Exception as error:
            for letter in letters:
                if not letter.answer.done():
                    letter.answer.set_exception(BackendError(f"the daemon failed: {error}"))
            raise
        given = dict(zip(map(id, submissions), numbers, strict=True))
        for letter in letters:
            if not letter.answer.done():
                letter.answer.set_result(given.get(id(letter), 0))

    def _bring(self) -> tuple[list[Job], list[Order]]:
        """Jobs that come by another way, and what is wanted of them there."""
        return [], []

    def _switch_as_asked(self, letters: list[_Letter]) -> None:
        for letter in letters:
            if letter.deciding is not None:
                try:
                    self._switch(letter.deciding)
                    with self.store.turn():
                        args = json.dumps(dict(letter.deciding.params))
                        self.store.note_order(self.clock.now_ms(), letter.uid, "policy", letter.deciding.policy, args)
                except (UsageError, InputError) as error:
                    letter.answer.set_exception(error)

    def _job(self, letter: _Letter) -> Any:
        submission = letter.submission
        assert submission is not None
        return submission.job(letter.uid, self.roster)

    def grow(self) -> None:
        """The world knows all kinds that were admitted; a policy that keeps books on users takes over from itself."""
        try:
            grow_in_place(self.loop, self.roster)
        except RunError:
            self._go_on_by(self.roster, {})
