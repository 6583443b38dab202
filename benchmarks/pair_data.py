"""The published pairs of jobs on one GPU of ``../shared/data/profiles``."""

from pathlib import Path
from typing import NamedTuple

from benchmarks.profile_fit_data import CATALOGUE, PROFILES, rows
from pointsman.speed.interference.fit import Pair

FILE = "gavel_pairs.csv.gz"
SHIPPED_SOURCE = "gavel_simulation"
SOURCES = (SHIPPED_SOURCE, "gavel_oracle")
"""Gavel's two tables. The first is what its simulations and our figures use; they disagree."""


class Measured(NamedTuple):
    """A row of Gavel's: the pair, and the batches, by which two jobs of one model differ."""

    pair: Pair
    batch_a: int
    batch_b: int

    @property
    def job_a(self) -> str:
        return f"{self.pair.model_a} {self.batch_a}"

    @property
    def job_b(self) -> str:
        return f"{self.pair.model_b} {self.batch_b}"


class Table(NamedTuple):
    """What one source says of jobs on one GPU, each pair once."""

    measured: list[Measured]
    missing: list[str]
    """GPU types of the pairs that were not measured: both speeds are 0."""

    def of(self, gpu_type: str) -> list[Measured]:
        return [m for m in self.measured if m.pair.gpu_type == gpu_type]

    def pairs(self) -> list[Pair]:
        return [m.pair for m in self.measured]


def load(source: str, folder: Path = PROFILES) -> Table:
    """The rows of a source with jobs on one GPU.

    Left out are mirror images of other rows, and the rows called unconsolidated, which with one GPU are the same
    figures again.
    """
    measured, missing = [], []
    for r in rows(FILE, folder):
        job_a, job_b = (r["model_a"], int(r["bs_a"])), (r["model_b"], int(r["bs_b"]))
        wanted = (r["source"], r["n_gpus_a"], r["n_gpus_b"], r["placement"]) == (source, "1", "1", "consolidated")
        if not wanted or job_a > job_b:
            continue
        norms = float(r["norm_a"]), float(r["norm_b"])
        if all(norms):
            models = CATALOGUE.model_name(job_a[0]), CATALOGUE.model_name(job_b[0])
            measured.append(Measured(Pair(r["gpu_type"], *models, *norms), job_a[1], job_b[1]))
        else:
            missing.append(r["gpu_type"])
    return Table(measured, missing)
