"""A real log for a cluster smaller than its own."""

from dataclasses import replace

import polars as pl

from pointsman.errors import UsageError
from pointsman.inputs.messages import counted
from pointsman.workload.columns import SHAPE
from pointsman.workload.table import Workload


def narrowed(workload: Workload, widest: int) -> Workload:
    """The workload with gangs of at most `widest` GPUs, wider ones narrowed to them, without their shape, for as
    long as they ran.

    With `rescale.at_load` for the pace, a slice of rows for a window, and ``--assign-models SEED`` (by a hash of seed
    and row, `speed.profiles.assign`) for models, this maps a log to a cluster of another size.

    Raises:
        UsageError: fewer than one GPU.
    """
    if widest < 1:
        raise UsageError(f"gangs of at most {widest} GPUs: give at least 1")
    wide = int((workload.jobs["gpus"] > widest).sum())
    if not wide:
        return workload
    workload = workload.unlogged("gangs are narrower than in the log")
    shapes = [pl.when(pl.col("gpus") <= widest).then(pl.col(name)).alias(name) for name in SHAPE]
    jobs = workload.jobs.with_columns(shapes, gpus=pl.col("gpus").clip(upper_bound=widest))
    clamped = workload.quality.clamped | {f"narrowed to {counted(widest, 'GPU')}": wide}
    return replace(workload, jobs=jobs, quality=replace(workload.quality, clamped=clamped))
