"""Job lists of the Tiresias simulator, and of those that took its format over (`docs/formats/tiresias.md`)."""

import polars as pl

from pointsman.workload.readers.sdk import (
    TIME_UNITS_S,
    Quality,
    Source,
    TraceFormat,
    has_columns,
    number,
    read_rows,
    settle,
    text,
)

_COLUMNS = ("job_id", "num_gpu", "submit_time", "duration")
_OF_MURI = "resource_time_0"
"""A column by which Muri's lists are known, which are in milliseconds."""


def _read(source: Source, time_unit: str | None = None) -> tuple[pl.DataFrame, Quality]:
    rows = read_rows(source)
    unit = time_unit or ("ms" if _OF_MURI in rows.frame.columns else "s")
    notes = [f"times are in {unit}" + ("" if time_unit else ", as in Muri's lists")] if unit != "s" else []
    model = text("model_name") if "model_name" in rows.frame.columns else pl.lit(None, pl.String)
    jobs = rows.select(
        job_id=text("job_id"),
        model=model,
        submit_s=number("submit_time") * TIME_UNITS_S[unit],
        gpus=number("num_gpu"),
        duration_s=number("duration") * TIME_UNITS_S[unit],
    )
    return settle(source, jobs, rows=rows, notes=notes)


FORMAT = TraceFormat(
    "tiresias", "Tiresias simulator CSV", lambda source: has_columns(source, *_COLUMNS), _read, frozenset({"time_unit"})
)
