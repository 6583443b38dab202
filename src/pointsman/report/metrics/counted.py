"""Which jobs the metrics count, and what is measured of each of them."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pointsman.engine.run.result import RunData
from pointsman.errors import UsageError
from pointsman.report.metrics.fairness import finish_time_fairness
from pointsman.report.metrics.shared import part_asked
from pointsman.types import DEADLINE

ENDED = ("COMPLETED", "TIMEOUT")
"""States of jobs that the policy saw through: to their recorded end, or to the time limit that was to be enforced."""

_ROUNDING_S = 0.001
"""Ends are in whole milliseconds, and deadlines need not be."""

BUCKET_EDGES = tuple(2**k for k in range(31))
"""The most GPUs of each bucket."""

BUCKETS = ("1", "2", *(f"{edge // 2 + 1}-{edge}" for edge in BUCKET_EDGES[2:]))
"""GPU-count buckets, in order: each up to twice as wide as the one before."""


@dataclass(frozen=True)
class Window:
    """Jobs submitted in [from_s, to_s], in seconds since the first submit, are counted."""

    from_s: float
    to_s: float

    @property
    def span_s(self) -> float:
        """Length of the window."""
        return self.to_s - self.from_s


def submit_window(result: RunData, window: tuple[float, float] | None = None) -> Window:
    """The window asked for, cut to the submit times; all of them by default.

    Raises:
        UsageError: no job was submitted in it.
    """
    submit_s = result.jobs["submit_s"]
    if submit_s.is_empty():
        return Window(0.0, 0.0)
    last_s = float(submit_s.max() - submit_s.min())  # ty: ignore
    if window is None:
        return Window(0.0, last_s)
    from_s, to_s = window
    if not from_s <= to_s or from_s > last_s or to_s < 0:
        raise UsageError(
            f"the window {from_s:g}:{to_s:g} s contains no submission (jobs are submitted from 0 to {last_s:g} s); "
            "choose a window within that range"
        )
    return Window(max(from_s, 0.0), min(to_s, last_s))


def is_submitted_in(jobs: pl.DataFrame, window: Window) -> pl.Series:
    """Which of the jobs were submitted in the window."""
    submit_s = jobs["submit_s"]
    return (submit_s - submit_s.min()).is_between(window.from_s, window.to_s)


def counted_jobs(result: RunData, window: Window) -> pl.DataFrame:
    """Jobs that ended, submitted in the window, with ``bucket``, ``asked`` (GPUs, less than 1 of a fraction) and
    ``rho`` (finish-time fairness, null if d = 0); GPU-seconds held of fractions are fractions, too.
    """
    part = part_asked(result)
    jobs = result.jobs.with_columns(asked=pl.col("gpus") * part, held_gpu_s=pl.col("held_gpu_s") * part)
    rho = finish_time_fairness(jobs, int(result.info["gpus"]))
    bucket = np.searchsorted(np.asarray(BUCKET_EDGES), jobs["gpus"].to_numpy())
    measured = jobs.with_columns(
        pl.Series("rho", rho, nan_to_null=True), pl.Series("bucket", BUCKETS, dtype=pl.Enum(BUCKETS)).gather(bucket)
    )
    counts = is_submitted_in(jobs, window) & jobs["state"].is_in(ENDED)
    return measured if counts.all() else measured.filter(counts).rechunk()


def deadlines_met_ratio(result: RunData, window: Window) -> float | None:
    """Share of the jobs with a deadline, submitted in the window, that completed by it; None if there are none.

    A job that has not ended misses its deadline, but for one that was still to come when the run was cut; a job that
    its user cancelled has none any more.
    """
    if DEADLINE not in result.jobs.columns:
        return None
    jobs = result.jobs.filter(is_submitted_in(result.jobs, window) & pl.col(DEADLINE).is_not_null())
    jobs = jobs.filter(pl.col("state") != "CANCELLED")
    if (cut_s := result.info.get("until_s")) is not None:
        end_of_run_s = float(result.jobs["submit_s"][0]) + cut_s
        jobs = jobs.filter(pl.col("end_s").is_not_null() | (pl.col(DEADLINE) <= end_of_run_s))
    if jobs.is_empty():
        return None
    in_time = pl.col("end_s") <= pl.col(DEADLINE) + _ROUNDING_S
    met = (pl.col("state") == "COMPLETED") & in_time.fill_null(False)
    return float(jobs.select(met.mean()).item())
