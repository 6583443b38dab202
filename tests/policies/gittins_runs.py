"""Jobs and runs for the tests of `gittins`."""

from typing import Any

import numpy as np
import polars as pl

import pointsman
from pointsman import Workload
from pointsman.api import open_simulation
from pointsman.engine.run.simulation import Simulation
from pointsman.experiment import RunOptions
from pointsman.policies.dally.declared import GittinsMemory, Hazards
from pointsman.policies.registry import get_policy

QUICK = {"refit_s": 3600, "least_ends": 20}


def jobs_of(rows: list[tuple[float, int, float]], **columns: list[Any]) -> Workload:
    """Of (submit_s, gpus, duration_s) each."""
    frame = pl.DataFrame(rows, schema={"submit_s": float, "gpus": int, "duration_s": float}, orient="row")
    return Workload.of(frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()}))


def opened(jobs: Workload, cluster: str, policy: str = "gittins", overheads: Any = "none", **params: Any) -> Simulation:
    spec = get_policy(policy)
    options = RunOptions(overheads=overheads, audit=True)
    return open_simulation(jobs, pointsman.load_cluster(cluster), spec, spec.make(params), options)[0]


def learnt(simulation: Simulation) -> Hazards:
    """What the policy has learnt of how long jobs last."""
    return GittinsMemory(simulation.handle.state.memory).hazards


def index_of(simulation: Simulation) -> np.ndarray:
    """The index of the first group, by bucket."""
    return learnt(simulation).index.array[0].copy()


def busy(seed: int, jobs: int = 400) -> Workload:
    draw = np.random.default_rng(seed)
    submit_s = np.sort(draw.uniform(0, 40_000, jobs))
    rows = list(zip(submit_s, draw.choice([1, 1, 2, 4], jobs), draw.lognormal(6.0, 1.5, jobs), strict=True))
    return jobs_of(
        [(float(s), int(g), float(d)) for s, g, d in rows],
        queue=draw.choice(["a", "b"], jobs).tolist(),
        user=draw.choice(["u", "v", "w"], jobs).tolist(),
    )
