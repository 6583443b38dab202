"""Rows of a CSV file of measurements; every complaint has file, line, cause and fix."""

import csv
from collections.abc import Iterator, Sequence
from math import inf, isfinite, isnan, nan
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

from pointsman.errors import InputError, UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.messages import counted
from pointsman.speed.profiles.catalogue import Catalogue

ABOUT: Final = (
    "precision", "rounds", "disturbed", "spread", "reason", "device", "driver", "versions", "mode", "clock_mhz",
    "measured_at",
)  # fmt: skip
"""How a row was measured, as ``pointsman measure`` says it of every row. A row with a `reason` has failed."""
ENVIRONMENT: Final = ("device", "driver", "versions", "mode", "precision")
"""Columns in which rows of one GPU type agree: rows of one GPU type are fitted together."""
SPREAD_LIMIT: Final = 0.05
"""A row is unsteady if its rounds differ by more than this share (ours)."""


def spread_of(text: str) -> float:
    """The number in a cell ``spread``; 0 if it is empty, infinity if an edited one says something else."""
    try:
        spread = float(text or 0)
    except ValueError:
        return inf
    return inf if isnan(spread) else spread


class Columns(NamedTuple):
    """The columns of a kind of file, in any order."""

    required: tuple[str, ...]
    optional: tuple[str, ...]
    about: tuple[str, ...] = ABOUT
    """Allowed, and not fitted."""


class Row:
    """The cells of a line, by column."""

    def __init__(self, header: Sequence[str], cells: Sequence[str], path: str, line: int) -> None:
        self._path, self.line = path, line
        if len(cells) != len(header):
            has = f"{counted(len(cells), 'cell')} under {counted(len(header), 'column')}"
            raise self.wrong(has, "give each column one cell")
        self._cells = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}

    def has(self, column: str) -> bool:
        """Whether the cell is there and not empty."""
        return bool(self._cells.get(column))

    @property
    def is_unsteady(self) -> bool:
        """Whether its rounds differ by more than the default limit."""
        return spread_of(self._cells.get("spread", "")) > SPREAD_LIMIT

    def text(self, column: str) -> str:
        """What a required cell says."""
        if not self._cells[column]:
            raise self.wrong(f"{column} is empty", "name it in every row")
        return self._cells[column]

    def count(self, column: str) -> int:
        """A whole number from 1."""
        number = self.number(column)
        if number != int(number) or number > 1e6:
            raise self.wrong(f"{column} is {self._cells[column]!r}", "a whole number, 1 to 1000000")
        return int(number)

    def is_whole(self, column: str) -> bool:
        """Whether the batch whose parts this column counts is not cut, or the column says nothing."""
        return not self.has(column) or self.count(column) == 1

    def number(self, column: str, *, least: float | None = None, optional: bool = False) -> float:
        """A finite number above 0, or at least `least`; NaN for what is optional and not there."""
        text = self._cells.get(column, "")
        if optional and not text:
            return nan
        try:
            number = float(text)
        except ValueError:
            number = nan
        if not isfinite(number) or (number <= 0 if least is None else number < least):
            raise self.wrong(f"{column} is {text!r}", f"a number {'above 0' if least is None else f'from {least:g}'}")
        return number

    def gpu_type(self, catalogue: Catalogue) -> str:
        """The catalogue's name of the GPU type."""
        name = self.text("gpu_type")
        try:
            return catalogue.gpu_name(name)
        except UsageError:
            fix = f"{did_you_mean(name, catalogue.gpu_types)}; --profiles FILE describes another"
            raise self.wrong(f"unknown GPU type {name!r}", fix) from None

    def wrong(self, cause: str, fix: str) -> InputError:
        """The error that says so of this line."""
        return InputError(cause, path=self._path, line=self.line, fix=fix)


def read_rows(path: str | Path, columns: Columns) -> list[Row]:
    """The rows of a CSV file with these columns; empty lines, and rows that say why they failed, are passed over.

    Raises:
        InputError: it cannot be read, has no rows, a column or a cell too many or too few, or rows of one GPU type that
            were measured in different environments.
    """
    with _open(path) as file:
        try:
            rows = list(_rows(csv.reader(file, strict=True), str(path), columns))
        except UnicodeDecodeError:
            raise InputError("binary data, not UTF-8 text", path=path, fix="give a CSV file") from None
    if not rows:
        raise InputError("no measurements: only a header", path=path)
    measured = [row for row in rows if not row.has("reason")]
    if not measured:
        raise rows[0].wrong("no measurements: every row has a reason why it failed", "measure again")
    _check_environments(measured)
    return measured


def _check_environments(rows: Sequence[Row]) -> None:
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        for column in filter(row.has, ENVIRONMENT):
            other = first.setdefault((row.text("gpu_type"), column), row)
            if row.text(column) != other.text(column):
                raise row.wrong(
                    f"{column} is {row.text(column)!r} here and {other.text(column)!r} on line {other.line}",
                    "rows of one GPU type are fitted together; put those of each environment into a file of their own",
                )


def _open(path: str | Path) -> TextIO:
    try:
        return Path(path).open(encoding="utf-8-sig", newline="")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None


def _rows(lines: Any, path: str, columns: Columns) -> Iterator[Row]:
    header: list[str] | None = None
    while True:
        try:
            cells = next(lines, None)
        except csv.Error as error:
            raise InputError(f"not valid CSV: {error}", path=path, line=lines.line_num) from None
        if cells is None:
            break
        if not any(cell.strip() for cell in cells):
            continue
        if header is None:
            header = _header(cells, path, lines.line_num, columns)
        else:
            yield Row(header, cells, path, lines.line_num)
    if header is None:
        raise InputError("the file is empty", path=path, fix=f"its header is {','.join(columns.required)}")


def _header(cells: Sequence[str], path: str, line: int, columns: Columns) -> list[str]:
    names = [cell.strip() for cell in cells]
    known = columns.required + columns.optional + columns.about
    for i, name in enumerate(names):
        if name not in known:
            raise InputError(f"unknown column {name!r}", path=path, line=line, fix=did_you_mean(name, known))
        if name in names[:i]:
            raise InputError(f"column {name!r} is there twice", path=path, line=line, fix="leave one out")
    for name in columns.required:
        if name not in names:
            fix = f"columns: {', '.join(columns.required)}; optional: {', '.join(columns.optional)}"
            raise InputError(f"no column {name!r}", path=path, line=line, fix=fix)
    return names
