"""The engine, told from outside: jobs come, start, stop and end when somebody says so, and what the policy decides is
read from its plan log. The policy is the very object that a simulation runs.
"""

import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.sdk.live import (
    KEYS,
    NO_SCRIPT,
    NOTHING,
    TOP,
    TRACE,
    Briefing,
    CompiledPolicy,
    Handle,
    KeptLog,
    Policy,
    Prepared,
    Rules,
    Simulation,
    build,
)
from pointsman.errors import RunError, UsageError
from pointsman.live.world.plan import Action, actions_of
from pointsman.live.world.suitable import check_suits_live
from pointsman.types import NEVER_MS, Event, JobState, NodeState, Outside, Told

ROOM = 1 << 16
"""Jobs that are there at once, and that are submitted in one turn, at most; memory is taken when it is used."""
FIRST_TOLD = 1 << 10


class Ask(NamedTuple):
    """What the engine is told of a job when it is submitted."""

    cls: int
    """Its class of demand, in `Prepared.demands`."""
    queue: int
    neg_priority: int
    speed: int
    """Its row of the tables of speeds."""
    estimate_ms: float = float("nan")
    pinned: bool = False
    """It may not be preempted."""
    numbers: tuple[float, ...] = ()
    """What the policy works out of it (`Briefing.numbers`)."""
    keys: tuple[int, ...] = ()
    """By what estimates from history know it (`History.keys`)."""


class LiveWorld:
    """A state whose jobs are submitted, started, stopped and ended by others: no end and no start is foreseen.

    The same sequence of `submit`, `tell` and `advance` leads to the same decisions, always.
    """

    def __init__(
        self,
        prepared: Prepared,
        rules: Rules,
        policy: CompiledPolicy | Policy,
        briefing: Briefing | None = None,
        room: int = ROOM,
        first_row: int = 0,
        made_of: str = "",
    ) -> None:
        """Make the world of a cluster, of the classes of demand and the models of `prepared`, whose jobs are not looked
        at; `room` is a power of two. The first job has `first_row`. `made_of`: a digest of the files that the policy is
        read from.

        Raises:
            UsageError: the policy cannot run live, or lacks its briefing.
        """
        check_suits_live(policy, prepared.terms, rules.start_ms + rules.stop_ms + rules.restore_ms)
        if getattr(policy, "briefed", False) and briefing is None:
            raise UsageError(f"policy {policy.name!r} must be told of users and queues before it decides")
        self.needs_estimates = getattr(policy, "durations", getattr(policy, "needs", "none")) in ("estimate", "oracle")
        self.rules = _rules_from_outside(rules)
        self.prepared, self.briefing = prepared, briefing
        self.room, self.made_of = room, made_of
        self.simulation = Simulation(state_of(prepared, self.rules, policy, briefing, room), policy)
        clock = self.simulation.handle.world.clock
        clock["jobs"] = clock["arrived"] = clock["ended"] = self.first_row = first_row
        self.told: list[tuple[int, int, int, int, int, float]] = []
        """Rows of SCRIPT, since the last turn."""
        self.slots: dict[int, int] = {}
        """In which slot each job is that has come, by its row."""
        self._submitted_ms = 0
        self.remembers = remembers(self.simulation)
        """Whether a policy that is made alike goes on from a checkpoint by what that has."""

    @property
    def now_ms(self) -> int:
        """Up to when all is decided."""
        return self.simulation.now_ms

    @property
    def due_ms(self) -> int:
        """When the policy is to be called again, whatever happens; NEVER_MS if it need not be."""
        handle = self.simulation.handle
        return min(int(handle.state.g[0]["wake"]), int(handle.world.heap[TOP]["time"]), NEVER_MS)

    @property
    def rows_so_far(self) -> int:
        """The row of the next job to be submitted."""
        return int(self.simulation.handle.world.clock[0]["jobs"])

    @property
    def ignored(self) -> int:
        """How much was told so far of jobs that were in no state for it."""
        return int(self.simulation.handle.world.clock[0]["ignored"])

    def submit(self, ask: Ask, at_ms: int) -> int:
        """A job comes at the next turn. Its row, by which it is known from now on.

        Raises:
            UsageError: the policy needs an estimate, and there is none. RunError: there is no room for the job.
        """
        world, g = self.simulation.handle.world, self.simulation.handle.state.g[0]
        if self.needs_estimates and not g["history"] and not np.isfinite(ask.estimate_ms):
            raise UsageError(f"policy {self.simulation.policy.name!r} needs an estimate of how long each job runs")
        row, mask = int(world.clock[0]["jobs"]), int(g["row_mask"])
        if row - int(world.clock[0]["ended"]) > mask:
            raise RunError(f"there are {mask + 1:,} jobs that have not ended, and no room for more")
        self._submitted_ms = max(at_ms, self.now_ms, self._submitted_ms)
        self.write_row(row, ask, self._submitted_ms)
        world.clock["jobs"] = row + 1
        return row

    def write_row(self, row: int, ask: Ask, submit_ms: int) -> None:
        """Where the engine looks for the job of `row` when it comes, it finds what is told of it."""
        handle = self.simulation.handle
        place = row & int(handle.state.g[0]["row_mask"])
        handle.world.trace[place] = (submit_ms, np.inf, ask.estimate_ms, *ask[:4], ask.pinned)
        if ask.numbers:
            handle.world.told_numbers[place] = ask.numbers
        if ask.keys:
            handle.state.history_keys[place] = ask.keys

    def tell(
        self, kind: Event | Told, row: int, at_ms: int, *, state: JobState = JobState.COMPLETED, value: float = 0.0
    ) -> None:
        """Something happened to the job of `row` at `at_ms`; it is applied at the next turn.

        `state` is that in which a job ends by FINISH. What does not fit the state of the job then is `ignored`.
        """
        self.told.append((max(at_ms, self.now_ms), int(kind), row, int(state), self.slots.get(row, -1), value))
        if kind in (Event.FINISH, Event.CANCEL):
            self.slots.pop(row, None)

    def tell_node(self, node: int, state: NodeState, at_ms: int) -> None:
        """A node is in another state. Its jobs are still there until it is told what became of them."""
        kind = Event.NODE_UP if state == NodeState.UP else Event.NODE_DOWN
        self.told.append((max(at_ms, self.now_ms), int(kind), node, int(state), -1, 0.0))

    def advance(self, until_ms: int) -> list[Action]:
        """Apply what was submitted, told or fell due up to `until_ms`, each at its time; what the policy decided.

        Raises:
            RunError: the policy failed.
        """
        self.hand_over()
        arrived = int(self.simulation.handle.world.clock[0]["arrived"])
        self.simulation.run(until_ms)
        if int(self.simulation.handle.world.clock[0]["arrived"]) > arrived:
            self.find_jobs(arrived)
        return actions_of(self._take_log())

    def hand_over(self) -> None:
        """What was told is where the engine looks for it, in the order of an instant's events."""
        handle = self.simulation.handle
        clock = handle.world.clock[0]
        left = handle.world.script[int(clock["scripted"]) : int(clock["script"])].tolist()  # if the policy failed
        told = sorted([*left, *self.told])
        if len(told) > len(handle.world.script):
            world = handle.world._replace(script=_no_events(1 << len(told).bit_length()))
            self.simulation.handle = handle = Handle(handle.state, world)
        handle.world.script[: len(told)] = told
        clock["scripted"], clock["script"] = 0, len(told)
        self.told = []

    def relieve(self, policy: CompiledPolicy | Policy, round_ms: int = 0) -> None:
        """Another policy decides from now on; at the next turn it looks at all that waits.

        Raises:
            UsageError: it cannot take over this world.
        """
        self.simulation = self.simulation.adopt(policy, round_ms)
        self.remembers = remembers(self.simulation)

    def copy(self) -> "LiveWorld":
        """A world that goes its own way from here, between two turns.

        Raises:
            UsageError: a policy that is written in Python cannot be copied, and would hear of two worlds.
        """
        policy = self.simulation.policy
        if self.simulation.hosted and not hasattr(policy, "copy"):
            raise UsageError(f"policy {policy.name!r} has no copy(): nothing can be foretold under it")
        other = copy.copy(self)
        other.simulation = self.simulation.copy()
        state, world = other.simulation.handle.state, other.simulation.handle.world
        told = {name: np.zeros_like(getattr(world, name)) for name in ("trace", "told_numbers")}
        keys = np.zeros_like(state.history_keys)  # of jobs to come, as all of these are
        other.simulation.handle = Handle(state._replace(history_keys=keys), world._replace(**told))
        other.told, other.slots = [*self.told], dict(self.slots)
        return other

    def rows(self) -> list[int]:
        """Those of the jobs that are there."""
        jobs = self.simulation.handle.jobs
        return jobs["row"][jobs["state"] != 0].tolist()

    def find_jobs(self, first: int = 0) -> None:
        """Note in which slots the jobs are from row `first` on."""
        handle = self.simulation.handle
        new = np.flatnonzero((handle.jobs["row"] >= first) & (handle.jobs["state"] != 0))
        self.slots.update(zip(handle.jobs["row"][new].tolist(), new.tolist(), strict=True))

    def _take_log(self) -> NDArray[np.void]:
        simulation = self.simulation
        log = simulation.log()
        simulation.kept = KeptLog()
        return log


def remembers(simulation: Simulation) -> bool:
    """Whether a policy has no memory of its own, as those in Python may, or says what it is (``remember``)."""
    policy: Any = simulation.policy
    if not simulation.hosted or hasattr(policy, "remember"):
        return True
    try:
        return not hasattr(policy, "on_event") and (not hasattr(policy, "copy") or policy.copy() is policy)
    except Exception:
        return False


def state_of(
    prepared: Prepared, rules: Rules, policy: CompiledPolicy | Policy, briefing: Briefing | None, room: int
) -> Handle:
    """The state of a live world before its first job; the arguments are those of `LiveWorld`."""
    handle = build(
        _with_room(prepared, room), rules, policy, _no_events(FIRST_TOLD),
        briefing and Briefing(np.zeros((room, briefing.numbers.shape[1])), briefing.memory),
    )  # fmt: skip
    clock = handle.world.clock[0]
    clock["jobs"] = clock["script"] = 0
    clock["sample_next"] = NEVER_MS
    handle.state.g["row_mask"] = room - 1
    return handle


def _no_events(room: int) -> NDArray[np.void]:
    return np.resize(NO_SCRIPT, room)


def _with_room(prepared: Prepared, room: int) -> Prepared:
    history = prepared.history
    if history is not NOTHING:
        history = history._replace(keys=np.zeros((room, KEYS), np.int64))
    return replace(prepared, trace=np.zeros(room, TRACE), history=history)


def _rules_from_outside(rules: Rules) -> Rules:
    """Changes the rules so that nothing happens by itself, and every start and stop takes time."""
    outside = max(rules.outside, Outside.EVENTS)
    least = {name: max(1, getattr(rules, name)) for name in ("start_ms", "stop_ms", "rebatch_ms")}
    return replace(rules, outside=outside, log=True, log_speeds=False, **least)
