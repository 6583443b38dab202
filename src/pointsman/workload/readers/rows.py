"""Delimited text as a frame of strings, with the line that each row came from."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from pointsman.errors import InputError
from pointsman.inputs.messages import quoted
from pointsman.workload.readers.source import Source


@dataclass(frozen=True)
class Rows:
    """Rows of text cells (empty = null). `lines` is None where row i stands on line i + `first_line`."""

    frame: pl.DataFrame
    lines: Sequence[int] | None = None
    ragged: Sequence[int] = ()
    """Lines with too few or too many cells; they are not in `frame`."""
    first_line: int = 2
    read: set[str] = field(default_factory=set)
    """Columns that a reader has asked for."""

    @property
    def unread(self) -> list[str]:
        """Columns that no reader has asked for, in order."""
        return [name for name in self.frame.columns if name not in self.read]

    def select(self, *unnamed: pl.Expr, **columns: pl.Expr) -> pl.DataFrame:
        """Columns made of those of the file, which count as read."""
        expressions = (*unnamed, *columns.values())
        self.read.update(name for expression in expressions for name in expression.meta.root_names())
        return self.frame.select(*unnamed, **columns)

    def line(self, row: int) -> int:
        return self.lines[row] if self.lines is not None else row + self.first_line


def split_header(source: Source, delimiter: str = ",") -> list[str]:
    """Column names of the first line, stripped; `[]` if that line is no delimited text."""
    try:
        return [name.strip() for name in next(csv.reader([source.first_line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def has_columns(source: Source, *names: str) -> bool:
    """Whether the first line is a CSV header with all of `names`."""
    return set(names) <= set(split_header(source))


def read_rows(source: Source, columns: Sequence[str] | None = None, delimiter: str = ",") -> Rows:
    """The rows under the header line; with `columns`, the file has no header and these are its names.

    Raises:
        InputError: a quote that is never closed, a name that stands twice in the header.
    """
    header = columns is None
    names = split_header(source, delimiter) if columns is None else list(columns)
    if len(set(names)) < len(names):
        (twice, _), *_ = Counter(names).most_common(1)
        cause = f"the column {quoted(twice)} stands twice in the header"
        raise InputError(cause, path=source.path, line=1, fix="rename one of them")
    data = source.utf8.rstrip(b"\r\n")
    lines = data.count(b"\n") + 1
    separators = data.count(delimiter.encode())
    plain = b'"' not in data and (b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"))
    if plain and len(names) > 1 and separators == lines * (len(names) - 1):
        try:
            return Rows(_polars_rows(data, names, header, delimiter), first_line=2 if header else 1)
        except (pl.exceptions.ComputeError, pl.exceptions.SchemaError):
            pass  # short rows made up for long ones: find them one by one
    return _python_rows(source, names, header, delimiter)


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


def _python_rows(source: Source, names: list[str], header: bool, delimiter: str) -> Rows:
    reader = csv.reader(io.StringIO(source.text, newline=""), delimiter=delimiter, strict=True)
    good: list[list[str]] = []
    lines: list[int] = []
    ragged: list[int] = []
    start = 1
    try:
        for number, row in enumerate(reader):
            line, start = start, reader.line_num + 1
            if header and number == 0:
                continue
            if len(row) == len(names):
                good.append(row)
                lines.append(line)
            else:
                ragged.append(line)
    except csv.Error as error:
        fix = "is a quote left open? one that belongs to a cell is doubled"
        raise InputError(f"broken quoting: {error}", path=source.path, line=start, fix=fix) from None
    ragged = [line for line in ragged if line < start - _blank_tail(source)]
    frame = pl.DataFrame(good, schema=dict.fromkeys(names, pl.String), orient="row")
    return Rows(frame.with_columns(pl.all().replace("", None)), lines, ragged)


def _blank_tail(source: Source) -> int:
    data = source.utf8
    tail = data[len(data.rstrip(b"\r\n")) :]
    return max(tail.count(b"\n") - 1, 0)
