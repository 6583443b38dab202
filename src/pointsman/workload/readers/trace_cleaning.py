"""From the rows of a foreign log to a job table: bad rows are dropped and counted, by reason."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import polars as pl

from pointsman.errors import InputError
from pointsman.workload.columns import MAX_DURATION_S, MAX_GPUS, MAX_SUBMIT_S, complete
from pointsman.workload.provenance import Quality
from pointsman.workload.readers.source import Source

_MISSING: Final = ("", "none", "null", "nan", "nat", "n/a", "na", "unknown")
_STATUS: Final = {
    "pass": "COMPLETED",
    "passed": "COMPLETED",
    "success": "COMPLETED",
    "succeeded": "COMPLETED",
    "terminated": "COMPLETED",
    "killed": "CANCELLED",
    "canceled": "CANCELLED",
    "waiting": "PENDING",
    "out_of_memory": "FAILED",
    "boot_fail": "NODE_FAIL",
    "deadline": "TIMEOUT",
}
RAGGED: Final = "wrong number of cells"
"""Reason for rows that do not have as many cells as the header."""


def text(name: str) -> pl.Expr:
    """The column `name` trimmed; null where the log writes None, NaN, Unknown or nothing."""
    cell = pl.col(name).str.strip_chars()
    return pl.when(cell.str.to_lowercase().is_in(_MISSING)).then(None).otherwise(cell)


def number(name: str) -> pl.Expr:
    """The column `name` as float64; null where it is no number, NaN or infinite."""
    value = text(name).cast(pl.Float64, strict=False)
    return pl.when(value.is_finite()).then(value).otherwise(None)


_OFFSET = "[+-](?:0[0-9]|1[0-4]):?[0-5][0-9]"


def clock_s(name: str) -> pl.Expr:
    """The date and time in the column `name` as seconds since 1970, null where it is none.

    `2020-06-09 18:41:01`, with `T` or a fraction, and with or without an offset (`+08:00`, `Z`); without one it counts
    as UTC.
    """
    stamp = text(name).str.replace("T", " ", literal=True).str.replace(r"Z$", "+00:00")
    zone = stamp.str.extract(f"({_OFFSET})$")
    local = stamp.str.replace(rf"\s*{_OFFSET}$", "").str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False)
    sign = pl.when(zone.str.starts_with("-")).then(-1.0).otherwise(1.0)
    hours, minutes = zone.str.slice(1, 2).cast(pl.Float64), zone.str.slice(-2, 2).cast(pl.Float64)
    offset_s = (sign * (hours * 3600 + minutes * 60)).fill_null(0.0)
    return local.dt.epoch("us").cast(pl.Float64) / 1e6 - offset_s


def status(name: str) -> pl.Expr:
    """The column `name` in Slurm's upper-case words (`docs/formats/job-logs.md`)."""
    word = text(name).str.to_lowercase().str.replace(r"\s+by\s+\S+$", "").str.replace_all(r"[\s-]+", "_")
    return word.replace(_STATUS).str.to_uppercase()


def has_columns(source: Source, *names: str) -> bool:
    """Whether the first line is a CSV header with all of `names`."""
    from pointsman.workload.readers.rows import split_header

    return set(names) <= set(split_header(source))


def settle(
    source: Source,
    frame: pl.DataFrame,
    *,
    ragged: Sequence[int] = (),
    notes: Sequence[str] = (),
    clamped: dict[str, int] | None = None,
    zone: str | None = None,
) -> tuple[pl.DataFrame, Quality]:
    """The job table of the good rows of `frame`, and the quality report.

    Args:
        source: for messages.
        frame: canonical columns; `submit_s`, `gpus`, `duration_s` as float64, null where unknown; a column `dropped`
            (str, optional) holds the reader's own reasons.
        ragged: lines left out before, for a wrong number of cells.
        notes: the reader's assumptions.
        clamped: rows that the reader changed, by what it changed; counted whether or not they stay.
        zone: `submit_s` is a clock in seconds since 1970 in this zone, and will count from the first kept job.

    Raises:
        InputError: no row is left.
    """
    judged = frame.with_columns(dropped=_reason(frame, zone is not None))
    again = judged.filter(pl.col("dropped").is_null())
    if "job_id" in frame.columns:
        again = again.filter(pl.col("job_id").is_first_distinct())
    dropped = {reason: n for reason, n in judged["dropped"].value_counts().sort("dropped").iter_rows() if reason}
    repeated = frame.height - sum(dropped.values()) - again.height
    dropped |= {"job id seen before": repeated} if repeated else {}
    dropped |= {RAGGED: len(ragged)} if ragged else {}
    if again.height == 0:
        raise _nothing_left(source, frame.height + len(ragged), dropped)
    table = again.drop("dropped").with_columns(pl.col("gpus").cast(pl.Int64))
    if zone is not None:
        start = float(table["submit_s"].min())  # ty: ignore[invalid-argument-type]
        table = table.with_columns(pl.col("submit_s") - start)
        notes = [*notes, f"submit_s counts from {_stamp(start)}, time zone: {zone}"]
    changed = {what: n for what, n in (clamped or {}).items() if n}
    quality = Quality(frame.height + len(ragged), table.height, dropped, changed, (*notes, *_order(table)))
    return complete(table), quality


def _reason(frame: pl.DataFrame, is_clock: bool) -> pl.Expr:
    gpus, submit, duration = pl.col("gpus"), pl.col("submit_s"), pl.col("duration_s")
    rules = [
        (gpus.is_null(), "no GPU count"),
        (gpus == 0, "asks for no GPU"),
        (gpus < 0, "negative GPU count"),
        (gpus != gpus.floor(), "fractional GPU count"),
        (gpus > MAX_GPUS, f"more than {MAX_GPUS:,} GPUs"),
        (submit.is_null(), "no submit time"),
        (duration.is_null(), "no run time"),
        (duration < 0, "negative run time"),
        (duration > MAX_DURATION_S, "run time over 31 years"),
        (submit.abs() > MAX_SUBMIT_S, "submit time out of range"),
    ]
    if not is_clock:
        rules.append((submit < 0, "negative submit time"))
    if "job_id" in frame.columns:
        rules.append((pl.col("job_id").is_null(), "no job id"))
    found = [pl.when(broken).then(pl.lit(reason)) for broken, reason in rules]
    own = [pl.col("dropped")] if "dropped" in frame.columns else []
    return pl.coalesce(*own, *found)


def _nothing_left(source: Source, rows: int, dropped: dict[str, int]) -> InputError:
    if rows == 0:
        return InputError("there is no job in the file", path=source.path, fix="give a log with at least one job")
    why = "; ".join(f"{n:,} {reason}" for reason, n in dropped.items())
    return InputError(f"no job is left of {rows:,} rows: {why}", path=source.path, fix="check the columns and units")


def _order(table: pl.DataFrame) -> tuple[str, ...]:
    backwards = int((table["submit_s"].diff() < 0).sum())
    said = f"rows out of submit order: {backwards:,}; the table is sorted stably by submit_s"
    return (said,) if backwards else ()


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(" ")
