"""What is measured of a run besides its metrics, each once: when it is first asked for."""

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from pointsman.engine.run.result import RunData
from pointsman.report.metrics.counted import Window, counted_jobs
from pointsman.report.metrics.holdings import holdings


@dataclass(frozen=True)
class Measured:
    """A result, the window of the jobs that count, and what both are asked for again and again."""

    result: RunData
    window: Window

    @property
    def seed(self) -> int:
        """The run's seed."""
        return int(self.result.info["seed"])

    @property
    def workload_seed(self) -> int | None:
        """The seed that its jobs were drawn with; None of jobs that were not generated, or do not say it."""
        told = self.result.info.get("workload") or {}
        while told and "seed" not in told:
            told = told.get("origin") or {}
        return told.get("seed")

    @property
    def draw(self) -> tuple[int, int]:
        """The seeds of its jobs (-1: not known) and of the run, which runs of two policies have in common."""
        return -1 if self.workload_seed is None else self.workload_seed, self.seed

    @property
    def gpus(self) -> int:
        """GPUs of the cluster."""
        return int(self.result.info["gpus"])

    @cached_property
    def counted(self) -> pl.DataFrame:
        """The jobs that count, as `counted_jobs` gives them."""
        return counted_jobs(self.result, self.window)

    @cached_property
    def held(self) -> pl.DataFrame | None:
        """Which job held what when, as `holdings` gives it."""
        return holdings(self.result)
