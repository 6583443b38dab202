"""What choices of PlaceGang are worth, by hand; and trying them changes nothing."""

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.errors import UsageError
from pointsman.learn.environments import Generated, PickJobVectorEnv, PlaceGangVectorEnv
from pointsman.learn.environments.compiled.gangs import FORWARD, WAIT
from pointsman.policies.placers.candidates.weights import COSTS

WEIGHTS = np.array(COSTS)


def one(jobs: list[tuple[float, int, float]], cluster: str) -> PlaceGangVectorEnv:
    """`jobs`: submit (s), GPUs, duration (s)."""
    rows = pl.DataFrame(jobs, schema=["submit_s", "gpus", "duration_s"], orient="row")
    return PlaceGangVectorEnv(
        1, cluster=cluster, workload=lambda k, gpus: pointsman.Workload.of(rows), horizon_s=None, episodes=1,
        rate_model="rates", gamma=1.0,
    )  # fmt: skip


def test_who_waits_loses_the_time_until_it_is_asked_for_again() -> None:
    """Four GPUs, a has two. b, of 100 s, may start at 10 s, or is asked for again 60 s later: it loses 60 s, and
    nothing else changes. The mean duration is 550 s.
    """
    there = one([(0.0, 2, 1000.0), (10.0, 2, 100.0)], "1x4")
    there.reset(seed=0)
    there.step(np.array([0]))
    assert there.worth(0, [0, WAIT], WEIGHTS, 10.0) == pytest.approx([0.0, -60 / 550])
    assert there.worth(0, [WAIT], WEIGHTS, 40 / 550) == pytest.approx([-60 / 550]), "to the next event"


def test_who_goes_first_is_worth_what_the_other_waits() -> None:
    """Two GPUs are left beside a, of 1,000 s. b, of 900 s, comes at 10 s, c, of 90 s, at 20 s. If b waits, c runs from
    20 to 110 s, and b, which is asked for again at 100 s in vain, from 110 s: b loses 100 s, and c nothing. If b
    starts, c waits for it until 910 s.
    """
    there = one([(0.0, 2, 1000.0), (10.0, 2, 900.0), (20.0, 2, 90.0)], "1x4")
    there.reset(seed=0)
    there.step(np.array([0]))
    mean_s = 1990 / 3
    assert there.worth(0, [0, WAIT], WEIGHTS, 10.0) == pytest.approx([-890 / mean_s, -100 / mean_s])


def test_trying_changes_nothing() -> None:
    keywords = {
        "cluster": "8x4/rack=2,nic=10Gbps,gpu=gtx1080ti", "workload": Generated("dl2-1-8", jobs=40, load=1.0),
        "episodes": 4, "schedulers": 2, "rate_model": "rates", "contention": "duty-cycle", "gamma": 1.0,
        "factors": {"node_interference": "table"},
    }  # fmt: skip
    first, second = (PlaceGangVectorEnv(2, **keywords) for _ in range(2))
    seen, _ = first.reset(seed=5)
    second.reset(seed=5)
    forwarded = 0
    for _ in range(250):
        for e in range(2):
            allowed = seen["action_mask"][e].nonzero()[0].tolist()
            before = first.worth(e, allowed, WEIGHTS, 0.5)
            assert (first.worth(e, allowed[::-1], WEIGHTS, 0.5)[::-1] == before).all()
            forwarded += FORWARD in allowed
        actions = seen["action_mask"].argmax(1)
        seen, reward, over, _, _ = first.step(actions)
        other, same, *_ = second.step(actions)
        assert (reward == same).all() and all((seen[name] == other[name]).all() for name in seen)
        if over.any():
            break
    assert forwarded > 5


def test_other_environments_have_no_such_choices() -> None:
    there = PickJobVectorEnv(1, cluster="2x4")
    there.reset(seed=0)
    with pytest.raises(UsageError, match="PlaceGang only"):
        there.worth(0, [0], WEIGHTS, 1.0)
