"""Alibaba spot GPU jobs, `job_info_df.csv` (`docs/formats/alibaba-spot.md`)."""

import polars as pl

from pointsman.workload.readers.sdk import Quality, Source, TraceFormat, has_columns, number, read_rows, settle, text

_COLUMNS = ("job_name", "organization", "gpu_model", "gpu_request", "worker_num", "submit_time", "duration", "job_type")


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    rows = read_rows(source)
    each = number("gpu_request")
    jobs = rows.select(
        job_id=text("job_name"),
        queue=text("organization"),
        gpu_type=text("gpu_model"),
        fraction=pl.when((each > 0) & (each < 1)).then(each),
        priority=(text("job_type").str.to_uppercase() == "HP").cast(pl.Int64),
        submit_s=number("submit_time"),
        gpus=pl.when((each > 0) & (each < 1)).then(1.0).otherwise(each) * number("worker_num"),
        duration_s=number("duration"),
    )
    notes = [
        "times are seconds from the trace's start; GPUs = gpu_request × worker_num, all at once",
        "priority is 1 for HP (high priority) jobs and 0 for Spot; the organization is the queue",
    ]
    return settle(source, jobs, rows=rows, notes=notes)


FORMAT = TraceFormat("alibaba-spot", "Alibaba spot GPU jobs", lambda source: has_columns(source, *_COLUMNS), _read)
