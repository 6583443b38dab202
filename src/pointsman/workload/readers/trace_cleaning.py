"""From the rows of a foreign log to a job table: bad rows are dropped and counted, by reason."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import polars as pl

from pointsman.errors import InputError, UsageError
from pointsman.inputs.messages import counted, quoted
from pointsman.types import DEADLINE
from pointsman.workload.columns import LOGGED, MAX_SUBMIT_S, REQUIRED, SCHEMA
from pointsman.workload.provenance import MOST_LINES, Place, Quality
from pointsman.workload.readers.cells import absent, clock_s, number, status, text
from pointsman.workload.readers.row_count import check_count
from pointsman.workload.readers.rows import Rows
from pointsman.workload.readers.source import Source
from pointsman.workload.rules.clean import LINE, clean, completed, not_read
from pointsman.workload.rules.job_rules import WRITTEN
from pointsman.workload.rules.kept_columns import Keep, check_there, kept_of

__all__ = ["RAGGED", "absent", "clock_s", "number", "origin_of", "settle", "status", "text"]

_CLOCK: Final = "clock"
_COUNTS_FROM: Final = "submit_s counts from "
RAGGED: Final = "wrong number of cells"
"""Reason for rows that do not have as many cells as the header."""


def settle(
    source: Source,
    frame: pl.DataFrame,
    *,
    rows: Rows | None = None,
    records: int | None = None,
    ragged: Sequence[int] = (),
    notes: Sequence[str] = (),
    clamped: dict[str, int] | None = None,
    merged: dict[str, int] | None = None,
    zone: str | None = None,
) -> tuple[pl.DataFrame, Quality]:
    """The job table of the rows of `frame` that keep the rules of a job table, and the quality report.

    Args:
        source: for messages.
        frame: columns of the job table, at least `submit_s`, `gpus` and `duration_s`, null where unknown. Without
            `job_id`, rows are numbered from 0. A column `dropped` (str, optional) holds the reader's own reasons,
            ``submit_s as written`` (and the like) what the log has where that could not be read, and `line` (int)
            where the row stands, if that is not the row of `rows`.
        rows: the rows of the file that `frame` was made of: lines left out count as dropped, and columns that were not
            read are named.
        records: how many jobs a file without lines has.
        ragged: lines left out before, for a wrong number of cells.
        notes: the reader's assumptions.
        clamped: rows that the reader changed, by what it changed; counted whether or not they stay.
        merged: rows that became part of the job of another row, by what they are.
        zone: `submit_s`, `start_s` and `end_s` are clocks in seconds since 1970 in this zone, and will count from the
            submission of the first kept job.

    Raises:
        InputError: no row is left.
        RowsLostError: the rows of the file are not those kept, dropped and merged.
        UsageError: `frame` lacks a required column, or has one that job tables do not have.
    """
    _check_columns(frame.columns, source.keep)
    merged = {what: n for what, n in (merged or {}).items() if n}
    if rows is not None:
        rows.read.update(source.keep.values())
        ragged, notes = rows.ragged, [*notes, *rows.notes, *not_read(rows.unread)]
        if rows.records is None and LINE not in frame.columns and frame.height == rows.frame.height:
            frame = frame.with_columns(pl.Series(LINE, rows.numbers))
        frame = _with_kept(source, frame, rows, dated=zone is not None)
        notes = [*notes, *_unread_deadlines(source, frame, rows)]
    seen = frame.height + len(ragged) + sum(merged.values())
    if zone is not None:
        earliest_s = _earliest(frame)
        frame = _since(frame.with_columns(pl.col("submit_s").alias(_CLOCK)), earliest_s)
    cleaned = clean(frame)
    dropped, places = cleaned.dropped, cleaned.places
    if ragged:
        dropped, places = dropped | {RAGGED: len(ragged)}, places | {RAGGED: Place(tuple(ragged[:MOST_LINES]))}
    changed = {what: n for what, n in (clamped or {}).items() if n} | cleaned.changed
    counted = rows.counted_apart(source) if rows is not None else records
    quality = Quality(
        seen if counted is None else counted, cleaned.jobs.height, dropped, changed, tuple(notes), merged, places
    )
    check_count(quality)
    if cleaned.jobs.height == 0:
        raise _nothing_left(source, quality)
    table = cleaned.jobs
    if zone is not None:
        start = float(table[_CLOCK].min())  # ty: ignore[invalid-argument-type]
        table = _since(table, start - earliest_s).with_columns(submit_s=pl.col(_CLOCK) - start)
        notes = [*notes, f"{_COUNTS_FROM}{_stamp(start)}, time zone: {zone}"]
    jobs, order = completed(table, [name for name in source.keep if name in table.columns])
    return jobs, replace(quality, notes=(*notes, *order))


def origin_of(quality: Quality) -> float | None:
    """The date from which ``submit_s`` counts, in s since 1970 on the log's own clock; None if it has no dates."""
    for note in quality.notes:
        if note.startswith(_COUNTS_FROM):
            stamp = note.removeprefix(_COUNTS_FROM).partition(",")[0]
            return datetime.fromisoformat(stamp).replace(tzinfo=UTC).timestamp()
    return None


def _with_kept(source: Source, frame: pl.DataFrame, rows: Rows, *, dated: bool) -> pl.DataFrame:
    """The frame with the columns to keep of the rows that its own were made of, where it is known which these are."""
    keep = {ours: theirs for ours, theirs in source.keep.items() if ours not in frame.columns}
    if not keep:
        return frame
    check_there(keep, rows.frame.columns, path=source.path, line=rows.first_line - 1 or None)
    log = rows.frame
    if dated and DEADLINE in keep:
        found = pl.coalesce(clock_s(keep[DEADLINE]), number(keep[DEADLINE]))
        log, keep = log.with_columns(found.alias(DEADLINE)), keep | {DEADLINE: DEADLINE}
    kept = kept_of(log, keep, path=source.path, line=rows.line)
    if LINE not in frame.columns:
        return frame.hstack(kept) if frame.height == kept.height else frame
    row_of = {line: row for row, line in enumerate(rows.numbers.tolist())}
    at = [row_of.get(line, -1) for line in frame[LINE].to_list()]
    return frame if -1 in at else frame.hstack(kept[at])


def _unread_deadlines(source: Source, frame: pl.DataFrame, rows: Rows) -> list[str]:
    """A note on cells that say something else than a date or a number."""
    if not {DEADLINE} <= source.keep.keys() & {*frame.columns} or frame.height != rows.frame.height:
        return []
    said = rows.frame.select(text(source.keep[DEADLINE])).to_series()
    lost = said.filter(frame[DEADLINE].is_null() & said.is_not_null())
    if lost.is_empty():
        return []
    return [f"{DEADLINE} that cannot be read, such as {quoted(lost[0])}, and count as none: {len(lost):,}"]


def _check_columns(names: Sequence[str], keep: Keep) -> None:
    """For authors of formats: a misspelt column would be lost without a word."""
    known = (*SCHEMA, "dropped", LINE, *keep)
    missing = [name for name in REQUIRED if name not in names]
    strange = [name for name in names if name.removesuffix(WRITTEN) not in known]
    if missing:
        raise UsageError(f"the trace format gives settle() no column {missing[0]!r} (it gives {', '.join(names)})")
    if strange:
        fix = f"job tables have {', '.join(SCHEMA)}"
        raise UsageError(f"the trace format gives settle() an unknown column {strange[0]!r} ({fix})")


def _since(frame: pl.DataFrame, origin_s: float) -> pl.DataFrame:
    """Makes all clocks count from `origin_s`."""
    return frame.with_columns(
        pl.col(name) - origin_s for name in ("submit_s", *LOGGED, DEADLINE) if name in frame.columns
    )


def _earliest(frame: pl.DataFrame) -> float:
    """The earliest clock that is no slip, so that all others are after it: that is what the rules ask for."""
    return frame.select(pl.col("submit_s").filter(pl.col("submit_s").abs() <= MAX_SUBMIT_S).min()).item() or 0.0


def _nothing_left(source: Source, quality: Quality) -> InputError:
    if quality.rows_read == 0:
        return InputError("there is no job in the file", path=source.path, fix="give a log with at least one job")
    why = "; ".join(f"{n:,} {quality.render_place(reason)}" for reason, n in quality.dropped.items())
    cause = f"no job is left of {counted(quality.rows_read, 'row')}: {why}"
    return InputError(cause, path=source.path, fix="check the columns and units")


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(" ")
