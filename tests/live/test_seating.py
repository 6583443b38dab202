"""Jobs take their seats in a new world by what is known of them, which then decides as the one before."""

from pathlib import Path

import pytest

from pointsman.cluster import load_cluster
from pointsman.errors import RunError
from pointsman.live.records.seats_of_book import seats_of_book
from pointsman.live.world.kind import Kind
from pointsman.live.world.live_world import Ask
from pointsman.live.world.roster import Deciding, Roster
from pointsman.live.world.seating import ask_for, seats_of, take_seats
from pointsman.types import Event, JobState, Told

from .stepped import Stepped
from .test_checkpoint import LISTENING, after_turns
from .test_equality import CLUSTERS, workload
from .toy import Case, Toy

PYTHON = ("examples/my_policy.py:MyPolicy", LISTENING[0])
POLICIES = ("fifo-backfill", "easy", "sjf", "srtf", "kueue", "tiresias", "dally", *PYTHON)


def half_way(policy: str, turns: int) -> Toy:
    case = Case(workload("philly"), CLUSTERS["philly"], policy, oversized="drop", audit=True)
    toy = Toy(case, case.world())
    toy.run(after_turns(toy, turns))
    toy.actions.clear()
    return toy


@pytest.mark.parametrize("turns", [1, 300])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_world_in_which_jobs_take_their_seats_goes_on(policy: str, turns: int) -> None:
    toy = half_way(policy, turns)
    case, before = toy.case, toy.world
    world = case.world()
    asks = dict(enumerate(case.asks()))
    take_seats(world, seats_of(before, asks), before.now_ms, toy.submitted)
    assert repr(seats_of(world, asks)) == repr(seats_of(before, asks))  # NaN is not equal to itself
    assert toy.copy(world).run() == toy.run()


@pytest.mark.parametrize("policy", ["gittins", "multifactor", "las"])
def test_all_jobs_end_under_whatever_policy_takes_over(policy: str) -> None:
    toy = half_way("tiresias", 300)
    other = Case(workload("philly"), CLUSTERS["philly"], policy, oversized="drop", audit=True)
    world = other.world()
    take_seats(world, seats_of(toy.world, dict(enumerate(other.asks()))), toy.world.now_ms, toy.submitted)
    other_toy = toy.copy(world)
    other_toy.asks = other.asks()
    other_toy.run()
    clock = world.simulation.handle.world.clock[0]
    assert clock["ended"] == clock["arrived"] == len(other.prepared.trace)


def crowded(policy: str) -> Toy:
    """Some jobs wait that have never run: of others, what they have had would not add up with what they ask for."""
    case = Case(workload("philly", 250), "2x8", policy, oversized="drop", audit=True)
    toy = Toy(case, case.world())
    toy.run(lambda: len(never_run(toy)) >= 8)
    toy.actions.clear()
    return toy


def never_run(toy: Toy) -> list[int]:
    jobs = toy.world.simulation.handle.jobs
    return sorted(jobs["row"][(jobs["state"] == JobState.PENDING) & (jobs["attempt"] == 0)].tolist())


def ask_for_others(toy: Toy) -> dict[int, Ask]:
    """Some jobs that wait are taken from the queue, ask for what others ask for, and are put back."""
    rows = never_run(toy)[::3]
    others = {row: [ask for ask in toy.asks if ask.cls != toy.asks[row].cls] for row in rows}
    asks = {row: others[row][row % len(others[row])] for row in rows}
    tell_all(toy, Told.HOLD, rows)
    for row, ask in asks.items():
        ask_for(toy.world, row, ask)
    tell_all(toy, Told.RELEASE, rows)
    return asks


def tell_all(toy: Toy, kind: Told, rows: list[int]) -> None:
    for row in rows:
        toy.world.tell(kind, row, toy.world.now_ms)
    for action in toy.world.advance(toy.world.now_ms):
        toy._carry_out(action)


@pytest.mark.parametrize("policy", [*POLICIES[:-1], "gittins", "multifactor"])  # the last hears of no cancellation
def test_jobs_may_ask_for_something_else(policy: str) -> None:
    """All end, and under policies that remember nothing they go on as if they had asked for that from the beginning."""
    toy = crowded(policy)
    own = dict(enumerate(toy.asks))
    before = {seat.row: seat.submit_ms for seat in seats_of(toy.world, own)}
    asks = ask_for_others(toy)
    seats = seats_of(toy.world, own | asks)
    assert {seat.row: seat.submit_ms for seat in seats} == before
    toy.actions.clear()
    if policy not in ("gittins", "multifactor"):
        other = toy.case.world()
        take_seats(other, seats, toy.world.now_ms, toy.submitted)
        assert toy.copy(other).run() == toy.copy(toy.world).run()
    else:
        toy.run()
    clock = toy.world.simulation.handle.world.clock[0]
    assert clock["ended"] == clock["arrived"] == len(toy.case.prepared.trace)
    assert toy.world.ignored == 0


def test_only_a_job_that_is_held_may_ask_for_something_else() -> None:
    toy = crowded("fifo")
    with pytest.raises(RunError, match="is not HELD"):
        ask_for(toy.world, never_run(toy)[0], toy.asks[0])


def test_two_jobs_on_one_gpu_are_refused() -> None:
    toy = half_way("fifo", 40)
    seats = seats_of(toy.world, dict(enumerate(toy.case.asks())))
    first = next(seat for seat in seats if seat.parts)
    twice = first._replace(row=len(toy.case.asks()) - 1)
    with pytest.raises(RunError, match="another has, too"):
        take_seats(toy.case.world(), [*seats, twice], toy.world.now_ms, toy.submitted)


def test_only_in_a_world_that_has_not_begun() -> None:
    toy = half_way("fifo", 40)
    with pytest.raises(RunError, match="has not begun"):
        take_seats(toy.world, [], toy.world.now_ms, 0)


def test_all_64_gpus_of_a_node() -> None:
    roster = Roster(load_cluster("1x64"), Deciding("fifo", {}, {"overheads": "none"}), [Kind(gpus=64, user="ann")])
    world, other = roster.world(1 << 10), roster.world(1 << 10)
    asks = {world.submit(roster.ask(0), 0): roster.ask(0)}
    (start,) = world.advance(0)
    assert start.parts == ((0, (1 << 64) - 1),)
    world.tell(Event.STARTED, start.row, 10)
    world.advance(10)
    seats = seats_of(world, asks)
    take_seats(other, seats, world.now_ms, world.rows_so_far)
    assert repr(seats_of(other, asks)) == repr(seats)  # NaN is not equal to itself
    assert int(other.simulation.handle.state.nodes["free"][0]) == 0


def test_the_tables_say_what_seats_jobs_have(tmp_path: Path) -> None:
    """By these a job has run as long, holds what it holds and has waited as long as by the world itself."""
    case = Case(workload("philly", 250), "2x8", "tiresias", oversized="drop")
    stepped = Stepped(case, tmp_path / "store")
    counted = 0
    while stepped.turn():
        if stepped.loop.turns % 5:
            continue
        world = stepped.loop.world
        asks = {row: job.ask for row, job in stepped.loop.jobs.items()}
        true = {seat.row: seat for seat in seats_of(world, asks)}
        kept = seats_of_book(stepped.loop.store)
        assert kept["rows"] == world.rows_so_far
        assert {one["row"] for one in kept["seats"]} == set(true)
        late_ms = world.now_ms - kept["now_ms"]
        for one in kept["seats"]:
            seat, past = true[one["row"]], one["past"]
            parts = tuple((stepped.names.index(node), mask) for node, mask in one["parts"])
            assert (one["state"], parts, one["submit_ms"]) == (seat.state.name, seat.parts, seat.submit_ms)
            for name in ("attempt", "preempts", "pended", "first_start", "started"):
                if name in past:
                    assert past[name] == seat.past[name], (name, one, seat)
            if seat.state == JobState.RUNNING:
                assert past["executed"] == seat.past["executed"] - late_ms
                counted += past["attempt"] > 1
    assert counted > 0
