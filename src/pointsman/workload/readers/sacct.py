"""Slurm accounting: `sacct --parsable2` (`docs/formats/sacct.md`)."""

import polars as pl

from pointsman.workload.readers.sdk import (
    JOB_STEP,
    InputError,
    Quality,
    Rows,
    Source,
    TraceFormat,
    clock_s,
    number,
    read_rows,
    settle,
    span_s,
    split_header,
    status,
    text,
    tres_gpu_type,
    tres_gpus,
)

_COMMAND = (
    "sacct -aXP -S START --format=JobIDRaw,User,Account,Partition,State,Submit,Eligible,Start,End,ElapsedRaw,"
    "TimelimitRaw,AllocTRES,ReqTRES"
)
_ASKED = (
    "JobIDRaw", "JobID", "User", "Account", "Partition", "State", "Submit", "Eligible", "Start", "End", "ElapsedRaw",
    "Elapsed", "TimelimitRaw", "Timelimit", "AllocTRES", "ReqTRES",
)  # fmt: skip
_UNENDED = ("RUNNING", "SUSPENDED", "COMPLETING", "STOPPED")
_UNSTARTED = ("PENDING", "CONFIGURING", "REQUEUED", "RESV_DEL_HOLD", "SPECIAL_EXIT")


def _matches(source: Source) -> bool:
    names = set(split_header(source, "|"))
    telling = {"State", "Submit", "Start", "Elapsed", "ElapsedRaw", "User", "AllocTRES", "ReqTRES"}
    return bool(names & {"JobIDRaw", "JobID"}) and len(names & telling) >= 2


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    rows = read_rows(source, delimiter="|")
    _check(source, rows)
    rows.read.update(_ASKED)
    log = _present(rows.frame)
    late = pl.col("eligible") > pl.col("submit")
    clocks = log.select(submit=clock_s("Submit"), eligible=clock_s("Eligible"), start=clock_s("Start"))
    held = clocks.select((late & pl.col("start").is_not_null()).fill_null(False)).to_series()
    running = log.select(status("State").is_in(_UNENDED)).to_series()
    jobs = log.with_columns(clocks.select(submit_s=_arrival())).select(**_columns(_started(rows.frame)))
    counted = jobs["dropped"].is_null() & (jobs["gpus"] > 0).fill_null(False)
    changed = {
        "submitted when eligible (held by a dependency or --begin before)": int((held & counted).sum()),
        "still running: ran at least its elapsed time": int((running & counted).sum()),
    }
    notes = [
        "the partition is the queue; Slurm's priorities change with time and are not replayed",
        "demands are AllocTRES, or ReqTRES where nothing was allocated",
    ]
    zone = "the site's local time, which sacct does not name; read as one clock (UTC)"
    return settle(source, jobs, rows=rows, notes=notes, clamped=changed, zone=zone)


def _check(source: Source, rows: Rows) -> None:
    names = rows.frame.columns
    wanted = {"a time in Submit": ("Submit",), "GPUs in AllocTRES or ReqTRES": ("AllocTRES", "ReqTRES")}
    wanted["a run time in ElapsedRaw, Elapsed, or Start and End"] = ("ElapsedRaw", "Elapsed", "End")
    for what, columns in wanted.items():
        if not set(columns) & set(names):
            raise InputError(f"the sacct log lacks {what}", path=source.path, line=1, fix=f"export with `{_COMMAND}`")


def _present(frame: pl.DataFrame) -> pl.DataFrame:
    """Every column that the reader may ask for, null where the export left it out."""
    absent = [pl.lit(None, pl.String).alias(name) for name in _ASKED if name not in frame.columns]
    return frame.with_columns(absent)


def _arrival() -> pl.Expr:
    """When a job could first have been started: submitted and eligible, but not after it did start."""
    eligible = pl.when(pl.col("eligible").is_not_null()).then(pl.min_horizontal("eligible", "start"))
    return pl.when(pl.col("submit").is_not_null()).then(pl.max_horizontal("submit", eligible))


def _elapsed_s() -> pl.Expr:
    return pl.coalesce(number("ElapsedRaw"), span_s("Elapsed"), clock_s("End") - clock_s("Start"))


def _started(log: pl.DataFrame) -> pl.Expr:
    """Whether a job has started; where the export left out when, whether it ran or was given GPUs."""
    if "Start" in log.columns:
        return clock_s("Start").is_not_null()
    return (_elapsed_s() > 0).fill_null(True) | (tres_gpus("AllocTRES") > 0)


def _columns(started: pl.Expr) -> dict[str, pl.Expr]:
    tres = pl.when(tres_gpus("AllocTRES") > 0).then(pl.col("AllocTRES")).otherwise(pl.col("ReqTRES"))
    limit = pl.coalesce(number("TimelimitRaw") * 60, span_s("Timelimit"))
    return {
        "job_id": pl.coalesce(text("JobIDRaw"), text("JobID")),
        "user": text("User"),
        "account": text("Account"),
        "queue": pl.coalesce(text("Partition"), text("Account")),
        "partition": text("Partition"),
        "gpu_type": tres_gpu_type(tres),
        "time_limit_s": pl.when(limit > 0).then(limit),
        "status": status("State"),
        "submit_s": pl.col("submit_s"),
        "gpus": pl.max_horizontal(
            tres_gpus("AllocTRES"), pl.when(tres_gpus("AllocTRES") == 0).then(tres_gpus("ReqTRES"))
        ),
        "duration_s": _elapsed_s(),
        "start_s": clock_s("Start"),
        "end_s": clock_s("End"),
        "dropped": _dropped(started),
    }


def _dropped(started: pl.Expr) -> pl.Expr:
    step = pl.coalesce(text("JobIDRaw"), text("JobID")).str.contains(".", literal=True)
    unstarted = status("State").is_in(_UNSTARTED).fill_null(False) | ~started
    asks = pl.max_horizontal(tres_gpus("AllocTRES"), tres_gpus("ReqTRES")) > 0
    return (
        pl.when(step)
        .then(pl.lit(JOB_STEP))
        .when(unstarted & asks)
        .then(pl.lit("never started (a pending job array is one row)"))
    )


FORMAT = TraceFormat("sacct", "Slurm accounting, sacct --parsable2", _matches, _read)
