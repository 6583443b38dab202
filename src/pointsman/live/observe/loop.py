"""A turn where another scheduler decides: the world follows what was seen, and its policy is asked what it would have
done.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final, Protocol

from pointsman.live.backends.facts import AttemptId
from pointsman.live.control.loop import HELD, ControlLoop
from pointsman.live.control.obeying import change, hold, release
from pointsman.live.control.orders import Changed, Order
from pointsman.live.control.reconcile import Happened
from pointsman.live.forecast.present import ran_by_row
from pointsman.live.observe.admission import Admission
from pointsman.live.observe.decisions import Decisions, Tale
from pointsman.live.observe.inventory import Inventory
from pointsman.live.observe.news import KnownJob, Piece, What, news
from pointsman.live.observe.seats import free_gpus
from pointsman.live.observe.sight import Looks, Run, SeenJob, Sight
from pointsman.live.records.book import Attempt, Cause, Stage
from pointsman.live.records.job import Job
from pointsman.live.world.opinion import opinion
from pointsman.live.world.plan import Action
from pointsman.live.world.roster import Roster
from pointsman.live.world.seating import preempt_there, start_there
from pointsman.types import NEVER_MS, Event, JobState, NodeState, Verb

RECENT_MS: Final = 120_000
"""What was decided longer ago is only learnt from: the policy is not asked about it."""
IDLE_MS: Final = 60_000
"""For so long nothing has happened before it is asked whether the policy would have left the free GPUs free, too."""
LATELY_MS: Final = 3_600_000
"""For so long Slurm may list jobs that have ended."""
BY_ANOTHER: Final = "Observed"
"""Why an attempt was started, in the table of attempts."""


class Owner(Protocol):
    """Whose loop it is."""

    roster: Roster
    """All kinds of jobs that have come."""

    def grow(self) -> None:
        """The world knows all kinds of jobs of the roster."""
        ...


@dataclass
class ObservingLoop(ControlLoop):
    """A control loop that decides nothing, and whose jobs another scheduler runs."""

    owner: "Owner | None" = None
    decisions: Decisions = field(init=False)
    admission: Admission = field(init=False)
    _inventory: Inventory = field(init=False)
    _rows: dict[str, int] = field(default_factory=dict)
    """Our numbers of the jobs that have not ended, by their keys."""
    _runs: dict[int, Run] = field(default_factory=dict)
    """Those of the jobs that run, as they were seen when they began, by our numbers."""
    there: dict[int, SeenJob] = field(default_factory=dict)
    """The jobs that have not ended, as they were seen last, by our numbers."""
    waiting: dict[int, SeenJob] = field(default_factory=dict)
    """Those that wait and could start."""
    _changed_ms: int = 0
    """When something has happened, after which it is not asked yet whether GPUs were left free."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.decisions, self.admission = Decisions(self.store), Admission(self.store, self.alarms)
        self._inventory = Inventory(self.alarms)
        self._rows = {job.request_key: row for row, job in self.jobs.items() if job.request_key is not None}

    @property
    def due_ms(self) -> int:
        """Never: what falls due is done when something was seen."""
        return NEVER_MS

    def turn(self, now_ms: int, submitted: Sequence[Job] = (), orders: Sequence[Order] = ()) -> list[int]:
        """Everything that was seen up to now.

        Raises:
            BackendError: the turn could not be kept. The world is ahead of the store then, and this process must end.
        """
        looks: Looks = self.backend  # ty: ignore
        seen = looks.latest()
        if seen is None:
            return []
        now_ms = max(now_ms, self.world.now_ms)
        self.node_reasons = dict(seen.reasons)
        self._admit(seen.jobs.values())
        with self.store.turn():
            self._follow(seen, now_ms)
            self._advance(now_ms)
            self._keep_checkpoint_if_due()
        return []

    def keys(self) -> dict[str, bool]:
        """Those of the jobs that have not ended, or lately; whether they have."""
        return self.store.keys_since(self.world.now_ms - LATELY_MS)

    def decide(self, now_ms: int, since_ms: int = 0) -> None:
        """The world is as of now; others decide."""
        self._advance(now_ms)

    def act(self) -> None:
        """Nothing: others do."""

    def _advance(self, now_ms: int) -> None:
        self.store.note(now_ms, "advance", 0)
        self._decide(now_ms)

    # -- what was seen ------------------------------------------------------------------------------------

    def _admit(self, jobs: Iterable[SeenJob]) -> None:
        """The world knows the kinds of all jobs that come."""
        assert self.owner is not None
        self.admission.admit(self.owner.roster, jobs)
        if len(self.owner.roster.numbers) > len(self.world.prepared.trace):
            self.owner.grow()

    def _follow(self, seen: Sight, now_ms: int) -> None:
        shift_ms, first_ms = now_ms - seen.unix_ms, self.world.now_ms
        change(self, [*self._changes(seen)], first_ms)
        heard = self.admission.taken_in(seen.jobs, self._rows, now_ms)
        nodes = self._inventory.states(seen, self.world, self.node_names, now_ms)
        pieces = news(self._known(shift_ms), self.nodes, replace(seen, jobs=heard, nodes=nodes))

        def when(piece: Piece) -> tuple[int, bool]:
            return min(max(piece.unix_ms + shift_ms, first_ms), now_ms), piece.what.is_decided

        for (at_ms, are_decided), group in groupby(pieces, when):
            if are_decided:
                self._follow_decisions([*group], at_ms, now_ms)
            else:
                for piece in group:
                    self._take_in_piece(piece, at_ms)
        self._recall_runs(seen)
        self.there = {row: job for key, row in self._rows.items() if (job := seen.jobs.get(key)) is not None}
        self.waiting = {row: job for row, job in self.there.items() if job.waits}
        if pieces:
            self._changed_ms = now_ms
        elif self._changed_ms and now_ms - self._changed_ms >= IDLE_MS:
            self._changed_ms = 0
            self._advance(now_ms)
            self._note_left(now_ms)

    def _recall_runs(self, seen: Sight) -> None:
        """From now on runs that another daemon saw begin are known as they are shown."""
        for key, row in self._rows.items():
            job = seen.jobs.get(key)
            if row not in self._runs and job is not None and job.run is not None and self.attempt_of(row) is not None:
                self._runs[row] = job.run

    def _known(self, shift_ms: int) -> dict[str, KnownJob]:
        known = {}
        for key, row in self._rows.items():
            attempt, run = self.attempt_of(row), self._runs.get(row)
            is_recalled = run is None and attempt is not None
            if attempt is not None and run is None:
                run = Run((attempt.started_ms or 0) - shift_ms, ())
            known[key] = KnownJob(run, row in self.held, is_recalled)
        return known

    def _take_in_piece(self, piece: Piece, at_ms: int) -> None:
        if piece.what == What.NODE:
            self._change_node(piece, at_ms)
        elif piece.what == What.CAME:
            self._come(piece, at_ms)
        elif (row := self._rows.get(piece.key)) is not None:
            _TAKING_IN[piece.what](self, row, piece, at_ms)

    def _change_node(self, piece: Piece, at_ms: int) -> None:
        if piece.key in self.node_names:
            state = NodeState(piece.state or 0)
            self.nodes[piece.key] = state
            self.store.set_node(piece.key, state)
            self._tell_node(piece.key, state, at_ms)

    def _come(self, piece: Piece, at_ms: int) -> None:
        assert piece.job is not None and self.owner is not None
        job = self.admission.job_of(piece.job, self.owner.roster)
        assert job is not None
        self._rows[piece.key] = self._submit(job, at_ms)

    def _changes(self, seen: Sight) -> Iterator[Changed]:
        """Jobs that wait, as far as we know, and ask for something else now."""
        assert self.owner is not None
        for key, row in self._rows.items():
            job = seen.jobs.get(key)
            if job is not None and self.attempt_of(row) is None and self.admission.is_changed(self.jobs[row], job):
                asked = self.admission.job_of(job, self.owner.roster)
                if asked is not None:
                    yield Changed(row, asked)

    def holds(self) -> Mapping[int, str]:
        return {row: (job.held if (job := self.there.get(row)) else "") or HELD for row in self.held}

    def why_held(self, job: int) -> str:
        """In the other scheduler's word."""
        looks: Looks = self.backend  # ty: ignore
        why = self.there[job].held if job in self.there else ""
        return f"{looks.title} starts it in no order of jobs" + (f": {why}" if why else "")

    def hold_back(self, row: int, piece: Piece, at_ms: int) -> None:
        """A job could not start now, whoever decided."""
        hold(self, row, at_ms)

    def let_go(self, row: int, piece: Piece, at_ms: int) -> None:
        """It could."""
        release(self, row, at_ms)

    def finish(self, row: int, piece: Piece, at_ms: int) -> None:
        """A job has ended."""
        attempt, state = self.attempt_of(row), JobState(piece.state or JobState.COMPLETED)
        self.tell(Happened(Event.FINISH if attempt else Event.CANCEL, row, state), at_ms)
        if attempt is not None:
            self.keep(replace(attempt, stage=Stage.ENDED, ended_ms=at_ms, real_end_ms=at_ms))
        del self._rows[piece.key]
        self._runs.pop(row, None)
        self.end(row, state, at_ms)

    # -- what the other scheduler decides, and what the policy would have ---------------------------------

    def _follow_decisions(self, pieces: Sequence[Piece], at_ms: int, now_ms: int) -> None:
        """Jobs were stopped and started at once: nothing else kept those from starting."""
        held = [one for one in pieces if one.what == What.STARTED and self._rows[one.key] in self.held]
        if held:
            self._advance(at_ms)  # others that have ended just now may have had their GPUs
        for piece in held:
            if self._parts(piece) is not None:
                self.let_go(self._rows[piece.key], piece, at_ms)
        self._advance(at_ms)
        would = self._opinion(at_ms) if at_ms >= now_ms - RECENT_MS else None
        for piece in pieces:
            if piece.what == What.STOPPED:
                self._stop(self._rows[piece.key], at_ms)
        starts = [piece for piece in pieces if piece.what == What.STARTED]
        started = [row for piece in starts if (row := self._start(piece, at_ms)) is not None]
        if would is not None and started:
            self.decisions.note(self._tale(at_ms), started, would, at_ms)

    def _stop(self, row: int, at_ms: int) -> None:
        """A job that ran waits again."""
        attempt = self.attempt_of(row)
        self._runs.pop(row, None)
        if attempt is not None:
            self.store.note(at_ms, "preempt", row)
            preempt_there(self.world, row)
            self.tell(Happened(Event.STOPPED, row), at_ms)
            self.keep(replace(attempt, stage=Stage.ENDED, cause=Cause.PREEMPT, stopping_ms=at_ms, ended_ms=at_ms))
            self._advance(at_ms)

    def _start(self, piece: Piece, at_ms: int) -> int | None:
        """Its number; None if its GPUs are not free, as far as we know: it is held then, and tried again."""
        row, parts = self._rows[piece.key], self._parts(piece)
        if parts is None or row in self.held:
            hold(self, row, at_ms)
            return None
        self.store.note(at_ms, "start", row, parts)
        start_there(self.world, row, parts)
        slot = self.world.slots[row]
        number = int(self.world.simulation.handle.jobs["attempt"][slot])
        attempt = Attempt(AttemptId(row, number), self._name_nodes(tuple(parts)), Stage.RUNNING, at_ms, at_ms, at_ms)
        self.store.begin_attempt(attempt, BY_ANOTHER)
        self.keep(attempt)
        assert piece.run is not None
        self._runs[row] = piece.run
        self.tell(Happened(Event.STARTED, row), at_ms)
        if number == 1:
            self.promises.note_start(row, at_ms)
        return row

    def _parts(self, piece: Piece) -> list[tuple[int, int]] | None:
        """GPUs that are free for a job that was started."""
        assert piece.run is not None
        return free_gpus(self.world, piece.run.gpus, self.node_names)

    def _opinion(self, at_ms: int) -> list[Action] | None:
        """What the policy would do; None if it fails."""
        try:
            return opinion(self.world, at_ms)
        except Exception as error:  # of a policy in Python it may be any; it is a copy of the world that has failed
            self._relieve(f"policy {self.world.simulation.policy.name!r} has no opinion: {error}")
            return None

    def _note_left(self, now_ms: int) -> None:
        would = [action for action in self._opinion(now_ms) or [] if action.verb == Verb.START]
        if would:
            self.decisions.note(self._tale(now_ms), [], would, now_ms)

    def _tale(self, at_ms: int) -> Tale:
        looks: Looks = self.backend  # ty: ignore
        ran_ms = ran_by_row(self.world, at_ms)
        return Tale(looks.title, self.world.simulation.policy.name, self.jobs, ran_ms)


_TAKING_IN: Final[Mapping[What, Callable[[ObservingLoop, int, Piece, int], None]]] = {
    What.HELD: ObservingLoop.hold_back,
    What.RELEASED: ObservingLoop.let_go,
    What.ENDED: ObservingLoop.finish,
}
