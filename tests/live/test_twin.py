"""The future of a live world whose jobs' work is known is what happens."""

import pytest

from pointsman.engine.run.view import done_by
from pointsman.errors import UsageError
from pointsman.live.world.plan import actions_of
from pointsman.live.world.twin import as_simulation
from pointsman.types import JobState

from .test_equality import CLUSTERS, workload
from .toy import Case, Toy

POLICIES = ("fifo-backfill", "easy", "sjf", "las", "tiresias", "dally", "gittins", "multifactor", "kueue")


def at_rest(policy: str, turns: int, like: str = "philly") -> Toy:
    """After so many turns, at an instant at which no start and no stop is under way: a twin begins those anew."""
    toy = Toy(case := Case(workload(like), CLUSTERS[like], policy, oversized="drop"), case.world())
    taken = 0
    while taken < turns or toy.due or toy.world.simulation.handle.state.g[0]["pending"] < 8:
        assert toy.turn()
        taken += 1
    return toy


def left_ms(toy: Toy) -> dict[int, float]:
    jobs = toy.world.simulation.handle.jobs
    jobs = jobs[jobs["state"] != 0]
    runs = jobs["state"] == JobState.RUNNING
    done = runs * done_by(jobs, toy.world.now_ms) + ~runs * jobs["done"]
    return dict(zip(jobs["row"].tolist(), (toy.work[jobs["row"]] - done).tolist(), strict=True))


@pytest.mark.parametrize("turns", [60, 350])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_twin_that_is_told_the_truth_decides_as_the_world_will(policy: str, turns: int) -> None:
    toy = at_rest(policy, turns)
    twin = as_simulation(toy.world.copy(), left_ms(toy), toy.world.now_ms)
    twin.run()
    alone = toy.copy(toy.world)
    alone.submits = toy.submits[: toy.submitted]
    expected = alone.run()
    assert len(expected) > 3
    assert actions_of(twin.log()) == expected


def test_a_world_knows_nothing_of_what_happens_to_its_copy() -> None:
    toy = at_rest("gittins", 100)
    other = toy.copy(toy.world.copy())
    other.run()
    assert toy.run() == toy.case.simulated()


def test_a_python_policy_without_a_copy_is_refused() -> None:
    case = Case(workload("itp"), CLUSTERS["itp"], "examples/my_policy.py:MyPolicy")
    world = case.world()
    with pytest.raises(UsageError, match="has no copy"):
        world.copy()
