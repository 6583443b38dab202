"""A workload whose log says when its jobs ran: as a run scheduled them."""

from dataclasses import replace
from typing import Protocol

import polars as pl

from pointsman.workload.columns import SHAPE
from pointsman.workload.table import Workload

_OF_RUN = ("submit_s", "gpus", "duration_s", "start_s", "end_s")


class _Run(Protocol):
    @property
    def jobs(self) -> pl.DataFrame: ...


def scheduled(workload: Workload, run: _Run) -> Workload:
    """The workload of a run with the schedule of the run, as a log would record it.

    Args:
        workload: what was run.
        run: a `Result` of it. Jobs that are not in it (too wide for the cluster) are left out; those that have not
            started or ended have no such time.
    """
    ran = run.jobs.select("job_id", *_OF_RUN)
    others = workload.jobs.drop(_OF_RUN).with_columns(node_list=pl.lit(None, pl.String))  # a run is elsewhere
    table = others.join(ran, on="job_id", how="inner", maintain_order="left")
    clamped = pl.col("gpus") != pl.col("nodes_requested") * pl.col("gpus_per_node")
    table = table.with_columns(pl.when(~clamped.fill_null(False)).then(name).alias(name) for name in SHAPE)
    logged = workload.with_jobs(table.select(workload.jobs.columns), reason="not in the run")
    note = "start_s and end_s are those of a simulated run"
    return replace(logged, quality=replace(logged.quality, notes=(*logged.quality.notes, note)))
