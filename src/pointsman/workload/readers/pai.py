"""Alibaba PAI 2020 task tables (`docs/formats/alibaba-pai.md`)."""

import polars as pl

from pointsman.workload.readers.sdk import (
    Quality,
    Source,
    TraceFormat,
    has_columns,
    number,
    read_rows,
    settle,
    split_header,
    status,
    text,
)

TASK_COLUMNS = (
    "job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu",
    "gpu_type",
)  # fmt: skip
STATUSES = ("Running", "Waiting", "Terminated", "Failed", "Interrupted")


def _matches(source: Source) -> bool:
    """With the header pasted on top, or as published, without one: ten cells, the fourth a status."""
    first = split_header(source)
    with_header = has_columns(source, *TASK_COLUMNS) and source.utf8.count(b"\n", 0, len(source.utf8.rstrip())) > 0
    return with_header or (len(first) == len(TASK_COLUMNS) and first[3] in STATUSES)


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    headed = has_columns(source, *TASK_COLUMNS)
    rows = read_rows(source, None if headed else TASK_COLUMNS)
    share = number("plan_gpu") / 100
    tasks = rows.select(
        job_id=text("job_name"),
        gpus=share.ceil() * number("inst_num"),
        fraction=pl.when((share > 0) & (share < 1)).then(share),
        gpu_type=text("gpu_type"),
        status=status("status"),
        start_s=number("start_time"),
        end_s=number("end_time"),
    )
    notes = [
        "the log has no submit times: the start of a job's first task stands in",
        f"a job is all tasks of one job_name ({tasks.height:,} tasks), its GPUs Σ inst_num × ⌈plan_gpu / 100⌉",
    ]
    jobs = _jobs(tasks)
    return settle(source, jobs, rows=rows, notes=notes, merged={"further tasks of a job": tasks.height - jobs.height})


def _jobs(tasks: pl.DataFrame) -> pl.DataFrame:
    """One row a job, of the tasks that ask for GPUs (parameter servers and the like ask for none)."""
    asks = pl.col("gpus") > 0
    start, end = pl.col("start_s").filter(asks).min(), pl.col("end_s").filter(asks).max()
    open_end = (asks & pl.col("end_s").is_null()).any()
    types = pl.col("gpu_type").filter(asks & (pl.col("gpu_type") != "MISC")).unique(maintain_order=True)
    jobs = tasks.group_by("job_id", maintain_order=True).agg(
        gpus=pl.col("gpus").fill_null(0).sum(),
        fraction=pl.when(pl.col("gpus").fill_null(0).sum() == 1).then(pl.col("fraction").max()),
        gpu_type=pl.when(types.len() == 1).then(types.first()),
        status=pl.col("status").filter(asks).last(),
        submit_s=start,
        duration_s=end - start,
        open_end=open_end,
    )
    unended = pl.when((pl.col("gpus") > 0) & pl.col("open_end")).then(pl.lit("a task has no end"))
    return jobs.with_columns(dropped=unended).drop("open_end")


FORMAT = TraceFormat("alibaba-pai", "Alibaba PAI 2020, task table", _matches, _read)
