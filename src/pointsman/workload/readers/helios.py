"""SenseTime Helios (`docs/formats/helios.md`)."""

import polars as pl

from pointsman.workload.readers.sdk import (
    Quality,
    Source,
    TraceFormat,
    absent,
    clock_s,
    has_columns,
    number,
    read_rows,
    settle,
    status,
    text,
)

_COLUMNS = ("job_id", "user", "vc", "gpu_num", "state", "submit_time", "start_time", "duration")


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    rows = read_rows(source)
    never = pl.when(absent("start_time") & (number("gpu_num") > 0)).then(pl.lit("never started"))
    jobs = rows.select(
        job_id=text("job_id"),
        user=text("user"),
        queue=text("vc"),
        status=status("state"),
        submit_s=clock_s("submit_time"),
        gpus=number("gpu_num"),
        duration_s=number("duration"),
        start_s=clock_s("start_time"),
        end_s=clock_s("end_time") if "end_time" in rows.frame.columns else pl.lit(None, pl.Float64),
        dropped=never,
    )
    zone = "the log names none; assumed Asia/Shanghai (UTC+08:00, no daylight saving)"
    return settle(source, jobs, rows=rows, zone=zone)


FORMAT = TraceFormat("helios", "SenseTime Helios 2020", lambda source: has_columns(source, *_COLUMNS), _read)
