"""Example of a trace format: the export of a job queue, with semicolons and clock times."""

import polars as pl

from pointsman.workload.readers.sdk import (
    Quality,
    Source,
    TraceFormat,
    clock_s,
    number,
    read_rows,
    settle,
    split_header,
    status,
    text,
)

STATUSES = {"OK": "COMPLETED", "ABORTED": "CANCELLED"}


def matches(source: Source) -> bool:
    return {"Job", "Team", "Cards", "Queued"} <= set(split_header(source, ";"))


def read(source: Source) -> tuple[pl.DataFrame, Quality]:
    rows = read_rows(source, delimiter=";")
    never = clock_s("Started").is_null() & (number("Cards") > 0)
    jobs = rows.select(
        job_id=text("Job"),
        queue=text("Team"),
        gpu_type=text("Card"),
        status=status("Result").replace(STATUSES),
        submit_s=clock_s("Queued"),
        gpus=number("Cards"),
        duration_s=clock_s("Ended") - clock_s("Started"),
        start_s=clock_s("Started"),
        end_s=clock_s("Ended"),
        dropped=pl.when(never).then(pl.lit("never started")),
    )
    notes = ["the team is the queue"]
    return settle(source, jobs, rows=rows, notes=notes, zone="the log names none; assumed UTC")


FORMAT = TraceFormat("my-queue", "export of our job queue", matches, read)
