"""What a live world can be told of jobs besides events: withdrawn, held, pinned, estimated. Two nodes of two GPUs."""

import polars as pl
import pytest

from pointsman.live.world.live_world import LiveWorld
from pointsman.live.world.plan import Action
from pointsman.types import NEVER_MS, Event, JobState, NodeState, Told, Verb
from pointsman.workload import Workload

from .toy import Case

LOG = Workload.of(
    pl.DataFrame({"submit_s": [0.0] * 4, "gpus": [4, 2, 1, 1], "duration_s": [3600.0, 1800.0, 600.0, 60.0]})
)
WIDE, HALF, ONE, SHORT = range(4)


class Room:
    """A live world under audit, in which jobs are of the four kinds of LOG; times are in seconds."""

    def __init__(self, policy: str, **params: object) -> None:
        self.case = Case(LOG, "2x2", policy, params or None, audit=True)
        self.world: LiveWorld = self.case.world()
        self.kinds = self.case.asks()

    def submit(self, kind: int, at_s: int, **other: object) -> int:
        return self.world.submit(self.kinds[kind]._replace(**other), 1000 * at_s)

    def tell(self, kind: Event | Told, row: int, at_s: int, **more: object) -> None:
        self.world.tell(kind, row, 1000 * at_s, **more)  # type: ignore[arg-type]

    def advance(self, at_s: int) -> list[tuple[Verb, int]]:
        return [(action.verb, action.row) for action in self.actions(at_s)]

    def actions(self, at_s: int) -> list[Action]:
        return self.world.advance(1000 * at_s)

    def state(self, row: int) -> JobState | None:
        jobs = self.world.simulation.handle.jobs
        here = jobs[(jobs["row"] == row) & (jobs["state"] != 0)]
        return JobState(int(here["state"][0])) if len(here) else None

    def record(self, row: int, name: str) -> float:
        jobs = self.world.simulation.handle.jobs
        return float(jobs[name][(jobs["row"] == row) & (jobs["state"] != 0)][0])

    def run(self, kind: int, at_s: int, **other: object) -> int:
        """A job that starts at once and runs a second later."""
        row = self.submit(kind, at_s, **other)
        assert self.advance(at_s) == [(Verb.START, row)]
        self.tell(Event.STARTED, row, at_s + 1)
        self.advance(at_s + 1)
        return row


def test_nothing_ends_or_starts_until_it_is_told() -> None:
    room = Room("fifo")
    row = room.submit(ONE, 0)
    assert room.advance(0) == [(Verb.START, row)]
    assert room.world.due_ms == NEVER_MS
    room.advance(10_000)
    assert room.state(row) == JobState.STARTING
    room.tell(Event.STARTED, row, 10_001)
    room.advance(20_000)
    assert room.state(row) == JobState.RUNNING
    room.tell(Event.FINISH, row, 20_001)
    room.advance(20_001)
    assert room.state(row) is None


def test_gpus_of_a_withdrawn_job_are_free_when_its_end_is_told() -> None:
    room = Room("fifo")
    wide = room.run(WIDE, 0)
    room.tell(Told.WITHDRAW, wide, 10)
    waiting = room.submit(HALF, 10)
    assert room.advance(10) == []
    assert room.state(wide) == JobState.STOPPING
    room.tell(Event.CANCEL, wide, 20)
    assert room.advance(20) == [(Verb.START, waiting)]
    assert room.world.simulation.handle.state.g[0]["preempts"] == 0


def test_a_start_can_be_withdrawn_and_its_job_waits_again() -> None:
    room = Room("fifo")
    row = room.submit(WIDE, 0)
    room.advance(0)
    room.tell(Told.WITHDRAW, row, 5)
    room.advance(5)
    room.tell(Event.STOPPED, row, 6)
    assert room.advance(6) == [(Verb.START, row)]
    assert room.record(row, "attempt") == 2


@pytest.mark.parametrize("policy", ["fifo", "gittins", "dally", "tiresias", "easy", "kueue", "multifactor", "las"])
def test_a_held_job_waits_for_nothing_and_keeps_what_it_received(policy: str) -> None:
    room = Room(policy)
    first = room.run(WIDE, 0)
    room.tell(Event.FAIL, first, 1000)
    room.tell(Told.HOLD, first, 1000)
    second = room.submit(HALF, 1000)
    assert room.advance(1000)[-1] == (Verb.START, second)
    for row in (first, second):
        if room.state(row) == JobState.STARTING:
            room.tell(Event.STARTED, row, 1001)
    room.advance(1001)
    assert room.state(first) == JobState.HELD
    assert room.record(first, "attained") == 4 * 999_000
    room.tell(Event.FINISH, second, 2000)
    assert room.advance(2000) == []
    room.tell(Told.RELEASE, first, 3000)
    assert room.advance(3000) == [(Verb.START, first)]
    assert room.record(first, "attained") == 4 * 999_000


@pytest.mark.parametrize("policy", ["fifo", "gittins", "kueue", "multifactor"])
def test_a_held_job_that_is_cancelled_leaves_nothing(policy: str) -> None:
    room = Room(policy)
    row = room.submit(WIDE, 0)
    room.tell(Told.HOLD, row, 0)
    room.advance(0)
    room.tell(Event.CANCEL, row, 1000)
    assert room.advance(1000) == []
    g = room.world.simulation.handle.state.g[0]
    assert (g["pending"], g["queued_gpus"], g["free"]) == (0, 0, g["gpus"])
    assert room.run(WIDE, 2000) == row + 1


def test_a_pinned_job_is_never_preempted_and_others_after_their_minimum() -> None:
    for policy in ("srtf", "las", "gittins"):
        room = Room(policy)
        long = room.run(WIDE, 0, pinned=True)
        short = room.submit(SHORT, 5000)
        assert room.advance(5000) == []
        assert room.advance(9000) == []
        assert (room.state(long), room.state(short)) == (JobState.RUNNING, JobState.PENDING)


def test_an_estimate_moves_a_waiting_job_to_its_place() -> None:
    room = Room("sjf")
    wide = room.run(WIDE, 0)
    first, second = room.submit(HALF, 1), room.submit(HALF, 1)
    room.advance(1)
    room.tell(Told.ESTIMATE, second, 2, value=1000.0)
    room.advance(2)
    room.tell(Event.FINISH, wide, 3)
    assert room.advance(3) == [(Verb.START, second), (Verb.START, first)]


def test_a_node_that_fails_frees_nothing_until_its_jobs_are_told_of() -> None:
    room = Room("fifo")
    row = room.run(WIDE, 0)
    room.world.tell_node(0, NodeState.DOWN, 10_000)
    assert room.advance(10) == []
    assert room.state(row) == JobState.RUNNING
    room.tell(Event.FAIL, row, 20)
    assert room.advance(20) == []
    assert room.state(row) == JobState.PENDING
    room.world.tell_node(0, NodeState.UP, 30_000)
    assert room.advance(30) == [(Verb.START, row)]


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.TIMEOUT, JobState.NODE_FAIL, JobState.COMPLETED])
def test_a_job_that_ends_by_itself_ends_as_it_is_told(state: JobState) -> None:
    room = Room("gittins")
    row = room.run(ONE, 0)
    room.tell(Event.FINISH, row, 100, state=state)
    room.advance(100)
    assert room.world.simulation.handle.world.outcomes["state"][row] == state


def test_what_fits_no_state_changes_nothing_and_is_counted() -> None:
    room = Room("fifo")
    row = room.run(ONE, 0)
    for kind in (Event.STARTED, Event.START_FAILED, Event.STOPPED, Told.HOLD, Told.RELEASE):
        room.tell(kind, row, 10)
    room.tell(Event.FINISH, 77, 10)
    assert room.advance(10) == []
    assert room.state(row) == JobState.RUNNING
    assert room.world.ignored == 6


def test_rows_go_on_where_the_arrays_begin_anew() -> None:
    room = Room("fifo")
    room.world = room.case.world(room=4)
    for k in range(11):
        row = room.run(ONE, 100 * k)
        assert row == k
        room.tell(Event.FINISH, row, 100 * k + 50)
        room.advance(100 * k + 50)
    assert room.world.simulation.handle.world.clock[0]["audit_failed"] == 0
    assert room.world.simulation.handle.world.clock[0]["ended"] == 11
