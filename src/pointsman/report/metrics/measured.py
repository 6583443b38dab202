"""What is measured of a run besides its figures, each once: when it is first asked for."""

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from pointsman.engine.run.result import Result
from pointsman.report.metrics.counted import Window, counted_jobs
from pointsman.report.metrics.holdings import holdings


@dataclass(frozen=True)
class Measured:
    """A result, the window of the jobs that count, and what both are asked for again and again."""

    result: Result
    window: Window

    @property
    def seed(self) -> int:
        """The run's seed."""
        return int(self.result.info["seed"])

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
