"""Where placers are compared: the base cell, and cells that differ from it in one thing."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from benchmarks.marl.variants import LEARNT
from benchmarks.placement.cell import CPUS, GPUS, NIC_GBPS, cluster, on_topology, workload
from pointsman import Workload, read_workload
from pointsman.workload.generator.dl2 import MODELS

DATA: Final = Path("../shared/data")
LOGS: Final = {"ITP cluster04": ("ms_itp_2021.csv.gz", "cluster04", 146), "Philly": ("philly_2017.csv.gz", None, 140)}
"""By name: the file, the virtual cluster, and servers, so many that load is about 0.8 (ours)."""
CORES: Final = (CPUS, 8)
"""Of a server, in cells; interference is learnt for each."""
HELD_OUT: Final = 0.3
"""Share of a log, its last jobs, that no training used."""
FAT_TREE, VL2, BCUBE, SLOW_RACKS = "fat-tree:8", "vl2:8x8/rack=8", "bcube:11x1", "fat-tree:8/oversubscription=4"
NAMES: Final = {VL2: "VL2", BCUBE: "BCube", SLOW_RACKS: "racks 4:1"}


def on_cores(file: str, cores: int) -> str:
    """The name of such a file for servers with so many cores."""
    return file if cores == CPUS else file.replace(".yaml", f"-{cores}-cores.yaml")


def named(sizes: str, load: float) -> str:
    """Jobs of a log, or generated at a load, as tables name them."""
    if sizes in LOGS:
        return f"{sizes}, held-out jobs"
    widths = "Philly-like" if sizes == "philly" else sizes.replace("-", "–") + " GPUs"
    return f"{widths}, load {load:g}"


@dataclass(frozen=True)
class Cell:
    """Jobs on a cluster. By default the base cell."""

    sizes: str = "1-8"
    load: float = 0.7
    topology: str = FAT_TREE
    nic_gbps: float = NIC_GBPS
    cpus: int = CPUS
    schedulers: int = 4
    """Where there are several."""
    submitted: int = 3000

    @property
    def name(self) -> str:
        """As in tables: what tells it from the base cell."""
        base = Cell()
        words = [named(self.sizes, self.load)]
        words += [NAMES.get(self.topology, self.topology)] * (self.topology != base.topology)
        words += [f"{self.nic_gbps:g} Gb/s"] * (self.nic_gbps != base.nic_gbps)
        words += [f"{self.cpus // GPUS} cores a GPU"] * (self.cpus != base.cpus)
        words += [f"P = {self.schedulers}"] * (self.schedulers != base.schedulers)
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

    def workload(self, servers: int, seed: int, data: Path = DATA) -> Workload:
        """From `seed`; of a log only the models are, and arrivals are as logged."""
        if self.sizes in LOGS:
            return _from_log(self.sizes, self.submitted, seed, data)
        return workload(self.sizes, self.load, self.submitted, seed, servers)


@cache
def whole_log(name: str, data: Path = DATA) -> Workload:
    """All its jobs."""
    file, only, _ = LOGS[name]
    return read_workload(data / "traces" / file, only={"vc": only} if only else None)


def with_models(jobs: pl.DataFrame, seed: int) -> Workload:
    """The same jobs, each with one of DL2's models."""
    drawn = np.random.default_rng(seed).choice(len(MODELS), jobs.height)
    return Workload.of(jobs.with_columns(model=pl.Series(MODELS).gather(drawn)))


def _from_log(name: str, jobs: int, seed: int, data: Path) -> Workload:
    """The first of the jobs held out."""
    log = whole_log(name, data).jobs
    return with_models(log.tail(round(HELD_OUT * log.height)).head(jobs), seed)


HARD: Final = Cell("1-16", 0.9)
"""Where gangs are wide and many wait."""
ON_FAT_TREE: Final = [Cell(sizes, load) for sizes in ("1-8", "1-16") for load in (0.7, 0.9)]
CLAIM: Final = [
    *ON_FAT_TREE,
    *(replace(cell, topology=topology) for topology in (VL2, BCUBE) for cell in (Cell(), Cell(load=0.9))),
]
"""Where the paper's claim is put to the test."""
VARIED: Final = [
    Cell("philly"),
    Cell("philly", 0.9),
    Cell(nic_gbps=25.0),
    Cell(topology=SLOW_RACKS),
    *(Cell(cpus=cores) for cores in CORES[1:]),
    *(Cell(name) for name in LOGS),
]
"""One thing at a time."""
STUDIED: Final = [Cell(), HARD]
"""Where orders, estimates and numbers of schedulers are compared."""
ABLATED: Final = [Cell(), Cell(load=0.9)]
"""Where ablations are measured."""
EIGHT: Final = [Cell("philly", load, schedulers=8) for load in (0.7, 0.9)]
"""Where forwarding matters most."""
SEEDS: Final = range(1001, 1004)
"""Of workloads that no training used."""
FEW: Final = 2
"""Workloads, of cells that differ in one thing."""
