"""Read a job log of any known format into a job table."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from pointsman.errors import InputError, RunError, UsageError
from pointsman.inputs.messages import described
from pointsman.workload.columns import ALIASES, SCHEMA, TIME_UNITS_S, columns_named
from pointsman.workload.provenance import Provenance, Quality
from pointsman.workload.readers.day_month import ORDERS
from pointsman.workload.readers.formats import detected, format_named, formats, table_of
from pointsman.workload.readers.named_columns import STEPS, Columns, check_columns, read_named
from pointsman.workload.readers.origin import recalled
from pointsman.workload.readers.source import Source, open_source
from pointsman.workload.readers.trace_format import TraceFormat
from pointsman.workload.rules.kept_columns import Keep, keep_of
from pointsman.workload.table import Workload
from pointsman.workload.transforms.runaways import CHOICES, Choice, without_runaways

BY_COLUMNS = "columns"
"""What the format of a table is called whose columns are named."""

_ALLOWED: Final = {"time_unit": tuple(TIME_UNITS_S), "date_order": ORDERS, "steps": STEPS}
"""Options of readers with few values."""

Filter = Mapping[str, str | Sequence[str]]
"""From a column of the job table (or an alias, `vc`) to the value, or values, to keep."""


def read_workload(
    path: str | Path,
    *,
    format: str | None = None,
    only: Filter | None = None,
    columns: Columns | None = None,
    keep_columns: Iterable[str] | Keep = (),
    runaways: Choice | None = None,
    ignore: Sequence[str] = (),
    command: str = "",
    **options: Any,
) -> Workload:
    """The jobs of a log, with its quality report and provenance.

    Args:
        path: a file, plain, gzip or zstd; `-` is standard input.
        format: the format's name; by default it is found from what the file holds.
        only: keep only jobs with these values, e.g. `{"vc": "cluster04"}` or `{"status": "completed"}`
            (case of letters does not matter); others count as dropped.
        columns: from our columns to those of a table of any kind, e.g. `{"submit_s": "Submit", "gpus": "GPUs",
            "duration_s": "Elapsed"}`; instead of a format.
        keep_columns: columns of the log's own to keep, which policies and tables see: names, `NAME=COLUMN` where the
            log calls them something else, or a mapping of the same.
        runaways: whether to `keep` or `drop` jobs that are still running far beyond their time limit; None drops
            those beyond ten times their limit (`transforms/runaways.py`).
        ignore: columns to leave out, as if the log did not have them; `shape` stands for both of a shape.
        command: what the provenance records as the command.
        options: what the reader takes besides: `throughputs` for Gavel, `time_unit` (ms, s, min or h) for lists of the
            Tiresias simulator and for tables whose columns are named, `date_order` (dmy or mdy) for `sacct` and for
            such tables, `steps` (drop or keep) for the latter.

    Raises:
        InputError: unreadable, truncated, binary or empty file; unknown format; broken rule; nothing left.
        UsageError: unknown format name, option, filter column or filter value; a plug-in that fails.
        RunError: there is not enough memory.
    """
    if not isinstance(path, str | Path):
        raise UsageError(f"read_workload takes a file, not {described(path)}; Workload.of takes a table")
    if format is not None and columns:
        raise UsageError(f"columns are named for a table of any kind: leave out the format {format!r}")
    form = None if format is None else format_named(format)
    try:
        source = open_source(path, keep_of(keep_columns, option="keep_columns"))
    except MemoryError:
        raise RunError(f"{path}: there is not enough memory to unpack it") from None
    form = _by_columns(columns) if columns else form or detected(source)
    _check_options(form, options)
    if runaways not in (None, *CHOICES):
        raise UsageError(f"runaways = {runaways!r:.60}: it must be one of {', '.join(CHOICES)}")
    if ignore and "ignore" in form.options:  # a strict reader would refuse what nobody wants
        options["ignore"] = columns_named(ignore)
    try:
        jobs, quality = table_of(form, source, **options)
    except pl.exceptions.ColumnNotFoundError as error:
        raise _lacks(error, source, form) from None
    except MemoryError:
        raise RunError(f"{path}: there is not enough memory for this log; keep fewer of its jobs") from None
    _check_kept(source, form, jobs)
    quality, origin = recalled(source, quality) if source.is_parquet else (quality, None)
    kept = {column: [values] if isinstance(values, str) else list(values) for column, values in (only or {}).items()}
    told = ", ".join(f"{column}={','.join(values)}" for column, values in kept.items())
    workload = Workload(jobs, quality, Provenance(str(path), source.sha256, form.name, command, origin, told))
    workload = without_runaways(workload, runaways)
    for column, values in kept.items():
        workload = _filter(workload, column, values)
    return workload.without(ignore) if ignore else workload


def takes_time_unit(format: str) -> bool:
    """Whether the reader of a format is told the unit of the log's times."""
    return format == BY_COLUMNS or (format in formats() and "time_unit" in formats()[format].options)


def _by_columns(columns: Columns) -> TraceFormat:
    check_columns(columns)

    def read(source: Source, **options: Any) -> tuple[pl.DataFrame, Quality]:
        return read_named(source, columns, **options)

    return TraceFormat(
        BY_COLUMNS, "a table", lambda source: True, read, frozenset({"time_unit", "date_order", "steps"})
    )


def filters(texts: Sequence[str]) -> dict[str, list[str]]:
    """From `--only` texts, `vc=cluster04` or a bare status, `completed`, to what `read_workload` takes as `only`.

    The same column twice, or values with commas between, keep jobs with any of the values.

    Raises:
        UsageError: a text without a column or a value.
    """
    only: dict[str, list[str]] = {}
    for text in texts:
        column, equals, values = text.partition("=")
        column, values = (column.strip(), values) if equals else ("status", column)
        wanted = [value.strip() for value in values.split(",") if value.strip()]
        if not column or not wanted:
            raise UsageError(f"--only {text!r} is not COLUMN=VALUE (as in vc=cluster04) or a status (completed)")
        only.setdefault(column, []).extend(wanted)
    return only


def _lacks(error: Exception, source: Source, form: TraceFormat) -> InputError:
    """A file forced into a format whose columns it does not have."""
    quoted = re.search(r'"([^"]+)"', str(error))
    column = quoted.group(1) if quoted else "?"
    fix = "leave the format to detection"
    return InputError(f"no {form.name} log: the column {column!r} is missing", path=source.path, line=1, fix=fix)


def _check_kept(source: Source, form: TraceFormat, jobs: pl.DataFrame) -> None:
    """Formats that make one job of several rows, or have no rows, cannot tell which row a job's columns are in."""
    if lost := [name for name in source.keep if name not in jobs.columns]:
        raise UsageError(
            f"keep_columns: {lost[0]!r:.60} cannot be kept of a log of the format {form.name}: "
            "'pointsman trace convert' makes a native table of it, to which you can add the column"
        )


def _check_options(form: TraceFormat, options: Mapping[str, Any]) -> None:
    unknown = sorted(set(options) - form.options)
    if unknown:
        takes = ", ".join(sorted(form.options)) or "none"
        raise UsageError(f"the {form.name} reader takes no option {unknown[0]!r} (its options: {takes})")
    for name, allowed in _ALLOWED.items():
        if name in options and options[name] not in allowed:
            raise UsageError(f"{name} = {options[name]!r:.60}: it must be one of {', '.join(allowed)}")


def _filter(workload: Workload, column: str, wanted: list[str]) -> Workload:
    from difflib import get_close_matches

    name = column if column in workload.jobs.columns else ALIASES.get(column, column)
    if name not in workload.jobs.columns:
        near = get_close_matches(column, [*SCHEMA, *ALIASES], 1)
        hint = f"did you mean {near[0]!r}?" if near else f"columns: {', '.join(SCHEMA)}"
        raise UsageError(f"cannot keep only jobs by {column!r}: there is no such column ({hint})")
    values = workload.jobs[name].cast(pl.String).str.to_lowercase()
    kept = workload.jobs.filter(values.is_in([value.lower() for value in wanted]).fill_null(False))
    if kept.height == 0:
        seen = workload.jobs[name].drop_nulls().unique().sort().cast(pl.String).head(12).to_list()
        have = f"it has {', '.join(f'{value:.60}' for value in seen)}" if seen else "the log does not record it"
        raise UsageError(f"no job has {column}={','.join(wanted)} ({have})")
    return workload.with_jobs(kept, reason=f"not {name}={','.join(wanted)}")
