"""A workload whose jobs are killed at their time limits, as a cluster kills them, not as the log recorded it."""

from dataclasses import replace

import polars as pl

from pointsman.errors import InputError
from pointsman.workload.table import Workload

KILLED = "killed"
"""The column that says which jobs never come to their recorded end."""


def enforce_limits(workload: Workload) -> Workload:
    """The workload with no job longer than its ``time_limit_s``, and a column that says whose work that cuts.

    Raises:
        InputError: no job has a limit.
    """
    jobs, path = workload.jobs, workload.provenance.source
    if jobs["time_limit_s"].null_count() == jobs.height:
        raise InputError("no job has a time_limit_s to enforce", path=path, fix="leave out --enforce-limits")
    killed = (pl.col("duration_s") > pl.col("time_limit_s")).fill_null(False)
    jobs = jobs.with_columns(killed.alias(KILLED), duration_s=pl.min_horizontal("duration_s", "time_limit_s"))
    clamped = {**workload.quality.clamped, "killed at their time limit": int(jobs[KILLED].sum())}
    return replace(workload, jobs=jobs, quality=replace(workload.quality, clamped=clamped))
