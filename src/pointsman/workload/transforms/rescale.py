"""A workload at another load: the same jobs in the same order, closer together or further apart."""

from dataclasses import replace

import polars as pl

from pointsman.errors import UsageError
from pointsman.inputs.bounds import check_load
from pointsman.sums import total
from pointsman.types import DEADLINE
from pointsman.workload.columns import MAX_SUBMIT_S, OF_SCHEDULE
from pointsman.workload.table import Workload


def offered_load(jobs: pl.DataFrame, gpus: int) -> float | None:
    """Σ gpus · duration over `gpus` · submit span; None if everything is submitted at once."""
    span_s = float(jobs["submit_s"][-1] - jobs["submit_s"][0]) if jobs.height else 0.0
    return total(jobs["gpus"] * jobs["duration_s"]) / (gpus * span_s) if span_s > 0 else None


def at_load(workload: Workload, gpus: int, load: float) -> Workload:
    """The workload with all gaps between submits scaled so that a cluster of `gpus` GPUs is offered exactly `load`;
    deadlines stay as long after the submits.

    Raises:
        UsageError: no such load; all jobs are submitted at once, or ask for no work, so that no gap makes it; it
            takes ages.
    """
    check_load(load)
    now = offered_load(workload.jobs, gpus)
    if not now:
        raise UsageError("--load needs jobs with work, submitted at different times; these have one load only")
    first_s = workload.jobs["submit_s"][0]
    submit_s = first_s + (pl.col("submit_s") - first_s) * (now / load)
    moved = [pl.col(name) - pl.col("submit_s") + submit_s for name in workload.kept_columns if name == DEADLINE]
    jobs = workload.jobs.with_columns(*moved, submit_s=submit_s)
    last_s = float(jobs["submit_s"][-1])
    if last_s > MAX_SUBMIT_S:
        years = last_s / (365.25 * 86400)
        raise UsageError(
            f"at load {load:g} the last job would be submitted after {years:,.0f} years; ask for more load"
        )
    workload = workload.unlogged("the submit times are no longer the log's")
    note = f"gaps between submits are scaled by {now / load:.4g}, from load {now:.4g} to {load:.4g}"
    jobs = jobs.with_columns(workload.jobs.select(OF_SCHEDULE))
    return replace(workload, jobs=jobs, quality=replace(workload.quality, notes=(*workload.quality.notes, note)))
