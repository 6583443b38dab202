"""One cell: every policy on the same jobs, and the figures that the tables show of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import polars as pl

from benchmarks.network.jobs import fitting, poisson, pool, sample
from benchmarks.sharing.bound import shared_bounds_s
from benchmarks.sharing.entries import RESTARTS, Entry
from benchmarks.sharing.pollux_mix import SMALL, pollux_mix
from benchmarks.sharing.together import shared_rows
from pointsman.api import simulate
from pointsman.cluster import Cluster, load_cluster
from pointsman.engine.rate_models.factors.gpu_sharing import jobs_per_gpu
from pointsman.engine.run.result import Result
from pointsman.policies.registry import get_policy
from pointsman.report.metrics.lower_bound import lower_bound_s
from pointsman.speed.profiles.assign import assign_models
from pointsman.workload import Workload
from pointsman.workload.transforms.rescale import at_load

MIX = "Pollux mix"
SHORT = "without ImageNet"
WITHOUT = {MIX: "", SHORT: "imagenet"}
"""Workloads of Pollux's jobs, and the model that is left out of each."""

WARMUP = 0.2
"""The share of the submit span of a log, from its start, whose jobs run and do not count."""

Figures = dict[str, float]
FIGURES = (
    "jct_s", "jct_p95_s", "jct_p99_s", "queued_s", "small_jct_s", "large_jct_s", "makespan_s", "makespan_bound_s",
    "above_bound", "shared", "accumulated", "slowed", "slow_down", "preemptions", "counted", "censored", "load",
)  # fmt: skip
"""Of a run, as `figures` gives them."""


@dataclass(frozen=True)
class Cell:
    """What decides a run but for its policy and seed."""

    workload: str
    nodes: str
    """As in a shorthand, ``16x4``."""
    jobs: int
    hours: float = 0.0
    """Of the submits, of the Pollux mix."""
    load: float | None = None
    gpu_type: str = "v100"
    interference: str = "table"
    mix: tuple[str, int] = ("typical", 0)
    profiles: tuple[str, ...] = ()
    logged: bool = False
    """Whether submits come as in the log, or one after another with exponential gaps."""

    @property
    def gpus(self) -> int:
        """Of the cluster."""
        return self.cluster.gpus

    @property
    def cluster(self) -> Cluster:
        """Racks of 8 nodes for the logs, one for the mix; the paper's 10 Gb/s for the mix, 100 Gb/s for the logs."""
        return _cluster(f"{self.nodes}/gpu={self.gpu_type}," + ("nic=10Gbps" if self.workload in WITHOUT else "rack=8"))

    def made(self, seed: int, data: Path) -> Workload:
        """The jobs of one seed."""
        if self.workload in WITHOUT:
            without = WITHOUT[self.workload]
            return pollux_mix(data, self.gpus, self.jobs, self.hours, seed, load=self.load, without=without)
        if self.logged:
            return as_logged(self.workload, data, self.gpus, self.load or 1.0, seed, self.mix)
        drawn = sample(self.workload, data, self.gpus, self.jobs, seed, self.mix)
        return poisson(drawn, self.gpus, self.load or 1.0, seed)

    @property
    def warmup(self) -> float:
        """Share of the submit span whose jobs do not count."""
        return 0.0 if self.workload in WITHOUT else WARMUP

    @property
    def name(self) -> str:
        """As in the JSON file."""
        others = (f"load {self.load:g}" if self.load else f"{self.hours:g} h", Path(self.interference).name)
        mix = () if self.workload in WITHOUT else tuple(map(str, self.mix))
        logged = ("as logged",) if self.logged else ()
        return " / ".join((self.workload, f"{self.nodes} {self.gpu_type}", f"{self.jobs} jobs", *others, *mix, *logged))


def as_logged(name: str, data: Path, gpus: int, load: float, seed: int, mix: tuple[str, int]) -> Workload:
    """All the jobs of a log that fit, in its order and with its gaps, these scaled to be exactly this load."""
    jobs = assign_models(fitting(name, data, gpus), 1000 * mix[1] + seed, mix=mix[0])
    return at_load(replace(pool(name, data), jobs=jobs), gpus, load)


@cache
def _cluster(text: str) -> Cluster:
    return load_cluster(text)


def run_cell(cell: Cell, entries: Sequence[Entry], seed: int, data: Path) -> list[Figures]:
    """The figures of each entry on the cell's jobs of one seed."""
    jobs = cell.made(seed, data)
    bounds = _bounds(cell, jobs)
    return [figures(run(cell, jobs, entry, seed), cell.warmup, bounds(entry)) for entry in entries]


def run(cell: Cell, jobs: Workload, entry: Entry, seed: int) -> Result:
    """The jobs under one policy."""
    return simulate(
        jobs, cell.cluster, entry.policy, params=entry.params or None, seed=seed, estimate=entry.estimate,
        placement=entry.placement, overheads=RESTARTS, interference=cell.interference, profiles=cell.profiles,
        log=shares(entry),
    )  # fmt: skip


def shares(entry: Entry) -> bool:
    """Whether two jobs may be on one GPU under it."""
    return jobs_per_gpu(get_policy(entry.policy).factory, None) > 1


def _bounds(cell: Cell, work: Workload) -> Callable[[Entry], tuple[float, float]]:
    """Of the mean JCT of the jobs that count, and of the makespan of all, under each entry."""
    jobs = work.jobs
    counted, gpus = counting(jobs, cell.warmup), cell.gpus
    columns = (counted[name].to_numpy() for name in ("submit_s", "gpus", "duration_s"))
    area_s = float((jobs["gpus"] * jobs["duration_s"]).sum()) / gpus
    alone = lower_bound_s(*columns, gpus), max(area_s, float(jobs["duration_s"].max()))  # ty: ignore
    mean_s, _ = shared_bounds_s(counted, gpus, cell.gpu_type, cell.interference)
    _, makespan_s = shared_bounds_s(jobs, gpus, cell.gpu_type, cell.interference)
    nothing = float("nan"), float("nan")
    return lambda entry: nothing if entry.adapts else (mean_s, makespan_s) if shares(entry) else alone


def _slow_down(jobs: pl.DataFrame) -> float:
    """How much longer those that shared ran because others were on their GPUs; 1 if none did."""
    if "slowed_s" not in jobs.columns:
        return 1.0
    ran_s, slowed_s = (float(jobs.filter("shared")[name].sum()) for name in ("run_s", "slowed_s"))
    return ran_s / (ran_s - slowed_s) if ran_s else 1.0


def counting(jobs: pl.DataFrame, warmup: float) -> pl.DataFrame:
    """Jobs submitted after the warm-up."""
    since_first_s = pl.col("submit_s") - pl.col("submit_s").min()
    return jobs.filter(since_first_s >= warmup * since_first_s.max())


def figures(result: Result, warmup: float, bounds: tuple[float, float]) -> Figures:
    """What the tables show of a run."""
    flags = shared_rows(result)
    jobs = result.jobs.with_columns(**flags)
    counted = counting(jobs, warmup)
    censored = counted["end_s"].null_count()
    jct_s, small = counted["jct_s"], pl.col("gpus") <= SMALL
    span_s = float(jobs["submit_s"].max() - jobs["submit_s"].min())  # ty: ignore
    area_s = float((jobs["gpus"] * jobs["duration_s"]).sum()) / int(result.info["gpus"])
    return {
        "jct_s": jct_s.mean(),
        "jct_p95_s": jct_s.quantile(0.95, "linear"),
        "jct_p99_s": jct_s.quantile(0.99, "linear"),
        "queued_s": (jct_s - counted["run_s"]).mean(),
        "small_jct_s": counted.filter(small)["jct_s"].mean(),
        "large_jct_s": counted.filter(~small)["jct_s"].mean(),
        "makespan_s": jobs["end_s"].max() - jobs["submit_s"].min(),
        "makespan_bound_s": bounds[1],
        "above_bound": jct_s.mean() / bounds[0] - 1,
        "shared": counted["shared"].mean(),
        "accumulated": counted["accumulated"].mean(),
        "slowed": counted["run_s"].sum() / counted["duration_s"].sum() - 1,
        "slow_down": _slow_down(counted),
        "preemptions": counted["preemptions"].mean(),
        "counted": counted.height - censored,
        "censored": censored,
        "load": area_s / span_s,
    }  # ty: ignore
