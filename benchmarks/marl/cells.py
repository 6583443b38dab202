"""Where placers are compared: the base cell, and cells that differ from it in one thing."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from benchmarks.marl.variants import LEARNT
from benchmarks.placement.cell import CPUS, GPUS, NIC_GBPS, cluster, mean_jct_s, on_topology, workload
from pointsman import Workload, read_workload
from pointsman.engine.run.result import Result
from pointsman.workload.generator.dl2 import MODELS

DATA: Final = Path(__file__).parents[3] / "shared" / "data" / "traces"
LOGS: Final = {"ITP cluster04": ("ms_itp_2021.csv.gz", "cluster04", 146), "Philly": ("philly_2017.csv.gz", None, 140)}
"""By name: the file, the virtual cluster, and servers, so many that load is about 0.8 (ours)."""
CORES: Final = (CPUS, 8, 48)
"""Of a server, in cells; interference is learnt for each."""
HELD_OUT: Final = 0.3
"""Share of a log, its last jobs, that nobody was trained on."""


def on_cores(file: str, cores: int) -> str:
    """The name of such a file for servers with so many cores."""
    return file if cores == CPUS else file.replace(".yaml", f"-{cores}-cores.yaml")


@dataclass(frozen=True)
class Cell:
    """Jobs on a cluster. By default the base cell."""

    sizes: str = "1-8"
    load: float = 0.7
    topology: str = "fat-tree:8"
    nic_gbps: float = NIC_GBPS
    cpus: int = CPUS
    schedulers: int = 4
    """Where there are several."""
    jobs: int = 3000

    @property
    def name(self) -> str:
        """As in tables: what tells it from the base cell."""
        base = Cell()
        words = [self.sizes if self.sizes in LOGS else f"{self.sizes}, load {self.load:g}"]
        words += [self.topology] * (self.topology != base.topology)
        words += [f"{self.nic_gbps:g} Gb/s"] * (self.nic_gbps != base.nic_gbps)
        words += [f"{self.cpus // GPUS} cores a GPU"] * (self.cpus != base.cpus)
        words += [f"P = {self.schedulers}"] * (self.schedulers != base.schedulers)
        words += [f"{self.jobs} jobs"] * (self.jobs != base.jobs)
        return ", ".join(words)

    @property
    def learnt(self) -> str:
        """The file of the interference that was learnt on such servers."""
        return on_cores(LEARNT, self.cpus)

    def cluster(self, folder: Path) -> tuple[str, int]:
        """Its cluster file, written into `folder`, and how many servers it has."""
        if self.sizes in LOGS:
            servers = LOGS[self.sizes][2]
            return cluster(folder, servers, per_rack=4), servers
        return on_topology(folder, self.topology, self.nic_gbps, self.cpus)

    def options(self, seed: int, folder: Path) -> dict[str, Any]:
        """Of a run, besides those of all cells."""
        return {}

    def mean_jct_s(self, result: Result) -> float:
        """Of all jobs."""
        return mean_jct_s(result)

    def bound_s(self, jobs: Workload) -> float:
        """Mean duration."""
        return float(jobs.jobs["duration_s"].mean())  # ty: ignore

    def workload(self, servers: int, seed: int) -> Workload:
        """From `seed`; of a log only the models are, and arrivals are as logged."""
        if self.sizes in LOGS:
            return _from_log(self.sizes, self.jobs, seed)
        return workload(self.sizes, self.load, self.jobs, seed, servers)


@cache
def whole_log(name: str) -> Workload:
    """All its jobs."""
    file, only, _ = LOGS[name]
    return read_workload(DATA / file, only={"vc": only} if only else None)


def _from_log(name: str, jobs: int, seed: int) -> Workload:
    """The first of the jobs held out, each with one of DL2's models."""
    log = whole_log(name)
    part = log.jobs.tail(round(HELD_OUT * log.jobs.height)).head(jobs)
    drawn = np.random.default_rng(seed).choice(len(MODELS), part.height)
    return Workload.of(part.with_columns(model=pl.Series(MODELS).gather(drawn)))


VL2, BCUBE = "vl2:8x8/rack=8", "bcube:11x1"
CLAIM: Final = [
    Cell(sizes, load, topology)
    for topology in (Cell.topology, VL2, BCUBE)
    for sizes in ("1-8", "1-16")
    for load in (0.7, 0.9)
]
"""Where the paper's claim is put to the test."""
VARIED: Final = [
    Cell("philly"),
    Cell("philly", 0.9),
    Cell(nic_gbps=25.0),
    Cell(nic_gbps=100.0),
    Cell(topology="fat-tree:8/oversubscription=4"),
    *(Cell(cpus=cores) for cores in CORES[1:]),
    Cell(schedulers=1),
    Cell(schedulers=8),
    *(Cell(name) for name in LOGS),
]
"""One thing at a time."""
ABLATED: Final = [Cell(), Cell(load=0.9)]
"""Where ablations are measured."""
EIGHT: Final = [Cell("philly", load, schedulers=8) for load in (0.7, 0.9)]
"""Where forwarding matters most."""
SEEDS: Final = range(1001, 1011)
"""Of workloads that nobody was trained on."""
