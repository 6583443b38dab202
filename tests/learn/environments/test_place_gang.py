"""PlaceGang: gangs, masks and the parts of schedulers hold whatever is done, and forwarding by hand."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import pointsman
from pointsman.cluster import load_cluster
from pointsman.engine.setup.schedulers import scheduler_of_nodes
from pointsman.learn.environments import Generated, PlaceGangEnv, PlaceGangVectorEnv
from pointsman.learn.environments.compiled.gangs import ACTIONS, FORWARD, WAIT
from pointsman.policies.placers.candidates.weights import COSTS
from pointsman.workload import generate
from tests.free import simulate

CELL = {"rate_model": "rates", "contention": "duty-cycle", "factors": {"node_interference": "table"}}
WEIGHTS = np.array(COSTS)
"""Of the shipped scorer."""


def like_the_scorer(seen: dict[str, NDArray[Any]]) -> int:
    """What `scorer` does: the cheapest candidate, while patient of the compact ones; else to forward, or to wait."""
    told, mask = seen["candidates"][:, :6].astype(float), seen["action_mask"] != 0
    costs = (told / (1 - told)) @ WEIGHTS
    compact = mask[:FORWARD] & (seen["candidates"][:, 6] == 0)
    if compact.any():
        return int(np.where(compact, costs, np.inf).argmin())
    if mask[FORWARD]:
        return FORWARD
    return WAIT if mask[WAIT] else int(np.where(mask[:FORWARD], costs, np.inf).argmin())


@pytest.mark.parametrize(("schedulers", "order"), [(1, "fifo"), (4, "fifo"), (1, "sjf"), (4, "sjf")])
def test_who_acts_like_the_scorer_makes_its_schedule(schedulers: int, order: str) -> None:
    cluster = "16x4/rack=4,nic=10Gbps,gpu=gtx1080ti"
    jobs = generate("dl2-1-8", jobs=200, cluster_gpus=64, load=0.95, seed=3)
    environment = PlaceGangEnv(
        cluster=cluster,
        workload=lambda k, gpus: jobs,
        horizon_s=None,
        episodes=1,
        schedulers=schedulers,
        order=order,
        **CELL,
    )
    seen, _ = environment.reset(seed=0)
    over, waits = False, 0
    while not over:
        action = like_the_scorer(seen)
        waits += action == WAIT
        seen, _, over, _, _ = environment.step(action)
    run = simulate(
        jobs, cluster, "scorer", params={"schedulers": schedulers, "order": order}, contention="duty-cycle",
        node_interference="table",
    )  # fmt: skip
    first_s = jobs.jobs["submit_s"][0]
    assert waits > 3 or schedulers > 1
    np.testing.assert_allclose(environment.outcomes["end"] / 1000, run.jobs["end_s"].to_numpy() - first_s, atol=1e-6)


def test_a_job_is_forwarded_once() -> None:
    """Two racks of a node each, with a scheduler each. Both jobs belong to the same one; the second does not fit::

    node 0, scheduler p   [ a a ]
    node 1, scheduler q   [ b b ]   forwarded, for node 0 has no room
    """
    rows = {"submit_s": [0.0, 1.0], "gpus": [2, 2], "duration_s": [100.0, 100.0], "model": ["resnet50"] * 2}
    jobs = pointsman.Workload.of(pl.DataFrame(rows))
    environment = PlaceGangEnv(
        cluster="2x2/rack=1",
        workload=lambda k, gpus: jobs,
        horizon_s=None,
        episodes=8,
        schedulers=2,
        rate_model="rates",
    )
    met = False
    for episode in range(8):
        seen, _ = environment.reset(seed=episode)
        own = seen["owner"].copy()
        assert own.sum() == 1 and seen["action_mask"][FORWARD]  # the other could place it as well
        seen, _, _, _, _ = environment.step(0)
        if (seen["owner"] != own).any():
            continue
        met = True
        assert seen["action_mask"].nonzero()[0].tolist() == [FORWARD, WAIT]
        seen, _, _, _, _ = environment.step(FORWARD)
        assert (seen["owner"] == 1 - own).all() and seen["job"][6] == 1.0
        assert not seen["action_mask"][FORWARD] and seen["action_mask"][0]
        seen, _, over, _, _ = environment.step(0)
        assert over and (environment.outcomes["end"] == [100_000, 101_000]).all()
    assert met


def check(environment: PlaceGangEnv, owner: NDArray[np.int64]) -> None:
    """Gangs that hold GPUs are whole, and on nodes of the scheduler that they belong to."""
    state = environment.state
    node_of = np.repeat(np.arange(len(owner)), state.nodes["gpus"])
    gpus, jobs = np.flatnonzero(state.occupants[:, 0] >= 0), state.occupants[state.occupants[:, 0] >= 0, 0]
    for j in np.unique(jobs).tolist():
        job, nodes = state.jobs[j], node_of[gpus[jobs == j]]
        assert len(nodes) == job["asked"] == job["gpus"]
        assert (owner[nodes] == job["cls"] % state.g["schedulers"][0]).all()


@pytest.mark.parametrize("schedulers", [1, 3])
def test_random_steps_break_nothing(schedulers: int) -> None:
    run_random_steps(schedulers, 3_000)


@pytest.mark.slow
@pytest.mark.parametrize("schedulers", [1, 2, 5, 8])
def test_a_quarter_of_a_million_random_steps_each_break_nothing(schedulers: int) -> None:
    run_random_steps(schedulers, 250_000)


def run_random_steps(schedulers: int, steps: int) -> None:
    cluster, draw = "16x4/rack=2,nic=10Gbps,gpu=gtx1080ti", np.random.default_rng(schedulers)
    owner = scheduler_of_nodes(load_cluster(cluster).layout(), schedulers)
    workload = Generated("dl2-1-16", jobs=60, load=1.2, widest=16 if schedulers < 8 else 8)  # a rack has 8 GPUs
    environment = PlaceGangEnv(cluster=cluster, workload=workload, episodes=8, schedulers=schedulers, **CELL)
    seen, _ = environment.reset(seed=1)
    taken = np.zeros(ACTIONS, int)
    homes: dict[int, set[int]] = {}
    for _ in range(steps):
        assert all(part.min() >= 0 and part.max() <= 1 for part in seen.values() if part.size)
        there = seen["candidates"][:, 7] != 0
        assert (seen["action_mask"][:FORWARD] != 0).tolist() == there.tolist()
        assert ((seen["touched"].sum(1) > 0) == there).all()
        part = seen["touched"][:, owner != seen["owner"].argmax()]
        assert not part.any(), "a candidate is on nodes of another scheduler"
        row = int(environment.state.jobs["row"][environment.window[0]])
        homes.setdefault(row, set()).add(int(seen["owner"].argmax()))
        action = int(draw.choice(seen["action_mask"].nonzero()[0]))
        taken[action] += 1
        seen, _, over, cut, _ = environment.step(action)
        check(environment, owner)
        if over or cut:
            assert all(len(home) <= 2 for home in homes.values())
            seen, _ = environment.reset()
            homes.clear()
    assert environment.refused == 0
    assert taken[:FORWARD].sum() > steps / 10 and taken[WAIT] > steps / 10
    assert (taken[FORWARD] > steps / 50) == (schedulers > 1)


def test_many_at_once_are_as_one_alone() -> None:
    keywords = {
        "cluster": "8x4/rack=2,nic=10Gbps,gpu=gtx1080ti", "workload": Generated("dl2-1-8", jobs=30, load=1.0),
        "episodes": 4, "schedulers": 2, **CELL,
    }  # fmt: skip
    many, alone = PlaceGangVectorEnv(3, threads=2, **keywords), PlaceGangEnv(**keywords)
    seen, _ = many.reset(seed=5)
    own, _ = alone.reset(seed=7)
    for _ in range(200):
        for name, part in own.items():
            np.testing.assert_array_equal(part, seen[name][2])
        actions = seen["action_mask"].argmax(1)
        seen, rewards, over, cut, _ = many.step(actions)
        if over[2] or cut[2]:
            break
        own, reward, *_ = alone.step(actions[2])
        assert reward == rewards[2]


def test_more_schedulers_than_racks_are_refused() -> None:
    with pytest.raises(pointsman.errors.UsageError, match="3 schedulers need one rack each"):
        PlaceGangEnv(cluster="4x4/rack=2", schedulers=3, workload=Generated("dl2-1-8", jobs=5))
