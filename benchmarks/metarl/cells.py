"""Where Meta-RL placement is measured: the base cell, cells that differ from it in one thing, and changes in a run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import yaml

from benchmarks.marl.cells import LOGS
from benchmarks.marl.cells import Cell as Log
from benchmarks.placement.cell import CPUS, GPUS, NIC_GBPS, cluster, workload
from pointsman import Workload
from pointsman.engine.run.result import Result

IMAGES: Final = ("resnet50", "resnext110", "inception_bn")
"""Of DL2's models those that need most cores a GPU."""
TALKERS: Final = ("vgg16", "seq2seq")
"""Those with the most bytes of gradients for the time of a step."""
NEWCOMER: Final = "newcomer"
"""A model that no training has seen (ours)."""
PROFILE: Final = {
    "title": "A model that no training has seen",
    "gradient": {"bytes": 60_000_000, "source": "ours"},
    "batch": {"per_gpu": 32, "source": "ours"},
    "memory": {"fixed_bytes": 1.5e9, "bytes_per_sample": 2.5e7, "source": "ours"},
    "overlap": {"delta": 2.0, "source": "ours"},
    "node": {
        "cores": {"per_gpu": 4, "theta": 0.8, "source": "ours"},
        "traffic": {"mb_per_s_per_gpu": 500, "theta": 0.5, "source": "ours"},
    },
    "compute": {"gtx1080ti": {"alpha_s": 0.3, "beta_s_per_sample": 0.0, "source": "ours"}},
}


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
    "rate x 1.25": _faster(1.25),
    "rate x 2": _faster(2.0),
    "an unseen model": _newcomers,
}
"""What becomes of the jobs of the second half."""


@dataclass(frozen=True)
class Cell:
    """Jobs of some sizes, or of a log, under a truth that is drawn anew for each seed. By default the base cell."""

    sizes: str = "philly"
    load: float = 0.7
    sigma: float = 0.2
    jobs: int = 1500
    servers: int = 32
    nic_gbps: float = NIC_GBPS
    cpus: int = CPUS
    change: str = ""
    """One of `CHANGES`; then mean JCT is of the jobs that came after it."""
    estimate: str = "oracle"

    @property
    def name(self) -> str:
        """As in tables: what tells it from the base cell."""
        base = Cell()
        words = [self.sizes if self.sizes in LOGS else f"{self.sizes}, load {self.load:g}"]
        words += [f"σ {self.sigma:g}"] * (self.sigma != base.sigma)
        words += [f"{self.jobs} jobs"] * (self.jobs != base.jobs)
        words += [f"{self.servers} servers"] * (self.servers != base.servers)
        words += [f"{self.nic_gbps:g} Gb/s, {self.cpus // GPUS} cores a GPU"] * (self.nic_gbps != base.nic_gbps)
        words += [f"then {self.change}"] * bool(self.change)
        words += [f"lengths {self.estimate}"] * (self.estimate != base.estimate)
        return ", ".join(words)

    def cluster(self, folder: Path) -> tuple[str, int]:
        """Its cluster file, written into `folder`, and how many servers it has."""
        if self.sizes in LOGS:
            return Log(self.sizes).cluster(folder)
        on = cluster(folder, self.servers, per_rack=4, cpus=self.cpus, nic_gbps=self.nic_gbps)
        return on, self.servers

    def workload(self, servers: int, seed: int) -> Workload:
        """From `seed`."""
        if self.sizes in LOGS:
            return Log(self.sizes, jobs=self.jobs).workload(servers, seed)
        found = workload(self.sizes, self.load, self.jobs, seed, servers)
        if not self.change:
            return found
        first, second = found.jobs.head(self.jobs // 2), found.jobs.tail(self.jobs - self.jobs // 2)
        changed = CHANGES[self.change](second, np.random.default_rng([seed, 1]))
        return Workload.of(pl.concat([first, changed]))

    def options(self, seed: int, folder: Path) -> dict[str, Any]:
        """Of a run: the truth of this seed, and what else differs."""
        truth: dict[str, Any] = {"node_interference": f"table:sigma={self.sigma:g},seed={seed}"}
        truth |= {"estimate": self.estimate} if self.estimate != Cell.estimate else {}
        if self.change == "an unseen model":
            head = {"apiVersion": "pointsman/v1", "kind": "ModelProfiles", "metadata": {"name": NEWCOMER}}
            path = folder / f"{NEWCOMER}.yaml"
            path.write_text(yaml.safe_dump(head | {"spec": {"models": {NEWCOMER: PROFILE}}}))
            truth |= {"profiles": [str(path)]}
        return truth

    def mean_jct_s(self, result: Result) -> float:
        """Of the jobs that came after the change, or of all."""
        jobs = self._counted(result.jobs)
        return float((jobs["end_s"] - jobs["submit_s"]).mean())  # ty: ignore

    def bound_s(self, jobs: Workload) -> float:
        """The mean duration of these."""
        return float(self._counted(jobs.jobs)["duration_s"].mean())  # ty: ignore

    def _counted(self, jobs: pl.DataFrame) -> pl.DataFrame:
        return jobs.tail(self.jobs - self.jobs // 2) if self.change else jobs


BASE: Final = [Cell()]
CHANGED: Final = [Cell(change=change) for change in CHANGES]
SHORT: Final = [Cell(jobs=jobs) for jobs in (30, 60, 100, 200, 400)]
VARIED: Final = [
    Cell(sigma=0.1),
    Cell(sigma=0.05),
    Cell(load=0.9),
    Cell("1-8"),
    Cell("1-16"),
    Cell(servers=64),
    Cell(nic_gbps=100.0, cpus=48),
    Cell(estimate="lognormal:0.5"),
    Cell(estimate="lognormal:1"),
    *(Cell(name) for name in LOGS),
]
SEEDS: Final = range(2001, 2011)
"""Of workloads and truths that no training has seen."""
