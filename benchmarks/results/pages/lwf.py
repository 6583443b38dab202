"""LWF-κ and Ada-SRSF on the 160 jobs of their paper.

The jobs are those of the authors' simulator (HKBU-HPML/dl-scheduling): counts of GPUs fixed, model, iterations and
arrival drawn evenly, on 16 nodes of 4 GPUs of 32 GiB.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.pages._lwf import BLOCKS, CODE, PAPER, SLOW, draw
from benchmarks.results.trials import Trial
from pointsman import Workload, load_cluster

CLUSTER: Final = "16x4/gpu=v100,nic=10Gbps"
NODE_GPUS: Final = 4
MODELS: Final = Path(__file__).parent / "lwf_models.yaml"
GANGS: Final = {1: 80, 2: 14, 4: 26, 8: 30, 16: 8, 32: 2}
"""How many of the 160 jobs request so many GPUs."""
DNNS: Final = {
    "lwf_vgg16": (90, 526.4),
    "lwf_resnet50": (62, 99.2),
    "lwf_inception3": (87, 103.0),
    "lwf_lstm": (79, 251.8),
}
"""Milliseconds of computing in an iteration, and megabytes of its transfer."""

__all__ = ["BLOCKS", "draw", "setting", "trials"]


@dataclass(frozen=True)
class Version:
    """How many iterations jobs have and how long they keep coming, and a network."""

    iterations: tuple[int, int]
    arrivals_s: float
    seeds: int
    b: float = 0.856
    """ms/MB"""
    eta: float = 0.235
    """ms/MB"""


VERSIONS: Final = {
    CODE: Version((10, 60), 12.0, 20),
    PAPER: Version((1000, 6000), 1200.0, 5),
    SLOW: Version((10, 60), 12.0, 20, 1000 / 128, 0.7),
}
"""`SLOW` has the constants of the authors' offline simulator."""


@dataclass(frozen=True)
class Cell:
    """One set of jobs on one network."""

    workload: str
    sharing: int = 8
    """Jobs on a GPU at most."""


ADA: Final = Contestant("LWF-1, Ada-SRSF", "ada-srsf")
CHOICES: Final = {"LWF-1": "lwf", "first-fit": "first-fit", "list scheduling": "list", "random": "random"}
ADMISSIONS: Final = {
    "Ada-SRSF": ("ada-srsf", {}), **{f"SRSF({t})": ("srsf", {"transfers": t}) for t in (1, 2, 3)},
    "all at once": ("lwf", {}),
}  # fmt: skip


def placed(choice: str) -> tuple[Contestant, ...]:
    """Every admission with one placement."""
    given = {} if choice == "LWF-1" else {"choice": CHOICES[choice]}
    return tuple(
        Contestant(f"{choice}, {said}", policy, params | given) for said, (policy, params) in ADMISSIONS.items()
    )


KAPPAS: Final = tuple(Contestant(f"LWF-{kappa}, Ada-SRSF", "ada-srsf", {"kappa": kappa}) for kappa in (2, 4, 8, 32))
ESTIMATED: Final = tuple(
    Contestant(f"LWF-1, Ada-SRSF, σ = {sigma}", "ada-srsf", estimate=f"lognormal:{sigma}") for sigma in ("0.5", "1")
)
EVERYWHERE: Final = tuple(who for choice in CHOICES for who in placed(choice))
ALONE: Final = (ADA, *(Contestant(name, name) for name in ("srtf", "sjf-backfill", "fifo-backfill")))
"""Where a GPU has one job."""


def trials(_: Path) -> Iterator[Trial]:
    """Every placement with every admission on the workloads of the code; those of the paper in part, for they take
    minutes where gangs are scattered.
    """
    wanted = {
        CODE: (*EVERYWHERE, *KAPPAS, *ESTIMATED), SLOW: EVERYWHERE, PAPER: (*placed("LWF-1"), placed("first-fit")[0]),
    }  # fmt: skip
    for name, contestants in wanted.items():
        yield from (Trial(Cell(name), seed, contestants) for seed in range(VERSIONS[name].seeds))
    for name in (CODE, PAPER):
        yield from (Trial(Cell(name, 1), seed, ALONE) for seed in range(VERSIONS[name].seeds))


def workload(version: Version, seed: int) -> Workload:
    """The 160 jobs; a duration is that of the iterations alone on nodes filled."""
    draw = np.random.default_rng([seed, 160])
    gpus = draw.permutation(np.repeat(list(GANGS), list(GANGS.values())))
    models = draw.choice(list(DNNS), len(gpus))
    iterations = draw.integers(version.iterations[0], version.iterations[1], len(gpus), endpoint=True)
    busy_ms = np.array([DNNS[m][0] for m in models])
    wire_ms = np.array([ceil(version.b * DNNS[m][1]) for m in models]) * (gpus > NODE_GPUS)
    submits = np.sort(draw.integers(0, round(1000 * version.arrivals_s), len(gpus), endpoint=True)) / 1000
    durations = iterations * (busy_ms + wire_ms) / 1000
    return Workload.of(pl.DataFrame({"submit_s": submits, "gpus": gpus, "model": models, "duration_s": durations}))


def setting(cell: Cell, seed: int, _: Path) -> Setting:
    """Chains of iterations that share GPUs and links."""
    version = VERSIONS[cell.workload]
    law = f"iterations:b={version.b!r},eta={version.eta!r},sharing={cell.sharing}"
    options = {"profiles": (MODELS,), "overheads": "none", "rate_model": law}
    return Setting(workload(version, seed), load_cluster(CLUSTER), options, 0.0)
