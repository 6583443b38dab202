"""Alibaba PAI 2020 task tables (`docs/formats/alibaba-pai.md`)."""

import polars as pl

from pointsman.workload.readers.sdk import (
    LINE,
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
    total,
    written,
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
    share, many = number("plan_gpu") / 100, number("inst_num")
    start, end = number("start_time"), number("end_time")
    tasks = rows.select(
        job_id=text("job_name"),
        name=text("task_name"),
        asks=(share > 0).fill_null(False),
        gpus=share.ceil() * many,
        fraction=pl.when((share > 0) & (share < 1)).then(share),
        gpu_type=text("gpu_type"),
        status=status("status"),
        start_s=start,
        end_s=pl.when(end > 0).then(end),  # 0: it runs
        unread_gpus=pl.coalesce(_unread("inst_num", many), _unread("plan_gpu", share)),
        unread_start=_unread("start_time", start),
        unread_end=_unread("end_time", end),
    )
    jobs = _jobs(_mark_tasks(tasks.with_columns(pl.Series(LINE, rows.numbers))))
    notes = [
        "the log has no submit times: the start of a job's first task stands in",
        f"a job is all tasks of one job_name ({tasks.height:,} tasks), its GPUs Σ inst_num × ⌈plan_gpu / 100⌉",
        *_note_outliving(jobs.filter(pl.col("dropped").is_null() & (pl.col("lost_h") > 0))),
    ]
    merged = {"further tasks of a job": tasks.height - jobs.height}
    return settle(source, jobs.drop("lost_h", "used_h"), rows=rows, notes=notes, merged=merged)


def _unread(column: str, value: pl.Expr) -> pl.Expr:
    return pl.when(value.is_null()).then(text(column))


def _mark_tasks(tasks: pl.DataFrame) -> pl.DataFrame:
    """With which tasks are a job's workers (those with the most GPUs), and which are its gang: these, and all others
    that run beside them and are no evaluators. A gang ends with its workers.
    """
    evaluates = pl.col("name").str.to_lowercase().str.contains("eval").fill_null(False)
    trains = pl.col("asks") & (~evaluates | ~(pl.col("asks") & ~evaluates).any().over("job_id"))
    tasks = tasks.with_columns(trains=trains)
    widest = pl.col("gpus").filter("trains").max().over("job_id")
    tasks = tasks.with_columns(works=pl.col("trains") & (pl.col("gpus") == widest).fill_null(True))
    begin = pl.col("start_s").filter("works").min().over("job_id")
    tasks = tasks.with_columns(until_s=pl.col("end_s").filter("works").max().over("job_id"))
    beside = (pl.col("start_s") <= pl.col("until_s")) & (pl.col("end_s") >= begin)
    return tasks.with_columns(gang=pl.col("trains") & beside.fill_null(True))


def _jobs(tasks: pl.DataFrame) -> pl.DataFrame:
    """One row a job, of the tasks of its gang (parameter servers and the like ask for no GPU)."""
    gang = pl.col("gang")
    start, gpus = pl.col("start_s").filter(gang).min(), pl.col("gpus").filter(gang)
    types = pl.col("gpu_type").filter(gang & (pl.col("gpu_type") != "MISC")).unique(maintain_order=True)
    after = pl.when(gang).then(pl.max_horizontal("start_s", "until_s")).otherwise("start_s")
    lost_s, used_s = (pl.max_horizontal(pl.col("end_s") - since, 0.0) for since in (after, pl.col("start_s")))
    jobs = tasks.group_by("job_id", maintain_order=True).agg(
        pl.col(LINE).first(),
        gpus=pl.when(gpus.null_count() == 0).then(gpus.sum()),
        fraction=pl.when(gpus.sum() == 1).then(pl.col("fraction").filter(gang).max()),
        gpu_type=pl.when(types.len() == 1).then(types.first()),
        status=pl.col("status").filter(gang).last(),
        submit_s=start,
        duration_s=pl.col("until_s").first() - start,
        open_end=pl.all_horizontal(gang, pl.col("end_s").is_null(), pl.col("unread_end").is_null()).any(),
        lost_h=(pl.col("gpus") * lost_s / 3600).filter("asks").sum(),
        used_h=(pl.col("gpus") * used_s / 3600).filter("asks").sum(),
        **{
            written(name): pl.col(f"unread_{what}").filter(gang).drop_nulls().first()
            for name, what in (("gpus", "gpus"), ("submit_s", "start"), ("duration_s", "end"))
        },
    )
    unended = pl.when((pl.col("gpus") > 0) & pl.col("open_end")).then(pl.lit("a task has no end"))
    return jobs.with_columns(dropped=unended).drop("open_end")


def _note_outliving(jobs: pl.DataFrame) -> list[str]:
    if jobs.is_empty():
        return []
    lost_h, used_h = total(jobs["lost_h"]), total(jobs["used_h"])
    return [
        "GPU tasks that outlive the workers of their job, and evaluators, are left out: "
        f"{lost_h:,.1f} of {used_h:,.1f} GPU-hours (jobs: {jobs.height:,})"
    ]


FORMAT = TraceFormat("alibaba-pai", "Alibaba PAI 2020, task table", _matches, _read)
