"""Delimited text as a frame of strings, with the line that each row came from."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.errors import InputError
from pointsman.inputs.messages import quoted
from pointsman.workload.columns import REQUIRED
from pointsman.workload.readers.cells import clock_s, number, text
from pointsman.workload.readers.quoted_cells import Records, quoted_records
from pointsman.workload.readers.slurm_cells import span_s
from pointsman.workload.readers.source import Source
from pointsman.workload.rules.job_rules import written

MOST_HEADER = 1 << 18
"""Characters of a header; a longer line is something else, such as JSON."""
QUOTING = (",", ";")
"""Delimiters of CSV, whose cells may be quoted (RFC 4180). Tables with bars or tabs between their cells have no quotes:
what looks like one belongs to the cell. The exception is a table whose header quotes its names."""


@dataclass(frozen=True)
class Rows:
    """Rows of text cells (empty = null). `lines` is None where row i stands on line i + `first_line`."""

    frame: pl.DataFrame
    lines: Sequence[int] | NDArray[np.int64] | None = None
    ragged: Sequence[int] = ()
    """Lines with too few or too many cells; they are not in `frame`."""
    first_line: int = 2
    read: set[str] = field(default_factory=set)
    """Columns that a reader has asked for."""
    others: Mapping[str, int] | None = None
    """Lines of the file that begin no row, by what they are, such as the header. None: not known."""
    total: int | None = None
    """Lines of the file, where what ends one is not the usual."""
    records: int | None = None
    """How many rows a file without lines has."""
    broken_quotes: Sequence[int] = ()
    """Lines with a quote that does not close its cell; it was taken for a part of the cell."""
    notes: Sequence[str] = ()
    """What was unusual about the lines, a sentence each."""

    @property
    def unread(self) -> list[str]:
        """Columns that no reader has asked for, in order."""
        return [name for name in self.frame.columns if name not in self.read]

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The line of each row."""
        if self.lines is None:
            return np.arange(self.first_line, self.first_line + self.frame.height, dtype=np.int64)
        return np.asarray(self.lines, np.int64)

    def select(self, *unnamed: pl.Expr, **columns: pl.Expr) -> pl.DataFrame:
        """Columns made of those of the file, which count as read; where one that jobs must have could not be made, a
        column beside it (`written`) says of what.
        """
        expressions = (*unnamed, *columns.values())
        self.read.update(name for expression in expressions for name in expression.meta.root_names())
        made = self.frame.select(*unnamed, **columns)
        unread = {
            written(name): _unread(columns[name].meta.root_names())
            for name in REQUIRED
            if name in columns and made[name].null_count() and columns[name].meta.root_names()
        }
        return made.with_columns(self.frame.select(**unread)) if unread else made

    def line(self, row: int) -> int:
        return self.first_line + row if self.lines is None else int(self.lines[row])

    def counted_apart(self, source: Source) -> int | None:
        """How many rows the file has: its lines, less those that begin none, or its `records`; None if not known."""
        if self.others is None:
            return self.records
        return (line_count(source.utf8) if self.total is None else self.total) - sum(self.others.values())


def line_count(data: bytes) -> int:
    """Lines of a text, without empty ones at its end."""
    data = data.rstrip(b"\r\n")
    return data.count(b"\n") + 1 + (data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else 0)


def text_lines(source: Source) -> list[str]:
    """Lines of a text without their ends, whatever these are, and without empty ones at the end of the file."""
    return source.text.rstrip("\r\n").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _unread(roots: Sequence[str]) -> pl.Expr:
    """The first of these cells that holds something; of several, something that is no number, date or span of time."""
    if len(roots) == 1:
        return text(roots[0])
    odd = [pl.when(pl.coalesce(number(name), clock_s(name), span_s(name)).is_null()).then(text(name)) for name in roots]
    return pl.coalesce(odd)


def split_header(source: Source, delimiter: str = ",") -> list[str]:
    """Column names of the first line, stripped; `[]` if that line is no delimited text."""
    header = source.first_line
    return names_of(header, delimiter) if len(header) <= MOST_HEADER else []


def names_of(header: str, delimiter: str) -> list[str]:
    """The cells of a header line, stripped; `[]` if the line is no delimited text."""
    if not has_quotes(header, delimiter):
        return [name.strip() for name in header.split(delimiter)]
    try:
        return [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    except csv.Error:
        return []


def has_quotes(header: str, delimiter: str) -> bool:
    """Whether quotes around cells are no part of them."""
    return delimiter in QUOTING or (len(delimiter) == 1 and header.lstrip().startswith('"'))


def has_columns(source: Source, *names: str) -> bool:
    """Whether the first line is a CSV header with all of `names`."""
    return set(names) <= set(split_header(source))


def read_rows(source: Source, columns: Sequence[str] | None = None, delimiter: str = ",") -> Rows:
    """The rows under the header line; with `columns`, the file has no header and these are its names.

    Raises:
        InputError: a name that stands twice in the header.
    """
    header = columns is None
    names = split_header(source, delimiter) if columns is None else list(columns)
    if len(set(names)) < len(names):
        (twice, _), *_ = Counter(names).most_common(1)
        cause = f"the column {quoted(twice)} stands twice in the header"
        raise InputError(cause, path=source.path, line=1, fix="rename one of them")
    quotes = has_quotes(source.first_line, delimiter)
    data = source.utf8.rstrip(b"\r\n")
    lines = data.count(b"\n") + 1
    separators = data.count(delimiter.encode())
    plain = not (quotes and b'"' in data) and (b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"))
    if plain and len(names) > 1 and separators == lines * (len(names) - 1):
        try:
            frame = _polars_rows(data, names, header, delimiter)
        except (pl.exceptions.ComputeError, pl.exceptions.SchemaError):
            pass  # short rows made up for long ones: find them one by one
        else:
            return Rows(frame, first_line=2 if header else 1, others={"header": int(header)})
    return _python_rows(source, names, header, delimiter, quotes)


def _polars_rows(data: bytes, names: list[str], header: bool, delimiter: str) -> pl.DataFrame:
    return pl.read_csv(
        data,
        has_header=header,
        new_columns=names,
        separator=delimiter,
        quote_char=None,
        infer_schema=False,
        raise_if_empty=False,
    )


def _python_rows(source: Source, names: list[str], header: bool, delimiter: str, quotes: bool) -> Rows:
    lines = text_lines(source)
    found = quoted_records(lines, delimiter, len(names)) if quotes else _bare(lines, delimiter)
    whole = [len(row) == len(names) for row in found.rows]
    if header:
        whole[0] = False
    good = [row for row, fits in zip(found.rows, whole, strict=True) if fits]
    frame = pl.DataFrame(good, schema=dict.fromkeys(names, pl.String), orient="row")
    kept = [line for line, fits in zip(found.lines, whole, strict=True) if fits]
    ragged = [line for line, fits in zip(found.lines[header:], whole[header:], strict=True) if not fits]
    others = {"header": int(header), "inside a quoted cell": found.inner}
    at = f"line {found.broken[0]:,}" if found.broken else ""
    stray = f"quotes that do not close their cell, taken for a part of it: {len(found.broken):,}, the first in {at}"
    return Rows(
        frame.with_columns(pl.all().replace("", None)),
        kept,
        ragged,
        others=others,
        broken_quotes=found.broken,
        notes=[stray] if found.broken else [],
    )


def _bare(lines: list[str], delimiter: str) -> Records:
    return Records([line.split(delimiter) for line in lines], list(range(1, len(lines) + 1)), 0, [])
