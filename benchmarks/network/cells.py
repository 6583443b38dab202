"""One cell: every policy on the same jobs, and the figures that the tables show of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.network.jobs import NODE_GPUS, cluster, poisson, sample
from pointsman.api import simulate
from pointsman.engine.run.result import Result
from pointsman.report.metrics.counted import is_submitted_in, submit_window
from pointsman.report.metrics.summary import summarise

SEEDS = (0, 1, 2, 3, 4)
BATCH_PER_GPU, JOBS_PER_GPU = 500 / 64, 16
"""500 jobs at once on 64 GPUs; and as many for each GPU on larger clusters, so that queues are as long."""

WARMUP = 0.2
"""The share of the submit span, from its start, whose jobs run and do not count."""

Figures = dict[str, float]

FIGURES = (
    "jct_s", "jct_p99_s", "queued_s", "queued_p99_s", "comm_s", "comm_share", "makespan_s", "makespan_bound_s",
    "above_bound", "allocated", "preemptions", "counted", "censored", "node", "rack", "network", "narrow_comm_s",
    "wide_comm_s", "wide_scattered",
)  # fmt: skip
"""Of a run, as `figures` gives them."""


@dataclass(frozen=True)
class Entry:
    """A policy as it is run."""

    label: str
    policy: str
    params: Mapping[str, Any] = field(default_factory=dict)
    estimate: str | None = None
    placement: str | None = None

    @property
    def knows(self) -> str:
        """Of durations."""
        return "none" if self.policy != "srtf" else f"estimate {self.estimate}" if self.estimate else "oracle"


BASE = Entry("dally", "dally")
VARIANTS = tuple(Entry(f"dally-{kind}", f"dally-{kind}") for kind in ("consolidated", "nowait", "manual", "nopreempt"))
BLIND = Entry("tiresias, any place", "tiresias", placement="tightest")
BASELINES = (
    Entry("tiresias-skew", "tiresias-skew"),
    Entry("gandiva", "gandiva"),
    BLIND,
    Entry("tiresias", "tiresias"),
    Entry("las", "las"),
    Entry("fifo", "fifo"),
    Entry("fifo-backfill", "fifo-backfill"),
)
ORACLES = (
    Entry("srtf", "srtf"),
    Entry("srtf, σ = 0.5", "srtf", estimate="lognormal:0.5"),
    Entry("srtf, σ = 1", "srtf", estimate="lognormal:1"),
)
WHOLE = Entry("dally, whole nodes", "dally-whole-nodes")
ALL = (BASE, *VARIANTS, WHOLE, *BASELINES, *ORACLES)


@dataclass(frozen=True)
class Cell:
    """What decides a run but for its policy and seed."""

    workload: str
    gpus: int
    congestion: float
    load: float | None
    """None: all jobs at once."""
    network: str = "ib"
    mix: tuple[str, int] = ("typical", 0)
    overheads: str = "none"

    @property
    def jobs(self) -> int:
        """How many."""
        return round(self.gpus * (JOBS_PER_GPU if self.load else BATCH_PER_GPU))

    @property
    def name(self) -> str:
        """As in the JSON file."""
        arrival = f"load {self.load:g}" if self.load else "batch"
        others = [self.network, *map(str, self.mix), self.overheads]
        return " / ".join((self.workload, f"{self.gpus} GPUs", f"{self.congestion:g}x", arrival, *others))


def run_cell(cell: Cell, entries: Sequence[Entry], seed: int, data: Path) -> list[Figures]:
    """The figures of each entry on the cell's jobs of one seed."""
    jobs = sample(cell.workload, data, cell.gpus, cell.jobs, seed, cell.mix)
    if cell.load:
        jobs = poisson(jobs, cell.gpus, cell.load, seed)
    place = cluster(cell.gpus, cell.network)
    return [
        figures(
            simulate(
                jobs, place, entry.policy, params=entry.params or None, seed=seed, estimate=entry.estimate,
                placement=entry.placement, overheads=cell.overheads, congestion={"network": cell.congestion}, log=False,
            )
        )
        for entry in entries
    ]  # fmt: skip


def figures(result: Result) -> Figures:
    """What the tables show of a run."""
    span_s = submit_window(result).to_s
    window = (WARMUP * span_s, float("inf"))
    summary = summarise(result, window=window)
    counted = result.jobs.filter(is_submitted_in(result.jobs, submit_window(result, window)))
    gangs = counted.filter(pl.col("gpus") > 1)
    wide = counted.filter(pl.col("gpus") > NODE_GPUS)
    queued_s, at = counted["jct_s"] - counted["run_s"], gangs["locality"]
    run_gpu_s, comm_gpu_s = ((counted["gpus"] * counted[name]).sum() for name in ("run_s", "comm_s"))
    return {
        "jct_s": summary["jct_mean_s"],
        "jct_p99_s": summary["jct_p99_s"],
        "queued_s": queued_s.mean(),
        "queued_p99_s": queued_s.quantile(0.99, "linear"),
        "comm_s": counted["comm_s"].mean(),
        "comm_share": comm_gpu_s / run_gpu_s,
        "makespan_s": summary["makespan_s"],
        "makespan_bound_s": summary["makespan_lower_bound_s"],
        "above_bound": summary["jct_above_bound_ratio"],
        "allocated": summary["window_allocated_ratio"] or summary["gpu_allocated_ratio"],
        "preemptions": result.jobs["preemptions"].mean(),
        "counted": summary["jobs_counted"],
        "censored": summary["jobs_censored"],
        "node": (at == "node").mean(),
        "rack": (at == "rack").mean(),
        "network": at.is_in(["pod", "cluster"]).mean(),
        "narrow_comm_s": gangs.filter(pl.col("gpus") <= NODE_GPUS)["comm_s"].mean(),
        "wide_comm_s": wide["comm_s"].mean(),
        "wide_scattered": (wide["nodes"] * NODE_GPUS >= wide["gpus"] + NODE_GPUS).mean(),
    }  # ty: ignore
