"""Workloads of the Pollux artifact (`docs/formats/pollux.md`)."""

import polars as pl

from pointsman.workload.columns import MAX_GPUS
from pointsman.workload.readers.pollux_applications import APPLICATIONS
from pointsman.workload.readers.sdk import Quality, Source, TraceFormat, has_columns, number, read_rows, settle, text

_COLUMNS = ("name", "time", "application", "num_replicas", "batch_size")


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    rows = read_rows(source)
    jobs = rows.select(
        job_id=text("name"),
        model=text("application"),
        batch_size=number("batch_size"),
        submit_s=number("time"),
        gpus=number("num_replicas"),
    )
    asked = zip(*(jobs[name].to_list() for name in ("model", "gpus", "batch_size")), strict=True)
    runs = pl.Series("duration_s", [_run_s(*job) for job in asked], pl.Float64)
    untrained = pl.when((pl.col("gpus") > 0) & pl.col("duration_s").is_null())
    reason = pl.lit("application or batch size without published training length")
    jobs = jobs.with_columns(runs).with_columns(dropped=untrained.then(reason))
    notes = [
        "the list has no run times: they are derived, iterations to the end of training × step time on that many T4 "
        "GPUs at that batch size, from the artifact's own measurements"
    ]
    whole = pl.when(pl.col("batch_size") == pl.col("batch_size").floor()).then(pl.col("batch_size"))
    return settle(source, jobs.with_columns(whole.cast(pl.Int64, strict=False)), rows=rows, notes=notes)


def _run_s(model: str | None, gpus: float | None, batch_size: float | None) -> float | None:
    application = APPLICATIONS.get(model or "")
    if application is None or gpus is None or batch_size is None or not (1 <= gpus <= MAX_GPUS) or gpus % 1:
        return None
    return application.run_s(int(gpus), int(batch_size)) if batch_size == int(batch_size) else None


FORMAT = TraceFormat("pollux", "Pollux artifact workload", lambda source: has_columns(source, *_COLUMNS), _read)
