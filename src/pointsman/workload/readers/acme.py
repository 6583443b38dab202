"""Shanghai AI Laboratory's Acme clusters, Seren and Kalos (`docs/formats/acme.md`)."""

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

_COLUMNS = ("job_id", "user", "gpu_num", "type", "state", "submit_time", "start_time", "end_time", "gpu_time")


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    rows = read_rows(source)
    ran_s = clock_s("end_time") - clock_s("start_time")
    never = pl.when(absent("start_time") & (number("gpu_num") > 0)).then(pl.lit("never started"))
    jobs = rows.select(
        job_id=text("job_id"),
        user=text("user"),
        status=status("state"),
        submit_s=clock_s("submit_time"),
        gpus=number("gpu_num"),
        duration_s=ran_s,
        start_s=clock_s("start_time"),
        end_s=clock_s("end_time"),
        dropped=never,
    )
    differ = rows.select(((number("duration") - ran_s).abs() >= 1).sum()).item()
    changed = {"run time taken as end − start where `duration` differs (it can include the queue)": differ}
    zone = "UTC (the log's times carry their offsets)"
    return settle(source, jobs, rows=rows, clamped=changed, zone=zone)


FORMAT = TraceFormat("acme", "Acme 2023, Seren and Kalos", lambda source: has_columns(source, *_COLUMNS), _read)
