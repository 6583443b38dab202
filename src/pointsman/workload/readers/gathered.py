"""The schema that Pointsman's own collection of traces is gathered in (`docs/formats/gathered.md`)."""

import polars as pl

from pointsman.workload.readers.sdk import (
    Quality,
    Source,
    TraceFormat,
    has_columns,
    number,
    read_rows,
    settle,
    status,
    text,
)

_OPTIONAL = ("gpu_type", "model", "partition")
_LOGGED = {"sched_s": "start_s", "start_s": "start_s", "end_s": "end_s"}


def _matches(source: Source) -> bool:
    return has_columns(source, "job_id", "user", "vc", "submit_s", "gpus", "duration_s", "status")


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    rows = read_rows(source)
    columns = {
        "job_id": text("job_id"),
        "user": text("user"),
        "queue": text("vc"),
        "status": status("status"),
        "submit_s": number("submit_s"),
        "gpus": number("gpus"),
        "duration_s": number("duration_s"),
    }
    columns |= {name: text(name) for name in _OPTIONAL if name in rows.frame.columns}
    columns |= {ours: number(name) for name, ours in _LOGGED.items() if name in rows.frame.columns}
    if "fraction" in rows.frame.columns:
        fraction = number("fraction")
        columns["fraction"] = pl.when((fraction > 0) & (fraction <= 1) & (number("gpus") == 1)).then(fraction)
    never = (status("status") == "PENDING") & (number("gpus") > 0)
    columns["dropped"] = pl.when(never).then(pl.lit("never started (status Pending)"))
    return settle(source, rows.select(**columns), rows=rows)


FORMAT = TraceFormat("gathered", "gathered schema: job_id,user,vc,submit_s,gpus,duration_s,status", _matches, _read)
