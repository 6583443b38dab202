"""What is run: jobs drawn from real logs and from a generated one, on clusters of A100 in racks of 8 nodes of 8."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from pointsman.cluster.cluster import Cluster
from pointsman.speed.profiles.assign import assign_models
from pointsman.workload import Workload, generate, read_workload
from pointsman.workload.transforms.rescale import at_load

LOGS = {"ITP": "ms_itp_2021.csv.gz", "Philly": "philly_2017.csv.gz"}
HELIOS = "Helios-like"
HELIOS_JOBS, HELIOS_GPUS = 40_000, 1064
"""Generated once, for a cluster like Venus; all samples are drawn from these."""

NODE_GPUS, RACK_NODES = 8, 8

NETWORKS = {"ib": ("a100", "200 Gb/s", "gpu"), "ethernet": ("v100", "100 Gb/s", "node")}
"""GPU, bandwidth of a network card, and whose it is. ``ib`` is the network of Dally's paper, as far as we know it."""


def available(data: Path) -> tuple[list[str], str]:
    """The workloads that can be made, and what to say of those that cannot."""
    missing = [name for name, file in LOGS.items() if not (data / "traces" / file).is_file()]
    said = f"{' and '.join(missing)} skipped, for {data / 'traces'} has no such log" if missing else ""
    return [*(name for name in LOGS if name not in missing), HELIOS], said


@cache
def cluster(gpus: int, network: str) -> Cluster:
    """So many GPUs in nodes of 8, racks of 8 nodes."""
    kind, card, owner = NETWORKS[network]
    node = {"gpus": NODE_GPUS, "gpu_type": kind, "nic": {"bandwidth": card, "per": owner}}
    nodes = [{"type": "node", "count": gpus // NODE_GPUS}]
    spec = {"node_types": {"node": node}, "nodes": nodes, "nodes_per_rack": RACK_NODES}
    return Cluster.model_validate({"metadata": {"name": f"{gpus // NODE_GPUS}x{NODE_GPUS}-{network}"}, "spec": spec})


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


def doubled(batch: Workload, gpus: int, load: float, seed: int, after: int) -> Workload:
    """As `poisson`, but after so many jobs they come twice as fast."""
    submit_s = poisson(batch, gpus, load, seed).jobs["submit_s"].to_numpy()
    middle = submit_s[after]
    return _submitted(batch, np.where(submit_s > middle, middle + (submit_s - middle) / 2, submit_s))


def _submitted(batch: Workload, submit_s: np.ndarray) -> Workload:
    return replace(batch, jobs=batch.jobs.with_columns(submit_s=pl.Series(submit_s - submit_s[0])))
