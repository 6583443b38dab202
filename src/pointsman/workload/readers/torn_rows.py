"""Rows that text of users' own has torn: delimiters or line breaks in a job's name, in its comment, in its command.

Columns beside such a one are found from the left and from the right. Where several columns are of that kind, what they
may hold is told by the form of the cells between them (`sacct_fields`); a row that can be read in two ways is lost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from math import comb
from typing import Final

import polars as pl

from pointsman.workload.readers.sacct_fields import ASKED, fits, is_free

MOST_LINES: Final = 200
"""Lines of one row."""
MOST_READINGS: Final = 3_000
"""Ways to read one row that are tried."""
IDS: Final = ("JobID", "JobIDRaw")
FEW_VALUES: Final = ("User", "Account", "Partition", "QOS", "Cluster", "State")
"""Columns whose values stand in many rows."""


@dataclass
class Mended:
    """What odd lines were."""

    rows: list[list[str]] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    """On which line each row that was put together begins, from 0."""
    lost: list[int] = field(default_factory=list)
    """Lines with a row that cannot be read."""
    inner: list[int] = field(default_factory=list)
    """Further lines of a row."""
    strange: list[int] = field(default_factory=list)
    """Lines that are no part of any row."""
    blank: list[int] = field(default_factory=list)
    """Lines with nothing but white space."""


class Vocabulary:
    """What the sound rows have in columns of few values; asked where a row can be read in several ways."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self._rows = rows
        self._values: dict[str, set[str | None]] = {}

    def has(self, name: str, cell: str) -> bool:
        """Whether a row has this cell in this column; also where the column is not one of few values."""
        if name not in FEW_VALUES or name not in self._rows.columns:
            return True
        if name not in self._values:
            self._values[name] = set(self._rows[name].unique().to_list())
        return (cell or None) in self._values[name]


def mended(odd: dict[int, str], names: Sequence[str], delimiter: str, known: Vocabulary) -> Mended:
    """Put rows together from odd lines, by number from 0; those of one row follow each other."""
    found = Mended()
    for run in _runs(sorted(odd)):
        at = 0
        while at < len(run):
            at = _next_row(run, at, odd, names, delimiter, known, found)
    return found


def _runs(numbers: list[int]) -> Iterator[list[int]]:
    """Stretches of lines that follow each other."""
    begin = 0
    for k in range(1, len(numbers) + 1):
        if k == len(numbers) or numbers[k] != numbers[k - 1] + 1:
            yield numbers[begin:k]
            begin = k


def _next_row(
    run: list[int], at: int, odd: dict[int, str], names: Sequence[str], delimiter: str, known: Vocabulary, found: Mended
) -> int:
    """Read the row that begins with line `at` of the run, if one does; where to go on."""
    text, cells = "", list[str]()
    may_begin = is_free(names[0]) or _begins(odd[run[at]].split(delimiter), names)
    for end in range(at, min(at + MOST_LINES, len(run)) if may_begin else at):
        if end > at and _is_another(odd[run[end]].split(delimiter), len(cells), names):
            break  # also what keeps this linear where each of many rows has a cell too few
        text = f"{text}\n{odd[run[end]]}" if end > at else odd[run[at]]
        cells = text.split(delimiter)
        if len(cells) < len(names):
            continue
        row = None if cells[-1] else _reading(cells[:-1], names, known)  # a delimiter ends the row
        row = row or _reading(cells, names, known)
        if row is not None:
            found.rows.append(row)
            found.at.append(run[at])
            found.inner += run[at + 1 : end + 1]
            return end + 1
        if not _begins(cells, names):
            break
    _set_aside(run[at], odd[run[at]], names, delimiter, found)
    return at + 1


def _set_aside(line: int, text: str, names: Sequence[str], delimiter: str, found: Mended) -> None:
    """Note a line of which no row could be made."""
    cells = text.split(delimiter)
    if not text.strip():
        found.blank.append(line)
    elif _begins(cells, names) or len(cells) >= len(names):
        found.lost.append(line)
    elif is_free(names[-1]) or line - 1 in (*found.lost[-1:], *found.inner[-1:]):
        found.inner.append(line)
    else:
        found.strange.append(line)


def _begins(cells: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the first cells, up to an id or to free text, look like those of a row."""
    known = []
    for name, cell in zip(names, cells, strict=False):
        if is_free(name):
            break
        known.append(fits(name, cell))
        if name in IDS:
            break
    return len(cells) > 1 and all(known)


def _is_another(cells: Sequence[str], before: int, names: Sequence[str]) -> bool:
    """Whether a line is of another row than the lines before it, which have `before` cells: it has most cells of one
    and the id in front, or both have all cells of one.
    """
    most = names[0] in IDS and 2 * len(cells) > len(names) and fits(names[0], cells[0])
    return most or min(before, len(cells)) >= len(names)


def _reading(cells: list[str], names: Sequence[str], known: Vocabulary) -> list[str] | None:
    """The row's cells, one a name; None if there is none, or more than one way to find those that are read."""
    free = [k for k, name in enumerate(names) if is_free(name)]
    more = len(cells) - len(names)
    if more <= 0:
        return cells if not more and _sound(cells, names) else None
    if not free or comb(more + len(free) - 1, more) > MOST_READINGS:
        return None
    joined = (_join_cells(cells, len(names), chosen) for chosen in combinations_with_replacement(free, more))
    found = [row for row in joined if _sound(row, names)]
    if _differ(found, names):
        found = [row for row in found if all(map(known.has, names, row))]
    return found[0] if found and not _differ(found, names) else None


def _join_cells(cells: list[str], width: int, chosen: Sequence[int]) -> list[str]:
    row, at = [], 0
    for column in range(width):
        end = at + 1 + chosen.count(column)
        row.append("|".join(cells[at:end]))
        at = end
    return row


def _sound(row: list[str], names: Sequence[str]) -> bool:
    return all(fits(name, cell) for name, cell in zip(names, row, strict=True))


def _differ(rows: list[list[str]], names: Sequence[str]) -> bool:
    """Whether rows differ in what is read of them."""
    read = [k for k, name in enumerate(names) if name in ASKED]
    return len({tuple(row[k] for k in read) for row in rows}) > 1
