"""Slurm accounting: the output of `sacct`, text or JSON, and slurmrestd's list of jobs (`docs/formats/sacct.md`)."""

from typing import Final

import polars as pl

from pointsman.workload.readers.sacct_clock import zone_of
from pointsman.workload.readers.sacct_fields import ASKED, COMMAND, USED_TO_TELL
from pointsman.workload.readers.sacct_json import is_sacct_json, read_json
from pointsman.workload.readers.sacct_records import ENDED_WAITING, LINE, Order, records, written
from pointsman.workload.readers.sacct_runs import Jobs, jobs_of
from pointsman.workload.readers.sacct_text import is_sacct_text, read_text
from pointsman.workload.readers.sdk import (
    JOB_STEP,
    NO_SHARE,
    InputError,
    Quality,
    Rows,
    Source,
    TraceFormat,
    counted,
    left_out,
    settle,
    total,
)

_UNENDED: Final = ("RUNNING", "SUSPENDED", "COMPLETING", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING")
PENDING: Final = "never started (a pending job array is one row)"
CANCELLED: Final = "never started: cancelled while it waited, without GPUs"
_BY_NODE: Final = ("AllocGRES", "ReqGRES", "TresPerNode", "GpusPerNode")
_TELL_REQUESTS: Final = {"ReqTRES", "ReqGRES", "TresPerNode", "GpusPerNode"}
_OLDER: Final = "Slurm before 20.11 has GPUs in AllocGRES, too, for each of NNodes: export both"
_MOST_NAMED: Final = 5
"""Kinds of slices, or jobs, that a note names."""


def _matches(source: Source) -> bool:
    return is_sacct_json(source) or is_sacct_text(source)


def _read(source: Source, date_order: Order | None = None) -> tuple[pl.DataFrame, Quality]:
    """`date_order`: whether the day (dmy) or the month (mdy) comes first in dates such as 03/02/2026."""
    rows = read_json(source) if is_sacct_json(source) else read_text(source)
    _check(source, rows)
    rows.read.update((*ASKED, *USED_TO_TELL))
    found = records(rows.frame, date_order, source.path)
    _check_gpus(source, rows, found)
    made = jobs_of(found.filter(~pl.col("step")))
    steps = found.filter("step").select("job_id", LINE, status="status", submit_s="submit", gpus="gpus")
    table = _table(made.frame, _why_dropped(told=bool(_TELL_REQUESTS & {*rows.frame.columns})))
    steps = steps.with_columns(duration_s=pl.lit(None, pl.Float64), dropped=pl.lit(JOB_STEP))
    jobs = pl.concat([table, steps], how="diagonal").drop([LINE] * is_sacct_json(source))
    notes = [
        "the partition is the queue; Slurm's priorities change with time and are not replayed",
        "GPUs are those of AllocTRES (or AllocGRES × nodes), or those asked for where nothing was allocated",
        *_notes(made, table),
    ]
    changed, zone = _count_changes(made.frame, table), zone_of(rows.frame["Submit"])
    return settle(source, jobs, rows=rows, notes=notes, clamped=changed, merged=made.merged, zone=zone)


def _check(source: Source, rows: Rows) -> None:
    names = rows.frame.columns
    wanted = {
        "a time in Submit": ("Submit",),
        "GPUs in AllocTRES or ReqTRES": ("AllocTRES", "ReqTRES", *_BY_NODE),
        "a run time in ElapsedRaw, Elapsed, or Start and End": ("ElapsedRaw", "Elapsed", "End"),
    }
    for what, columns in wanted.items():
        if not set(columns) & set(names):
            fix = f"export with `{COMMAND}`; {_OLDER}"
            raise InputError(f"the sacct log lacks {what}", path=source.path, line=1, fix=fix)


def _check_gpus(source: Source, rows: Rows, found: pl.DataFrame) -> None:
    """A site may not account for GPUs as resources that are tracked: then lists of those name none."""
    if found.height and (found["gpus"] == 0).all() and found["no_share"].null_count() == found.height:
        missing = [name for name in _BY_NODE[:2] if name not in rows.frame.columns]
        if missing:
            cause = f"none of {found.height:,} rows names a GPU in AllocTRES or ReqTRES"
            raise InputError(cause, path=source.path, fix=f"{_OLDER}; slurm.conf: AccountingStorageTRES=gres/gpu")


def _table(jobs: pl.DataFrame, dropped: pl.Expr) -> pl.DataFrame:
    """Columns of the job table."""
    each = pl.col("gpus") / pl.col("nodes")
    return jobs.select(
        "job_id",
        "user",
        "account",
        "queue",
        "partition",
        "qos",
        "gpu_type",
        "fraction",
        "node_list",
        "status",
        LINE,
        nodes_requested=pl.when(pl.col("nodes") <= pl.col("gpus")).then(pl.col("nodes").cast(pl.Int64)),
        gpus_per_node=pl.when((each >= 1) & (each == each.floor()) & each.is_finite()).then(each).cast(pl.Int64),
        time_limit_s=pl.col("limit"),
        submit_s=pl.col("arrival"),
        gpus=pl.col("gpus"),
        duration_s=pl.col("elapsed"),
        start_s=pl.col("start"),
        end_s=pl.col("end"),
        dropped=dropped,
        **{name: pl.col(name) for name in map(written, ("submit_s", "gpus", "duration_s"))},
    )


def _why_dropped(*, told: bool) -> pl.Expr:
    """Why jobs are left out; `told` is whether the export says what jobs asked for that had not started."""
    no_share = pl.col("no_share").is_not_null()
    never = pl.col("waiting") & ((pl.col("gpus") > 0).fill_null(False) | no_share | (not told))
    over = pl.col("status").is_in(ENDED_WAITING).fill_null(False)
    return (
        pl.when(never & over)
        .then(pl.lit(CANCELLED))
        .when(never)
        .then(pl.lit(PENDING))
        .when(no_share)
        .then(pl.lit(NO_SHARE))
    )


def _count_changes(jobs: pl.DataFrame, table: pl.DataFrame) -> dict[str, int]:
    """Jobs that are not as their row says, of those that are kept as far as is known here."""
    kept = table.select(pl.col("dropped").is_null() & (pl.col("gpus") > 0).fill_null(False)).to_series()
    running = pl.col("status").is_in(_UNENDED).fill_null(False)
    counted = jobs.filter(kept).select(
        held=pl.col("held").sum(), running=running.sum(), resized=pl.col("resized").sum()
    )
    held, unended, resized = counted.row(0)
    return {
        "submitted when eligible (held by a dependency or --begin before)": int(held),
        "still running: ran at least its elapsed time": int(unended),
        "requeued with other GPUs, or in parts of other lengths: run time at the same GPU-hours": int(resized),
    }


def _notes(made: Jobs, table: pl.DataFrame) -> list[str]:
    jobs = made.frame
    ran = ~pl.col("waiting")
    alone = int(jobs.select(((pl.col("restarts") > 0) & (pl.col("runs") == 1) & ran).sum()).item())
    kept = jobs.filter(table["dropped"].is_null() & (table["gpus"] > 0).fill_null(False))
    clusters = kept["cluster"].drop_nulls().value_counts(sort=True).rows()
    said = ", ".join(f"{name:.40} ({counted(count, 'job')})" for name, count in clusters[:_MOST_NAMED])
    mixed = ", ".join(f"{name:.40}" for name in made.mixed[:_MOST_NAMED])
    notes = [
        (alone, f"requeued jobs of which only the last run is in the log: {alone:,}; `sacct -D` exports all runs"),
        (made.reused, f"jobs with an id that an earlier, other job had: {made.reused:,}; their ids end in #2, #3, …"),
        (made.mixed, f"heterogeneous jobs with several GPU types, each one gang: {len(made.mixed):,} ({mixed})"),
        (len(clusters) > 1, f"jobs of several clusters, whose ids begin with its name: {said}; `sacct -M` exports one"),
    ]
    return [*(note for count, note in notes if count), *_left_out(jobs)]


def _left_out(jobs: pl.DataFrame) -> list[str]:
    """What was asked for that is no share of one GPU, and how many GPU-hours that is."""
    lost = jobs.filter(pl.col("no_share").is_not_null() & ~pl.col("waiting"))
    if lost.is_empty():
        return []
    gpu_h = total(lost["no_share_gpus"].cast(pl.Float64) * lost["elapsed"]) / 3600
    return left_out(lost["no_share"], gpu_h)


FORMAT = TraceFormat("sacct", "Slurm accounting, sacct and slurmrestd", _matches, _read, frozenset({"date_order"}))
