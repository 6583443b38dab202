"""The cells of named columns, read by what each column of the job table may hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from pointsman.inputs.durations import parse_duration_s
from pointsman.inputs.gpu_names import plain_name
from pointsman.sums import total_of
from pointsman.types import DEADLINE
from pointsman.workload.columns import LOGGED, SCHEMA, SHAPE
from pointsman.workload.readers.dates import read_clocks
from pointsman.workload.readers.day_month import Order
from pointsman.workload.readers.gpu_demand import NO_SHARE, gpu_demands, left_out
from pointsman.workload.readers.slurm_cells import span_s
from pointsman.workload.readers.trace_cleaning import number, status, text
from pointsman.workload.rules.job_rules import NUMBERS, written

GAP: Final = "gap_s"
"""The time from one submission to the next, in the place of `submit_s`."""
_CLOCKS: Final = ("submit_s", *LOGGED, DEADLINE)
_SPANS: Final = ("duration_s", "time_limit_s", GAP)
_NO_LIMIT: Final = ("unlimited", "infinite", "partition_limit", "not_set", "inf", "-1")
_DAYS: Final = r"^(?<days>[0-9]+) days?,? (?<rest>[0-9]+:[0-9]{2}:[0-9]{2})"
"""Days in the durations of pandas and of Python's `timedelta`."""
_LSF: Final = {"DONE": "COMPLETED", "EXIT": "FAILED", "RUN": "RUNNING", "PEND": "PENDING"}
"""States of LSF in Slurm's words."""


@dataclass(frozen=True)
class Cells:
    """Columns of the job table."""

    jobs: pl.DataFrame
    """With the cells that could not be read in columns of `written`, and `dropped`."""
    dated: bool
    """Whether times are dates."""
    notes: tuple[str, ...]


def cells_of(
    log: pl.DataFrame, columns: Mapping[str, str], *, unit_s: float | None, order: Order | None, path: str
) -> Cells:
    """The columns of the job table that `columns` names among those of `log`, all text.

    Times are dates of any kind (`dates`) or numbers; durations are numbers or written as Slurm and others write them;
    GPUs are cells of any kind (`gpu_demand`).

    Raises:
        InputError: the order of day and month matters and is not known.
    """
    cells = {ours: log.select(text(theirs)).to_series() for ours, theirs in columns.items()}
    timed = {name: column for name, column in cells.items() if name in _CLOCKS}
    clocks = read_clocks(timed, unit_s=unit_s, order=order, path=path)
    read = clocks.seconds | {
        name: _read(name, column, unit_s or 1.0)
        for name, column in cells.items()
        if name not in timed and name != "gpus"
    }
    jobs = _with_gpus(pl.DataFrame(read), cells.get("gpus"))
    jobs = jobs.with_columns(**_unread(jobs, cells))
    jobs, spaced = _add_gaps(jobs) if GAP in columns else (jobs, ())
    if "duration_s" not in columns:
        jobs = jobs.with_columns(_ran_s(jobs))
    dated = clocks.dated and GAP not in columns
    return Cells(
        jobs.drop("no_share", "no_share_gpus", *([GAP, *LOGGED] if spaced else []), strict=False),
        dated,
        (*clocks.notes, *spaced, *_say_left_out(jobs)),
    )


def _read(name: str, cells: pl.Series, unit_s: float) -> pl.Series:
    """The cells of a column that holds neither times nor the GPUs of jobs."""
    frame = pl.DataFrame({"cell": cells})
    if name in _SPANS:
        return _spans_s(cells, unit_s)
    if name == "status":
        return frame.select(status("cell").replace(_LSF)).to_series()
    if name == "gpu_type":
        return _by_value(cells, {cell: plain_name(cell) or None for cell in cells.drop_nulls().unique()}, pl.String())
    if name == "gpus_per_node":
        return frame.select(pl.coalesce(number("cell"), gpu_demands(cells)["gpus"].cast(pl.Float64))).to_series()
    return cells if SCHEMA[name] in (pl.String, pl.Boolean) else frame.select(number("cell")).to_series()


def _spans_s(cells: pl.Series, unit_s: float) -> pl.Series:
    """Numbers, `D-HH:MM:SS`, `1 days 02:00:00`, and what `parse_duration_s` reads."""
    frame = pl.DataFrame({"cell": cells.str.replace(_DAYS, "${days}-${rest}")})
    found = frame.select(pl.coalesce(number("cell") * unit_s, span_s("cell"))).to_series()
    others = cells.filter(found.is_null() & cells.is_not_null()).unique()
    if others.is_empty():
        return found
    return found.fill_null(_by_value(cells, {cell: _duration_s(cell) for cell in others}, pl.Float64()))


def _duration_s(cell: str) -> float | None:
    try:
        return parse_duration_s(cell)
    except ValueError:
        return None


def _by_value(cells: pl.Series, values: Mapping[str, object], kind: pl.DataType) -> pl.Series:
    return cells.replace_strict(
        list(values), pl.Series(list(values.values()), dtype=kind), default=None, return_dtype=kind
    )


def _with_gpus(jobs: pl.DataFrame, cells: pl.Series | None) -> pl.DataFrame:
    """GPUs, their type and the share of one, of the cells or, without any, of the shape."""
    if cells is None:
        return jobs.with_columns(gpus=pl.col(SHAPE[0]) * pl.col(SHAPE[1]))
    asked = gpu_demands(cells).with_columns(count=cells.cast(pl.Float64, strict=False), told=cells.is_not_null())
    share = pl.when(pl.col("count").is_between(0, 1, closed="none")).then("count")
    asked = asked.select(
        gpus=pl.when("told").then(pl.coalesce("gpus", pl.when(share.is_not_null()).then(1), "count")).cast(pl.Float64),
        fraction=pl.coalesce("fraction", share),
        gpu_type="gpu_type",
        no_share="no_share",
        no_share_gpus="no_share_gpus",
    )
    asked = asked.with_columns(dropped=pl.when(pl.col("no_share").is_not_null()).then(pl.lit(NO_SHARE)))
    return jobs.hstack([asked[name] for name in asked.columns if name not in jobs.columns])


def _unread(jobs: pl.DataFrame, cells: Mapping[str, pl.Series]) -> dict[str, pl.Series]:
    """The cells that say something of which nothing could be made."""
    numeric = [name for name in cells if name in (*NUMBERS, GAP)]
    lost = {name: cells[name].set(jobs[name].is_not_null(), None) for name in numeric}
    if "time_limit_s" in lost:
        limits = lost["time_limit_s"]
        lost["time_limit_s"] = limits.set(limits.str.to_lowercase().is_in(_NO_LIMIT), None)
    return {written(name): column for name, column in lost.items()}


def _add_gaps(jobs: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Times of submission from the gaps between them; the first gap is before the first job."""
    gaps = jobs[GAP]
    submitted = pl.when(pl.col(GAP).is_not_null()).then(pl.col(GAP).fill_null(0.0).cum_sum() - (gaps[0] or 0.0))
    notes = ["submit_s is the sum of the gaps so far, which the log has in the order of submission"]
    if gaps.null_count():
        notes.append(f"gaps that the log does not tell count as 0 for the jobs after them: {gaps.null_count():,}")
    return jobs.with_columns(submit_s=submitted).rename({written(GAP): written("submit_s")}), tuple(notes)


def _ran_s(jobs: pl.DataFrame) -> list[pl.Expr]:
    """Run times from starts to ends, and which of the two cells could not be read."""
    start, end = LOGGED
    unread = pl.coalesce(written(start), written(end))
    return [(pl.col(end) - pl.col(start)).alias("duration_s"), unread.alias(written("duration_s"))]


def _say_left_out(jobs: pl.DataFrame) -> list[str]:
    if "no_share" not in jobs.columns:
        return []
    gpu_s = total_of(jobs, pl.col("no_share_gpus") * pl.col("duration_s"))
    return left_out(jobs["no_share"], gpu_s / 3600)
