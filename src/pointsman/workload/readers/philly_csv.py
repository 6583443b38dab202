"""Microsoft Philly as in the Pollux artifact (`docs/formats/philly-csv.md`)."""

import polars as pl

from pointsman.workload.readers.sdk import (
    Quality,
    Source,
    TraceFormat,
    clock_s,
    has_columns,
    number,
    read_rows,
    settle,
    text,
)

_COLUMNS = ("timestamp", "duration", "num_gpus", "gpu_time", "cluster")


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    rows = read_rows(source)
    jobs = rows.select(
        queue=text("cluster"),
        submit_s=clock_s("timestamp"),
        gpus=number("num_gpus"),
        duration_s=number("duration"),
    )
    notes = ["the log has no job ids: rows are numbered from 0 in file order"]
    zone = "the log names none; read as one clock without daylight saving (UTC)"
    return settle(source, jobs, rows=rows, notes=notes, zone=zone)


FORMAT = TraceFormat(
    "philly-csv", "Microsoft Philly, CSV of the Pollux artifact", lambda source: has_columns(source, *_COLUMNS), _read
)
