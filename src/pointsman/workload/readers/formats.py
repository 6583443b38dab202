"""The trace formats: one dict, found by what a file holds; plug-ins add theirs by an entry point.

A plug-in names a `TraceFormat` in the entry point group ``pointsman.traces``.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Final

import polars as pl

from pointsman.errors import InputError, PointsmanError, UsageError
from pointsman.workload.provenance import Quality
from pointsman.workload.readers.row_count import RowsLostError
from pointsman.workload.readers.source import Source
from pointsman.workload.readers.trace_format import TraceFormat

READERS: Final = (
    "parquet", "arrow", "gathered", "philly_json", "philly_csv", "itp", "helios", "acme", "openb", "spot", "pai",
    "pollux", "tiresias", "kubernetes", "batsim", "native_csv", "sacct", "swf", "gavel",
)  # fmt: skip
"""Modules of `pointsman.workload.readers`, each with a `FORMAT`; detection asks them in this order."""


@cache
def formats() -> dict[str, TraceFormat]:
    """Every format by name, in the order in which detection asks: plug-ins can claim a text file before ours.

    Raises:
        UsageError: a plug-in that cannot be imported.
    """
    return {form.name: form for form in _load_formats()}


def _load_formats() -> Iterator[TraceFormat]:
    """Yield the formats; each is imported when detection comes to it."""
    yield from map(_ours, READERS[:2])
    yield from _plugins()
    yield from map(_ours, READERS[2:])


def _ours(name: str) -> TraceFormat:
    return import_module(f"pointsman.workload.readers.{name}").FORMAT


@cache
def _plugins() -> list[TraceFormat]:
    found = []
    for point in entry_points(group="pointsman.traces"):
        try:
            form = point.load()
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            raise UsageError(f"the trace format plug-in {point.name!r} cannot be loaded: {cause}") from error
        if not isinstance(form, TraceFormat):
            raise UsageError(f"the trace format plug-in {point.name!r} names no TraceFormat: {point.value}")
        found.append(form)
    return found


def format_named(name: str) -> TraceFormat:
    """The format called `name`.

    Raises:
        UsageError: there is none.
    """
    from difflib import get_close_matches

    known = formats()
    if name in known:
        return known[name]
    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"formats: {', '.join(known)}"
    raise UsageError(f"unknown trace format {name!r} ({hint})")


def detected(source: Source) -> TraceFormat:
    """The format that `source` is in, by its content.

    Raises:
        InputError: it is something else, named where we know it.
    """
    for form in _load_formats():
        with _name_plug_in(form):
            if form.matches(source):
                return form
    from pointsman.workload.readers.rejected_formats import refusal

    fix = (
        "a native file has a header with submit_s,gpus,duration_s; `pointsman trace formats` lists the others; of any "
        "other table name the columns: --columns submit_s=…,gpus=…,duration_s=…"
    )
    raise refusal(source) or InputError("not a job log of a known format", path=source.path, line=1, fix=fix)


def table_of(form: TraceFormat, source: Source, **options: Any) -> tuple[pl.DataFrame, Quality]:
    """What `form` reads from `source`.

    Raises:
        InputError: the log is not sound.
        UsageError: a plug-in that fails.
    """
    try:
        with _name_plug_in(form):
            jobs, quality = form.read(source, **options)
    except RowsLostError as error:
        raise RowsLostError(f"the reader of {form.name} lost count of {source.path}: {error}") from error
    return jobs, replace(quality, notes=(*quality.notes, source.replaced)) if source.replaced else quality


@contextmanager
def _name_plug_in(form: TraceFormat) -> Generator[None]:
    """An error in the code of a plug-in is not ours: say whose it is."""
    try:
        yield
    except (PointsmanError, pl.exceptions.ColumnNotFoundError, OSError, MemoryError):
        raise
    except Exception as error:
        if form.read.__module__.startswith("pointsman."):
            raise
        cause = f"{type(error).__name__}: {error}"
        raise UsageError(f"the trace format {form.name!r} failed: {cause} (--debug shows where)") from error
