"""Runaway jobs: records of jobs that ended long ago, which accounting still shows as running."""

from dataclasses import replace
from typing import Final, Literal

import polars as pl

from pointsman.errors import InputError
from pointsman.sums import total_of
from pointsman.workload.columns import GPU_S
from pointsman.workload.provenance import Place
from pointsman.workload.table import Workload

Choice = Literal["keep", "drop"]
CHOICES: Final = ("keep", "drop")
SUSPECT, CERTAIN = 2.0, 10.0
"""Run time over time limit of a running job: from when on it is flagged, and from when on it is dropped (ours). A
scheduler kills jobs at their limit, or some minutes after."""
RUNAWAY: Final = "runaway: still running, far beyond its time limit"
"""Reason for jobs that are left out."""


def without_runaways(workload: Workload, choice: Choice | None = None) -> Workload:
    """The workload without its runaway jobs, whose share of all GPU-hours a note tells.

    Args:
        workload: with the jobs of the whole log.
        choice: `keep` keeps all, `drop` drops all that are flagged; None drops those beyond ten times their limit.

    Raises:
        InputError: no other job is left.
    """
    jobs = workload.jobs
    over = pl.when(pl.col("status") == "RUNNING").then(pl.col("duration_s") / pl.col("time_limit_s")).fill_null(0.0)
    times = jobs.select(over).to_series()
    flagged = jobs.filter(times > SUSPECT)
    if flagged.is_empty():
        return workload
    least = {"keep": float("inf"), "drop": SUSPECT}.get(choice or "", CERTAIN)
    kept = jobs.filter(times <= least)
    if kept.is_empty():
        fix = "--runaways keep keeps them"
        raise InputError(
            "every job is a runaway, running far beyond its limit", path=workload.provenance.source, fix=fix
        )
    quality = replace(
        workload.quality, notes=(*workload.quality.notes, _note(jobs, flagged, times, jobs.height - kept.height))
    )
    noted = replace(workload, quality=quality)
    if kept.height == jobs.height:
        return noted
    first = jobs.filter(times > least)["job_id"][0]
    return noted.with_jobs(kept, reason=RUNAWAY, place=Place((), f"job {first}"))


def _note(jobs: pl.DataFrame, flagged: pl.DataFrame, times: pl.Series, dropped: int) -> str:
    share = total_of(flagged, GPU_S) / total_of(jobs, GPU_S)
    worst = int(times.arg_max() or 0)
    done = "all kept" if not dropped else "all dropped" if dropped == flagged.height else f"{dropped:,} dropped"
    other = "--runaways drop leaves them out" if not dropped else "--runaways keep keeps them"
    return (
        f"runaway jobs, still running at more than {SUSPECT:g} times their time limit: {flagged.height:,}, with "
        f"{share:.1%} of all GPU-hours; the furthest, job {jobs['job_id'][worst]:.40}, is at {times[worst]:,.0f} times "
        f"its limit; {done} ({other})"
    )
