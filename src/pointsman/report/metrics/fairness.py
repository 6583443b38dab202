"""Finish-time fairness: a job's JCT against what a fair share of the cluster would have given it."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def ramp_sum(ordered: Floats, at: Floats) -> Floats:
    """Sum over the starts in `ordered` (increasing) of max(0, t - start), for every t of `at`.

    O((n + m) log n), several times faster where `at` is increasing, too.
    """
    before = np.concatenate(([0.0], np.cumsum(ordered)))
    passed = np.searchsorted(ordered, at, side="right")
    return passed * at - before[passed]


def mean_jobs_in_system(arrive_s: Floats, leave_s: Floats) -> Floats:
    """Time average of the number of jobs in the system over each job's own life (n).

    Args:
        arrive_s: submit times (n).
        leave_s: end times (n), inf for jobs that never left; their average is NaN, as is that of a life of no length.
    """
    ends = np.where(np.isfinite(leave_s), leave_s, np.nan)
    came, went = np.argsort(arrive_s, kind="stable"), np.argsort(ends)  # NaN comes last
    arrived, left = arrive_s[came], ends[went]
    gone = left[: np.count_nonzero(np.isfinite(leave_s))]

    def in_system(at: Floats, order: NDArray[np.intp]) -> Floats:
        found = np.empty_like(at)
        found[order] = ramp_sum(arrived, at) - ramp_sum(gone, at)
        return found

    life_s = np.where(ends > arrive_s, ends - arrive_s, np.nan)
    return (in_system(left, went) - in_system(arrived, came)) / life_s


def finish_time_fairness(jobs: pl.DataFrame, cluster_gpus: int) -> Floats:
    """Finish-time fairness rho of every job (n): JCT / (d * max(1, g * nbar / G)); NaN if it has not ended or d = 0.

    Above 1 the job ended later than with its 1/nbar share of the cluster all to itself. g is the column ``asked``.

    Source: Themis, NSDI 2020; nbar as in ``docs/background/metrics.md``.
    """
    if jobs.is_empty():
        return np.empty(0)
    origin_s = jobs["submit_s"].min()
    arrive_s = (jobs["submit_s"] - origin_s).to_numpy()
    leave_s = (jobs["end_s"] - origin_s).fill_null(np.inf).to_numpy()
    duration_s = jobs["duration_s"].to_numpy()
    asked = jobs["asked"].to_numpy() * mean_jobs_in_system(arrive_s, leave_s) / cluster_gpus
    ideal_s = np.where(duration_s > 0, duration_s, np.nan) * np.maximum(1.0, asked)
    return (leave_s - arrive_s) / ideal_s


def jain_index(values: Floats) -> float | None:
    """Jain's index (0-1, 1 = all equal) of the values that are not NaN; None of none.

    Source: Jain, Chiu and Hawe, DEC TR-301, 1984.
    """
    known = values[~np.isnan(values)]
    return None if known.size == 0 else float(known.sum() ** 2 / (known.size * np.square(known).sum()))
