"""Any table with a header whose columns are named (``--columns submit_s=Submit,gpus=AllocTRES``;
``docs/guides/bring-your-own-log.md``).
"""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from pointsman.errors import InputError, UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.workload.columns import LOGGED, SCHEMA, TIME_UNITS_S
from pointsman.workload.provenance import Quality
from pointsman.workload.readers.rows import read_rows, split_header
from pointsman.workload.readers.slurm_cells import span_s, tres_gpus
from pointsman.workload.readers.source import Source
from pointsman.workload.readers.trace_cleaning import clock_s, number, settle, status, text

Columns = Mapping[str, str]
"""From a column of the job table to a column of the file."""

DELIMITERS: Final = (",", "|", ";", "\t")


def named(texts: Sequence[str]) -> dict[str, str]:
    """What ``--columns`` says: ``submit_s=Submit,gpus=AllocTRES``, perhaps in several.

    Raises:
        UsageError: a part is no NAME=COLUMN, names no column of ours or one twice, or a required one is missing.
    """
    found: dict[str, str] = {}
    for part in ",".join(texts).split(","):
        ours, equals, theirs = (word.strip() for word in part.partition("="))
        if not (ours and equals and theirs):
            raise UsageError(f"--columns {part!r:.60} is not NAME=COLUMN (as in submit_s=Submit)")
        if ours in found:
            raise UsageError(f"--columns: {ours} is named twice, {found[ours]!r:.60} and {theirs!r:.60}")
        found[ours] = theirs
    check_columns(found)
    return found


def check_columns(found: Columns) -> None:
    """That all are columns of ours, and no required one is missing.

    Raises:
        UsageError: they are not, or one is.
    """
    for ours in found:
        if ours not in SCHEMA:
            raise UsageError(f"--columns: {ours!r:.60} is no column of ours ({did_you_mean(ours, tuple(SCHEMA))})")
    missing = [name for name in ("submit_s", "gpus") if name not in found]
    missing += ["duration_s (or start_s and end_s)"] * ("duration_s" not in found and not set(LOGGED) <= found.keys())
    if missing:
        raise UsageError(
            f"--columns names no {missing[0]}: it replaces the reader of a known format, so it names every column "
            "to read (submit_s=Submit,gpus=AllocTRES,duration_s=ElapsedRaw,queue=Account)"
        )


def read_named(source: Source, columns: Columns, time_unit: str | None = None) -> tuple[pl.DataFrame, Quality]:
    """The job table of a delimited file.

    Times are numbers, of seconds unless `time_unit` says otherwise, or dates (ISO 8601, UTC without an offset); spans
    are such numbers or Slurm's ``D-HH:MM:SS``; GPUs are a number or a list of resources with ``gres/gpu=8``.

    Raises:
        InputError: a column is missing, or no job is left.
    """
    rows = read_rows(source, delimiter=_delimiter(source, columns))
    unit_s = TIME_UNITS_S[time_unit or "s"]
    jobs = rows.select(**{name: _cell(name, column, unit_s) for name, column in columns.items()})
    if "duration_s" not in columns:
        jobs = jobs.with_columns(duration_s=pl.col("end_s") - pl.col("start_s"))
    dates = rows.frame.select(clock_s(columns["submit_s"]).is_not_null().any()).item()
    zone = "as written; UTC where a date names none" if dates else None
    notes = [f"columns as told: {', '.join(f'{ours} = {theirs}' for ours, theirs in columns.items())}"]
    return settle(source, jobs, rows=rows, notes=notes, zone=zone)


def _delimiter(source: Source, columns: Columns) -> str:
    headers = {delimiter: split_header(source, delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: len(headers[delimiter]))
    for theirs in columns.values():
        if theirs not in headers[best]:
            fix = did_you_mean(theirs, headers[best])
            raise InputError(f"there is no column {theirs!r:.60}", path=source.path, line=1, fix=fix)
    return best


def _cell(name: str, column: str, unit_s: float) -> pl.Expr:
    if name in ("submit_s", *LOGGED):
        return _time_s(column, unit_s)
    if name in ("duration_s", "time_limit_s"):
        return pl.coalesce(number(column) * unit_s, span_s(column))
    if name == "gpus":
        return pl.coalesce(number(column), pl.when(text(column).str.contains("=")).then(tres_gpus(column)))
    if name == "status":
        return status(column)
    return text(column) if SCHEMA[name] == pl.String else number(column)


def _time_s(column: str, unit_s: float) -> pl.Expr:
    return pl.coalesce(number(column) * unit_s, clock_s(column))
