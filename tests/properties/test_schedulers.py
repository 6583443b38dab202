"""Whole runs of placers that share a cluster, from their plan logs alone: no job runs beyond its scheduler's nodes, and
none is forwarded twice.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pointsman
from pointsman.cluster import load_cluster
from pointsman.engine.setup.schedulers import scheduler_of_nodes
from pointsman.report.result import Result
from pointsman.workload import generate
from tests.free import simulate

from .test_plan_log import costs, job_tables

PLACERS = ("lb", "tetris-place", "lif", "random-place", "packed", "packed-lif", "packed-patience", "scorer")
CLUSTERS = {"6x2/rack=1,gpu=v100": 4, "4x4/rack=2,gpu=v100": 8, "3x4/rack=1,gpu=v100+3x2/rack=1,gpu=v100": 4}
"""And the widest gang that is drawn."""
NUMBERS = {"6x2/rack=1,gpu=v100": [2, 3], "4x4/rack=2,gpu=v100": [2], "3x4/rack=1,gpu=v100+3x2/rack=1,gpu=v100": [2, 3]}
HOMES = 0x686F6D65


def check(result: Result, owners: list[int], params: dict[str, Any], seed: int) -> int:
    """Every start of every job; how many jobs were forwarded."""
    assert result.events is not None
    owner = pl.col("node").replace_strict(dict(enumerate(owners)), return_dtype=pl.Int64)
    parts = result.events.filter(pl.col("kind") == "START").select("row", "attempt", owner=owner)
    starts = parts.group_by("row", "attempt").agg(pl.col("owner").n_unique().alias("owners"), pl.col("owner").first())
    assert starts["owners"].max() in (None, 1), "a job on nodes of two schedulers"
    at_first = first_owners(result, owners, params["schedulers"], seed)
    before = pl.col("owner").shift(1).over("row").fill_null(pl.col("row").replace_strict(at_first))
    changes = starts.sort("row", "attempt").with_columns(changed=pl.col("owner") != before).group_by("row")
    forwarded = changes.agg(pl.col("changed").sum())["changed"]
    assert (forwarded <= int(params["forward"])).all()
    return int(forwarded.sum())


def first_owners(result: Result, owners: list[int], schedulers: int, seed: int) -> dict[int, int]:
    """By row: any of those whose GPUs are enough, where all GPUs are alike to the jobs of a type."""
    gpus = np.bincount(owners, load_cluster(result.info["cluster"]).layout().node_gpus)
    wide = result.jobs["gpus"].to_numpy()
    drawn = np.random.default_rng([seed, HOMES]).random(len(wide))
    able = gpus >= wide[:, None]
    nth = (drawn * able.sum(1)).astype(int)
    return {row: int(np.flatnonzero(able[row])[nth[row]]) for row in range(len(wide))}


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_jobs_keep_to_their_scheduler(data: st.DataObject) -> None:
    on = data.draw(st.sampled_from(list(CLUSTERS)))
    jobs = data.draw(job_tables(CLUSTERS[on]))
    params = {"schedulers": data.draw(st.sampled_from(NUMBERS[on])), "forward": data.draw(st.booleans())}
    changes = st.tuples(st.integers(1, 80), st.integers(0, 3), st.sampled_from(["DOWN", "DRAIN", "UP"]))
    events: Any = [(float(t), n, state) for t, n, state in data.draw(st.lists(changes, max_size=6))]
    seed = data.draw(st.integers(0, 99))
    result = simulate(
        pointsman.Workload.of(jobs), on, data.draw(st.sampled_from(PLACERS)), audit=True, node_events=events,
        params=params, overheads=data.draw(costs()), oversized="clamp", seed=seed, until_s=400,
    )  # fmt: skip
    check(result, scheduler_of_nodes(load_cluster(on).layout(), params["schedulers"]).tolist(), params, seed)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["random-place", "packed-patience"])
def test_in_half_a_million_starts(policy: str) -> None:
    on, params = "64x4/rack=4,gpu=v100", {"schedulers": 8, "forward": True}
    owners = scheduler_of_nodes(load_cluster(on).layout(), 8).tolist()
    forwarded = 0
    for seed in range(5):
        jobs = generate("philly", jobs=100_000, cluster_gpus=256, load=0.95, seed=seed)
        done = simulate(jobs, on, policy, params=params, oversized="clamp", seed=seed)
        assert done.jobs.height == 100_000
        forwarded += check(done, owners, params, seed)
    assert forwarded > 10_000
