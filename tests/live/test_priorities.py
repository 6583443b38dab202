"""Jobs exchange their priorities until they stand in the order of a policy."""

from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pointsman.live.observe.priorities import LOWEST, MOST_NICE, Standing, nice_values

STANDINGS = st.builds(Standing, st.integers(1, 40), st.integers(-5, 5))
JOBS = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=3), STANDINGS, max_size=12)


def after(standings: dict[str, Standing], changes: dict[str, int]) -> dict[str, Standing]:
    """As Slurm does: a job's priority falls by as much as its nice value rises."""
    return {
        job: Standing(stands.priority - (nice - stands.nice), nice)
        for job, stands in standings.items()
        for nice in [changes.get(job, stands.nice)]
    }


@given(JOBS, st.randoms(use_true_random=False))
def test_they_stand_in_the_order_wanted(standings: dict[str, Standing], chance: Random) -> None:
    order = [*standings]
    chance.shuffle(order)
    then = after(standings, nice_values(order, standings))
    priorities = [then[job].priority for job in order]
    assert all(a > b or a == b == LOWEST for a, b in pairwise(priorities))
    assert nice_values(order, then) == {}
    if len({one.priority for one in standings.values()}) == len(standings):
        assert sorted(priorities) == sorted(one.priority for one in standings.values())


@given(JOBS)
def test_what_is_in_order_is_left_alone(standings: dict[str, Standing]) -> None:
    distinct = {job: Standing(100 - k, stands.nice) for k, (job, stands) in enumerate(standings.items())}
    assert nice_values([*distinct], distinct) == {}


def test_an_exchange_of_two_leaves_the_others_alone() -> None:
    standings = {"a": Standing(9, 0), "b": Standing(7, 2), "c": Standing(5, 0), "d": Standing(1, 0)}
    assert nice_values(["a", "c", "b", "d"], standings) == {"c": -2, "b": 4}
    assert nice_values(["x", "a", "b", "c"], standings) == {}


def test_what_has_the_lowest_priority_is_lowered_no_more() -> None:
    """Slurm takes such a change, and nothing comes of it: it would be made again and again."""
    standings = {job: Standing(LOWEST, nice) for job, nice in (("a", 0), ("b", 5), ("c", 0))}
    assert nice_values(["c", "b", "a"], standings) == {}


def test_no_nice_value_is_beyond_the_limit() -> None:
    """An administrator has set the priority of the second."""
    far = {"a": Standing(2 * MOST_NICE, 0), "b": Standing(100_000, 0)}
    assert nice_values(["b", "a"], far) == {}
