"""Where Meta-RL placement is measured: the base cell, cells that differ from it in one thing, and changes in a run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from benchmarks.marl.cells import DATA, LOGS, named
from benchmarks.marl.cells import Cell as Log
from benchmarks.placement.cell import CPUS, GPUS, NIC_GBPS, cluster, workload
from pointsman import Workload

IMAGES: Final = ("resnet50", "resnext110", "inception_bn")
"""Of DL2's models those that need most cores a GPU."""
TALKERS: Final = ("vgg16", "seq2seq")
"""Those with the most bytes of gradients for the time of a step."""
NEWCOMER: Final = "newcomer"
"""A model that no training has seen (ours)."""
UNSEEN: Final = "an unseen model"
PROFILE: Final = "benchmarks/metarl/newcomer.yaml"


def _only(models: tuple[str, ...]) -> Callable[[pl.DataFrame, np.random.Generator], pl.DataFrame]:
    def drawn(jobs: pl.DataFrame, draw: np.random.Generator) -> pl.DataFrame:
        return jobs.with_columns(model=pl.Series(draw.choice(models, jobs.height)))

    return drawn


def _faster(times: float) -> Callable[[pl.DataFrame, np.random.Generator], pl.DataFrame]:
    def sooner(jobs: pl.DataFrame, draw: np.random.Generator) -> pl.DataFrame:
        first = jobs["submit_s"][0]
        return jobs.with_columns(submit_s=first + (pl.col("submit_s") - first) / times)

    return sooner


def _newcomers(jobs: pl.DataFrame, draw: np.random.Generator) -> pl.DataFrame:
    """One job in two."""
    new = pl.Series(draw.random(jobs.height) < 0.5)
    return jobs.with_columns(model=pl.when(new).then(pl.lit(NEWCOMER)).otherwise("model"))


CHANGES: Final[dict[str, Callable[[pl.DataFrame, np.random.Generator], pl.DataFrame]]] = {
    "image models": _only(IMAGES),
    "models that communicate": _only(TALKERS),
    "rate × 1.25": _faster(1.25),
    "rate × 2": _faster(2.0),
    UNSEEN: _newcomers,
}
"""What becomes of the jobs of the second half."""


@dataclass(frozen=True)
class Cell:
    """Jobs of some sizes, or of a log, under a truth that is drawn anew for each seed. By default the base cell."""

    sizes: str = "philly"
    load: float = 0.7
    sigma: float = 0.2
    submitted: int = 1500
    servers: int = 32
    nic_gbps: float = NIC_GBPS
    cpus: int = CPUS
    change: str = "none"
    """Or one of `CHANGES`; then the jobs that came after it are counted."""
    estimate: str = "oracle"

    @property
    def name(self) -> str:
        """As in tables: what tells it from the base cell."""
        base = Cell()
        words: list[str] = []
        words += [f"σ = {self.sigma:g}"] * (self.sigma != base.sigma)
        words += [f"{self.submitted} jobs"] * (self.submitted != base.submitted)
        words += [f"{self.servers} servers"] * (self.servers != base.servers)
        words += [f"{self.nic_gbps:g} Gb/s, {self.cpus // GPUS} cores a GPU"] * (self.nic_gbps != base.nic_gbps)
        words += [f"wrong durations, σ = {self.estimate.partition(':')[2]}"] * (self.estimate != base.estimate)
        words += [f"then {self.change}"] * (self.change != base.change)
        is_base = (self.sizes, self.load) == (base.sizes, base.load)
        return ", ".join(words if words and is_base else [named(self.sizes, self.load), *words])

    @property
    def before_change(self) -> int:
        """How many jobs come before the change."""
        return self.submitted // 2 if self.change in CHANGES else 0

    def cluster(self, folder: Path) -> tuple[str, int]:
        """Its cluster file, written into `folder`, and how many servers it has."""
        if self.sizes in LOGS:
            return Log(self.sizes).cluster(folder)
        on = cluster(folder, self.servers, per_rack=4, cpus=self.cpus, nic_gbps=self.nic_gbps)
        return on, self.servers

    def workload(self, servers: int, seed: int, data: Path = DATA) -> Workload:
        """From `seed`."""
        if self.sizes in LOGS:
            return Log(self.sizes, submitted=self.submitted).workload(servers, seed, data)
        found = workload(self.sizes, self.load, self.submitted, seed, servers)
        if not self.before_change:
            return found
        first, second = found.jobs.head(self.before_change), found.jobs.tail(-self.before_change)
        changed = CHANGES[self.change](second, np.random.default_rng([seed, 1]))
        return Workload.of(pl.concat([first, changed]))

    def options(self, seed: int) -> dict[str, Any]:
        """Of a run: the truth of this seed, and the profile of a model that only some have."""
        truth: dict[str, Any] = {"node_interference": f"table:sigma={self.sigma:g},seed={seed}"}
        return truth | ({"profiles": [PROFILE]} if self.change == UNSEEN else {})

    def warmup(self, jobs: pl.DataFrame) -> float:
        """The share of the submits, from the first, that ends between the last job before the change and the next."""
        if not self.before_change:
            return 0.0
        since_s = jobs["submit_s"] - jobs["submit_s"].min()
        return float(since_s[self.before_change - 1 : self.before_change + 1].mean()) / float(since_s.max())  # ty: ignore


BASE: Final = [Cell()]
CHANGED: Final = [Cell(change=change) for change in CHANGES]
SHORT: Final = [Cell(submitted=jobs) for jobs in (60, 100, 200, 400)]
LOGGED: Final = [Cell(name) for name in LOGS]
VARIED: Final = [
    Cell(sigma=0.05),
    Cell(load=0.9),
    Cell("1-16"),
    Cell("1-16", 0.9),
    Cell(nic_gbps=100.0, cpus=48),
    Cell(estimate="lognormal:1"),
    *LOGGED,
]
DEEP: Final = [*BASE, Cell(change="rate × 2"), *LOGGED]
"""Where what takes longest is measured."""
SEEDS: Final = range(2001, 2004)
"""Of workloads and truths that no training has seen."""
