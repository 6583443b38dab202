"""Jobs drawn from real logs and from a generated one, for clusters of nodes of 8 GPUs in racks of 8 nodes."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from pointsman.speed.profiles.assign import assign_models
from pointsman.workload import Workload, generate, read_workload
from pointsman.workload.transforms.rescale import at_load

LOGS = {"ITP": "ms_itp_2021.csv.gz", "Philly": "philly_2017.csv.gz"}
HELIOS = "Helios-like"
HELIOS_JOBS, HELIOS_GPUS = 40_000, 1064
"""Generated once, for a cluster like Venus; all samples are drawn from these."""

NODE_GPUS, RACK_NODES = 8, 8


@cache
def pool(name: str, data: Path) -> Workload:
    """All jobs that samples are drawn from."""
    if name == HELIOS:
        return generate("helios", jobs=HELIOS_JOBS, cluster_gpus=HELIOS_GPUS, seed=0)
    return read_workload(data / "traces" / LOGS[name])


def fitting(name: str, data: Path, gpus: int) -> pl.DataFrame:
    """The jobs of the pool that take no more than half of a cluster."""
    return pool(name, data).jobs.filter(pl.col("gpus") <= gpus // 2)


def sample(name: str, data: Path, gpus: int, count: int, seed: int, mix: tuple[str, int]) -> Workload:
    """So many jobs drawn without replacement, all submitted at once, with models of a mix assigned by a seed."""
    jobs, draw = fitting(name, data, gpus), np.random.default_rng((seed, gpus))
    rows = draw.permutation(jobs.height)[:count]
    drawn = jobs[np.resize(rows, count)].with_columns(submit_s=0.0, job_id=pl.format("j{}", pl.int_range(pl.len())))
    return replace(pool(name, data), jobs=assign_models(drawn, 1000 * mix[1] + seed, mix=mix[0]))


def poisson(batch: Workload, gpus: int, load: float, seed: int) -> Workload:
    """The same jobs submitted one after another with exponential gaps, scaled to be exactly this load."""
    gaps = np.random.default_rng((seed, gpus, 1)).exponential(1.0, batch.jobs.height)
    return at_load(_submitted(batch, np.cumsum(gaps)), gpus, load)


def _submitted(batch: Workload, submit_s: np.ndarray) -> Workload:
    return replace(batch, jobs=batch.jobs.with_columns(submit_s=pl.Series(submit_s - submit_s[0])))
