"""One turn, and the next: what came in, what became of attempts, what the policy decides; kept, and only then done.

A turn is one transaction of the store, and no effect begins before it is kept. So a daemon may die at any moment: what
it had decided is in the store, what it was told is in the journal, and the rest is seen.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pointsman.errors import RunError
from pointsman.live.backends.facts import AttemptId, Observation, Parts, Unsure
from pointsman.live.backends.protocol import Backend
from pointsman.live.control.acting import ToDo
from pointsman.live.control.alarms import Alarms
from pointsman.live.control.deadlines import Deadlines
from pointsman.live.control.discrepancies import Discrepancies
from pointsman.live.control.limits import Limits
from pointsman.live.control.obeying import hold, obey
from pointsman.live.control.orders import Order
from pointsman.live.control.outcomes import carry_out, hear_answers, recall_faults, release_due
from pointsman.live.control.promises import Promises
from pointsman.live.control.reconcile import Happened, News, node_changes, reconcile
from pointsman.live.control.safety import BackOff, NodeFaults, Pauses
from pointsman.live.records.book import Attempt, Cause, Stage
from pointsman.live.records.job import Job
from pointsman.live.records.seat_records import keep_seats
from pointsman.live.records.store import Store
from pointsman.live.world.checkpoint import PolicyFailed, checkpoint
from pointsman.live.world.live_world import LiveWorld
from pointsman.live.world.plan import Action
from pointsman.policies.registry import FALLBACK, get_policy
from pointsman.types import JobState, NodeState, Reason, Told, Verb

TURNS, FEW, MOST_MS = 1000, 250, 300_000
"""The most turns between two checkpoints, unless they are few within `MOST_MS`: to replay few takes no time. A policy
that forgets would not decide the same again: nothing of it is replayed.
"""
RELIEVED = "relieved_by"
HELD: Final = "JobHeldUser"
"""Slurm's word for a job that its user holds."""


@dataclass
class ControlLoop:
    """The only owner of a world, its store and its backend."""

    world: LiveWorld
    store: Store
    backend: Backend
    node_names: Sequence[str]
    back_off: BackOff = field(default_factory=BackOff)
    limits: Limits = field(default_factory=Limits)
    """How often jobs may be preempted."""
    faults: NodeFaults = field(default_factory=NodeFaults)
    attempts: dict[AttemptId, Attempt] = field(default_factory=dict)
    """Those that have not ended."""
    jobs: dict[int, Job] = field(default_factory=dict)
    """Those that have not ended."""
    jobs_of: Counter[int] = field(default_factory=Counter)
    """How many of them each user has."""
    held: set[int] = field(default_factory=set)
    """Those that their users hold."""
    turns: int = 0
    alarms: Alarms = field(init=False)
    discrepancies: Discrepancies = field(init=False)
    pauses: Pauses = field(init=False)
    promises: Promises = field(init=False)
    deadlines: Deadlines = field(init=False)
    _alive_of: dict[int, AttemptId] = field(default_factory=dict)
    """The attempt of each job that has one."""
    nodes: dict[str, NodeState] = field(default_factory=dict)
    node_reasons: dict[str, str] = field(default_factory=dict)
    """Why nodes are in the states in which they were seen last, where the backend says so."""
    _to_do: ToDo = field(default_factory=ToDo)
    _kept_ms: int = field(init=False)
    """When the last checkpoint was kept."""
    _unkept: int = 0
    """Turns since then."""

    def __post_init__(self) -> None:
        self.alarms, self.pauses = Alarms(self.store), Pauses(self.store, self.back_off)
        self.promises, self.discrepancies = Promises(self.store), Discrepancies(self.store)
        self.go_on_in(self.world)
        recall_faults(self)
        self._kept_ms = self.world.now_ms

    def go_on_in(self, world: LiveWorld) -> None:
        """Another world, in which all jobs have their seats."""
        self.world, self.deadlines = world, Deadlines(world.rules.min_run_ms)
        for attempt in self.attempts.values():
            self.deadlines.know(attempt, self.jobs, self.world.now_ms)

    @property
    def due_ms(self) -> int:
        """When there is to be a turn, whatever happens."""
        return min([self.world.due_ms, self.deadlines.next_ms(), *self.pauses.ends_ms().values()])

    def turn(self, now_ms: int, submitted: Sequence[Job] = (), orders: Sequence[Order] = ()) -> list[int]:
        """Everything up to now; the jobs that were submitted, in order.

        Raises:
            BackendError: the turn could not be kept. The world is ahead of the store then, and this process must end.
        """
        now_ms = max(now_ms, self.world.now_ms)
        seen = self._observe()
        asked = bool(submitted or orders or self._to_do.answers)
        news = News() if asked else self._news(seen, now_ms)
        if not (asked or news or self.due_ms <= now_ms):
            return []
        with self.store.turn():
            hear_answers(self, self._to_do.answers, now_ms)
            self._to_do.answers.clear()
            jobs = [self._submit(job, now_ms) for job in submitted]
            obey(self, orders, now_ms)
            self._take_in(self._news(seen, now_ms) if asked else news, now_ms)
            self._meet_deadlines(now_ms)
            release_due(self, now_ms)
            self._limit_preemptions(now_ms)
            self.decide(now_ms)
            self._keep_checkpoint_if_due()
        self.act()
        return jobs

    def _observe(self) -> Observation | None:
        try:
            seen = self.backend.observe()
        except Unsure:
            return None
        self.node_reasons = {node.name: node.reason for node in seen.nodes}
        return seen

    def _news(self, seen: Observation | None, now_ms: int) -> News:
        """What was seen against the book; nodes are as seen or wanted, or drained while ghosts are there."""
        if seen is None:
            return News()
        news = reconcile(self.attempts, seen, self.backend.patience, now_ms)
        haunted = {node for ghost in news.ghosts for node, _ in ghost.parts}
        wanted = self.store.wanted_nodes() | dict.fromkeys(haunted, NodeState.DRAIN)
        return replace(news, nodes=node_changes(self.nodes, seen, wanted))

    def _submit(self, job: Job, now_ms: int) -> int:
        if job.request_key is not None and (before := self.store.job_of_request(job)) is not None:
            return before
        self.store.note(now_ms, "submit", 0, job.ask)
        id_ = self.world.submit(job.ask, now_ms)
        self.store.add_job(id_, job, now_ms)
        self.jobs[id_] = job
        self.jobs_of[job.uid] += 1
        if job.held:
            hold(self, id_, now_ms)
        return id_

    def withdraw(self, attempt: Attempt, cause: Cause, now_ms: int) -> None:
        """It is to stop, for its own job's sake."""
        self.tell(Happened(Told.WITHDRAW, attempt.id.job), now_ms)
        self.keep(attempt.stopping(cause, now_ms))
        self._to_do.stops.append(attempt.id)

    def _meet_deadlines(self, now_ms: int) -> None:
        """What has run for as long as it may is stopped, and what is not protected any more may be preempted."""
        for id_ in self.deadlines.over_limit(now_ms):
            self.withdraw(self.attempts[id_], Cause.TIME_LIMIT, now_ms)
        if unprotected := self.deadlines.unprotected(now_ms):
            node, _ = self.attempts[unprotected[0]].parts[0]
            self._tell_node(node, self.nodes.get(node, NodeState.UP), now_ms)  # so that the policy looks at all again

    def _limit_preemptions(self, now_ms: int) -> None:
        for job, is_pinned in [*self.limits.changes(self.world, self.store, self.jobs, now_ms)] if self.limits else ():
            self.tell(Happened(Told.PIN if is_pinned else Told.UNPIN, job), now_ms)

    def _take_in(self, news: News, now_ms: int) -> None:
        self.discrepancies.note(self.attempts, self.jobs, news, now_ms)
        for change in news.changes:
            self._to_do.add(change)
            carry_out(self, change, now_ms)
        self._to_do.stops += [ghost.id for ghost in news.ghosts]
        self._to_do.ended = [*news.ended]
        for name, state in news.nodes.items():
            self.nodes[name] = state
            self.store.set_node(name, state)
            self._tell_node(name, state, now_ms)

    def _tell_node(self, name: str, state: NodeState, now_ms: int) -> None:
        node = self.node_names.index(name)
        self.store.note(now_ms, "node", node, int(state))
        self.world.tell_node(node, state, now_ms)

    def end(self, job: int, state: JobState, now_ms: int) -> None:
        """A job has ended."""
        self.pauses.forget(job)
        self.promises.forget(job)
        self.held.discard(job)
        self.jobs_of[self.jobs.pop(job).uid] -= 1
        self.store.end_job(job, state, now_ms)

    def holds(self) -> Mapping[int, str]:
        """Why each job that is held is, in a word."""
        return dict.fromkeys(self.held, HELD)

    def why_held(self, job: int) -> str:
        """Why a job that is held is, and what ends that."""
        if shown := self.jobs[job].shown:
            return f"it is held by its user ('scontrol release {shown}')"
        return f"it is held by its user ('pointsman release {job}')"

    def decide(self, now_ms: int, since_ms: int = 0) -> None:
        """What the policy decides up to now is intended, and was not before `since_ms`."""
        self.store.note(now_ms, "advance", 0)
        for action in self._decide(now_ms):
            self._intend(action._replace(at_ms=max(action.at_ms, since_ms)))

    def act(self) -> None:
        """What was intended, and is kept, is done."""
        self._to_do.act(self.backend, self.attempts, self.jobs)

    def _decide(self, now_ms: int) -> list[Action]:
        """What the policy decides; if it fails, what another does, from now on."""
        try:
            return self.world.advance(now_ms)
        except RunError as error:
            self._relieve(str(error))
            actions = self.world.advance(now_ms)
            self.keep_checkpoint()  # what failed may not fail again in the same way
            return actions

    def relieve(self, why: str, at_ms: int | None = None) -> None:
        """The policy has failed, as is noticed at `at_ms`: another decides from now on.

        Raises:
            BackendError: that could not be kept, and this process must end.
        """
        with self.store.turn():
            self._relieve(why, at_ms)
            self.keep_checkpoint()

    def _relieve(self, why: str, at_ms: int | None = None) -> None:
        self.alarms.sound(f"{why}; {FALLBACK} decides from now on", self.world.now_ms if at_ms is None else at_ms)
        self.world.relieve(get_policy(FALLBACK).make())
        self.store.keep_setting(RELIEVED, FALLBACK)

    def _intend(self, action: Action) -> None:
        id_ = AttemptId(action.row, action.attempt)
        if action.verb == Verb.START:
            attempt = Attempt(id_, self._name_nodes(action.parts), Stage.INTENDED, action.at_ms)
            attempt = attempt.as_promised(self.jobs[action.row])
            self.store.begin_attempt(attempt, Reason(action.reason).name)
            self.know(attempt)
            self._to_do.launches.append(id_)
        elif action.verb == Verb.PREEMPT and id_ in self.attempts:  # else its end was told a moment later
            self.keep(self.attempts[id_].stopping(Cause.PREEMPT, action.at_ms))
            self._to_do.stops.append(id_)

    def tell(self, happened: Happened, now_ms: int) -> None:
        """The world hears of it in this turn."""
        self.store.note(now_ms, "tell", happened.job, [int(happened.kind), int(happened.state)])
        self.world.tell(happened.kind, happened.job, now_ms, state=happened.state)

    def keep(self, attempt: Attempt) -> None:
        """An attempt is so from now on."""
        self.store.change_attempt(attempt)
        self.know(attempt)

    def know(self, attempt: Attempt) -> None:
        """Have it in mind as it is now, until it has ended."""
        id_ = attempt.id
        self.deadlines.know(attempt, self.jobs, self.world.now_ms)
        if attempt.stage == Stage.ENDED:
            del self.attempts[id_], self._alive_of[id_.job]
        else:
            self.attempts[id_], self._alive_of[id_.job] = attempt, id_

    def attempt_of(self, job: int) -> Attempt | None:
        """The one of a job that has not ended."""
        id_ = self._alive_of.get(job)
        return None if id_ is None else self.attempts[id_]

    def _name_nodes(self, parts: tuple[tuple[int, int], ...]) -> Parts:
        return tuple((self.node_names[node], mask) for node, mask in parts)

    def _keep_checkpoint_if_due(self) -> None:
        self.turns += 1
        self._unkept += 1
        most = TURNS if self.world.remembers else 1
        if self._unkept >= most or (self._unkept >= FEW and self.world.now_ms - self._kept_ms >= MOST_MS):
            self.keep_checkpoint()

    def keep_all(self) -> None:
        """What another daemon needs to go on from here, be it of another version or with another cluster file.

        Raises:
            BackendError: it could not be kept.
        """
        with self.store.turn():
            self.keep_checkpoint()
            keep_seats(self.store, self.world, {id_: job.ask for id_, job in self.jobs.items()}, self.node_names)

    def keep_checkpoint(self) -> None:
        """The journal is not needed any more, up to here."""
        try:
            kept = checkpoint(self.world)
        except PolicyFailed as error:
            self._relieve(str(error))
            kept = checkpoint(self.world)
        self.store.keep_checkpoint(len(self.world.prepared.trace), kept)
        self._kept_ms, self._unkept = self.world.now_ms, 0
