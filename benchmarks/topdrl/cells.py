"""What decides a run but for its policy and seed, and what is measured of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.topdrl.contestants import Contestant
from pointsman.api import simulate
from pointsman.engine.run.result import Result
from pointsman.learn.training_setup import PracticeConfig, horizon_s, sampler
from pointsman.parallel.pool import Processes
from pointsman.policies.registry import get_policy
from pointsman.report import summarise
from pointsman.speed.profiles.assign import assign_models

SPEC = "TopDRL's"
LOGS = {"ITP": "ms_itp_2021.csv.gz", "Philly": "philly_2017.csv.gz"}
CLUSTERS = {32: "8x4/rack=4", 64: "16x4/rack=4", 256: "32x8/rack=8"}
"""By GPUs; the first is the authors'."""

FIGURES = ("throughput", "jct_mean_s", "above_bound", "makespan_s", "cost", "proximity", "jobs_ended", "censored")
Figures = dict[str, float]
WORKERS = 2


@dataclass(frozen=True)
class Cell:
    """Jobs on a cluster."""

    workload: str
    gpus: int
    jobs: int
    load: float | None
    """None: all at once."""
    horizon_share: float | None = None
    """Of the time in which the cluster, fully used, could do them all; None: until all are done."""
    mix: str = "typical"
    """Of models, given by the seed to jobs without one (`speed.profiles.assign.MIXES`)."""

    @property
    def name(self) -> str:
        """As in the JSON file."""
        load = "at once" if self.load is None else f"load {self.load:g}"
        end = "drained" if self.horizon_share is None else f"horizon {self.horizon_share:g}"
        mix = "" if self.mix == "typical" else f" / {self.mix} models"
        return f"{self.workload} / {self.gpus} GPUs / {self.jobs} jobs / {load} / {end}{mix}"

    def practice(self, data: Path) -> PracticeConfig:
        """The same as what agents train in."""
        workload = "topdrl" if self.workload == SPEC else str(data / "traces" / LOGS[self.workload])
        return PracticeConfig(
            cluster=CLUSTERS[self.gpus], workload=workload, jobs=self.jobs, load=self.load, horizon_s=None,
            horizon_share=self.horizon_share,
        )  # fmt: skip


def replay(cell: Cell, who: Contestant, policy: str, seed: int, data: Path) -> Result:
    """One run on the held-out jobs of this seed."""
    practice = cell.practice(data)
    wanted = None if get_policy(policy).needs == "none" else "oracle"
    jobs = sampler(practice, "held-out")(seed, cell.gpus)
    return simulate(
        replace(jobs, jobs=assign_models(jobs.jobs, seed, mix=cell.mix)), practice.cluster, policy, params=who.params,
        seed=seed, estimate=who.estimate or wanted, rate_model="tree", overheads="none", until_s=_horizon_s(practice),
    )  # fmt: skip


def measure(cell: Cell, who: Contestant, policy: str, seed: int, data: Path) -> Figures:
    """The figures of one run on the held-out jobs of this seed."""
    until_s = _horizon_s(cell.practice(data))
    result = replay(cell, who, policy, seed, data)
    found = summarise(result)
    censored = result.jobs["end_s"].null_count()
    return {
        "throughput": found["gpu_hours_productive"] * 3600 / (until_s or found["makespan_s"]),
        "jct_mean_s": found["jct_mean_s"],
        "above_bound": found["jct_above_bound_ratio"],
        "makespan_s": found["makespan_s"],
        "cost": found["tree"]["cost_mean"],
        "proximity": found["tree"]["proximity_mean"],
        "jobs_ended": float(result.jobs.height - censored),
        "censored": float(censored),
    }


@cache
def _horizon_s(practice: PracticeConfig) -> float | None:
    return horizon_s(practice)


@dataclass(frozen=True)
class Measured:
    """All runs of a cell: of each contestant the figures (trainings, seeds)."""

    cell: Cell
    runs: dict[str, dict[str, NDArray[np.float64]]]


def run(cells: Sequence[Cell], who: Iterable[Contestant], seeds: Sequence[int], data: Path) -> list[Measured]:
    """All of them in all cells."""
    who = list(who)
    calls = [(cell, one, name, seed, data) for cell in cells for one in who for name in one.policies for seed in seeds]
    found = iter(list(Processes(WORKERS)(measure, calls)))
    return [Measured(cell, {one.label: _of(one, seeds, found) for one in who}) for cell in cells]


def _of(who: Contestant, seeds: Sequence[int], found: Iterable[Figures]) -> dict[str, NDArray[np.float64]]:
    source = iter(found)
    rows = [[next(source) for _ in seeds] for _ in who.policies]
    values = lambda name: [[_number(one[name]) for one in row] for row in rows]  # noqa: E731
    return {name: np.array(values(name)) for name in FIGURES}


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
