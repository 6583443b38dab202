"""What running jobs take of their nodes is counted exactly at any time, also in copies and under other policies."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.experiment import RunOptions
from pointsman.policies.registry import get_policy
from pointsman.speed import load_catalogue

MODELS = ("resnet50", "vgg16", "inception_bn", "seq2seq", "dssm", "bert", None)
CATALOGUE = load_catalogue()
NODES, GPUS, SOCKETS = 3, 4, 2
RUNNING = 3


def some_jobs(n: int = 60) -> pointsman.Workload:
    draw = np.random.default_rng(1)
    columns = {
        "submit_s": np.sort(draw.integers(0, 600, n)).astype(float), "gpus": draw.integers(1, 7, n),
        "duration_s": draw.integers(1, 200, n).astype(float), "model": [MODELS[k] for k in draw.integers(0, 7, n)],
    }  # fmt: skip
    return pointsman.Workload.of(pl.DataFrame(columns))


def opened(policy: str, **more: Any) -> Any:
    spec = get_policy(policy)
    events = [(50.0, "0", "DOWN"), (90.0, "0", "UP"), (200.0, "1", "DOWN"), (260.0, "1", "UP")]
    options = RunOptions.checked(
        {"overheads": "none", "node_interference": "table", "audit": True, "node_events": events, **more}
    )
    return open_simulation(some_jobs(), load_cluster("3x4"), spec, spec.make(), options)[0]


def worked_out(simulation: Any, models: list[str | None]) -> Counter[Any]:
    """By node and resource, or by node and socket, in thousandths; without what goes between sockets."""
    loads: Counter[Any] = Counter()
    state = simulation.handle.state
    for job in np.asarray(simulation.handle.jobs):
        demand = CATALOGUE.models[name].node if (name := models[job["row"]]) else None
        part = job["part"] if job["state"] == RUNNING and demand is not None else -1
        while part >= 0:
            node, mask = int(state.parts[part]["node"]), int(state.parts[part]["mask"])
            for gpu in (gpu for gpu in range(GPUS) if mask >> gpu & 1):
                traffic = demand.traffic.mb_per_s_per_gpu
                loads[node, "cores"] += round(1000 * demand.cores.per_gpu)
                loads[node, "memory"] += round(1000 * min(traffic, 450))
                loads[node, gpu // 2] += round(1000 * traffic)
            part = state.parts[part]["next"]
    return +loads


def counted(simulation: Any) -> Counter[Any]:
    loads = simulation.handle.state.factor_loads.tolist()
    found = Counter({(n, what): loads[3 * n + i] for n in range(NODES) for i, what in enumerate(("cores", "memory"))})
    at = 3 * NODES
    found.update({(n, s): loads[at + SOCKETS * n + s] for n in range(NODES) for s in range(SOCKETS)})
    return +found


@pytest.mark.parametrize(
    ("policy", "more"),
    [
        ("srtf", {}),
        ("srtf", {"rate_model": "iterations"}),
        ("tiresias", {"overheads": "realistic"}),
        ("gandiva", {"overheads": "realistic", "contention": "max-min"}),
        ("pollux", {}),
    ],
)
def test_loads_are_those_of_running_jobs_at_any_time(policy: str, more: dict[str, Any]) -> None:
    """Under preemption, failures of nodes, resizing and starts that take time."""
    simulation, models = opened(policy, **more), some_jobs().jobs["model"].to_list()
    seen = 0
    for until in range(0, 2_000_000, 7_001):
        simulation.run(until)
        found = counted(simulation)
        assert found == worked_out(simulation, models), until
        seen = max(seen, len(found))
    simulation.run()
    assert seen > 6 and not simulation.handle.state.factor_loads.any()


@pytest.mark.parametrize("other", ["fifo-backfill", "srtf", "dally"])
def test_a_copy_has_loads_of_its_own_and_another_policy_has_those_of_the_run(other: str) -> None:
    simulation = opened("srtf")
    simulation.run(150_000)
    before = simulation.handle.state.factor_loads.tolist()
    ahead = simulation.what_if(other)
    assert any(before) and ahead.handle.state.factor_loads.tolist() == before
    ahead.run()
    assert not ahead.handle.state.factor_loads.any() and simulation.handle.state.factor_loads.tolist() == before
    taken_over = simulation.adopt(get_policy(other).make())
    taken_over.run()
    assert not taken_over.handle.state.factor_loads.any()
    jobs = np.asarray(taken_over.handle.world.outcomes)
    assert (jobs["slowed"] > 0).sum() > 20, "the factor goes on under the other policy"


def test_a_future_is_as_slow_as_what_comes() -> None:
    """No job is to come: jobs end when the what-if says that they will, interference included."""
    jobs = pl.DataFrame(
        {"submit_s": [0.0] * 4, "gpus": [1] * 4, "duration_s": [100.0, 200.0] * 2, "model": ["vgg16"] * 4}
    )
    spec = get_policy("sjf")
    options = RunOptions.checked({"overheads": "none", "node_interference": "table"})
    simulation, _ = open_simulation(pointsman.Workload.of(jobs), load_cluster("1x4"), spec, spec.make(), options)
    simulation.run(50_000)
    ahead = simulation.what_if("sjf-backfill")
    simulation.run()
    ahead.run()
    ends = simulation.handle.world.outcomes["end"]
    assert ahead.handle.world.outcomes["end"].tolist() == ends.tolist()
    assert (ends > [110_000, 210_000] * 2).all(), "and all are slowed"
