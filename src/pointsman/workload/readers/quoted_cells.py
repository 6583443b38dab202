"""CSV with quotes (RFC 4180), from which a stray quote takes its own line at most."""

import csv
from collections.abc import Iterator
from typing import NamedTuple


class Records(NamedTuple):
    """The rows of a text."""

    rows: list[list[str]]
    lines: list[int]
    """On which each begins, from 1."""
    inner: int
    """Lines that begin no row, for they are inside a quoted cell."""
    broken: list[int]
    """Lines with a quote that does not close its cell."""


def quoted_records(lines: list[str], ends: list[str], delimiter: str, width: int) -> Records:
    """The rows of these lines, of which each has its end: a cell keeps the line breaks that are in its quotes.

    A quoted cell may hold delimiters and line breaks. Where that makes a row of another `width`, of several lines, or
    none at all, its first line has a stray quote: that line is a row as it stands, and the next begins another.
    """
    found = Records([], [], 0, [])
    at, inner = 0, 0
    while at < len(lines):
        for end, row in _rows(lines, ends, at, delimiter):
            if end > at + 1 and len(row) != width:
                break
            found.rows.append(row)
            found.lines.append(at + 1)
            inner += end - at - 1
            at = end
        if at < len(lines):
            found.rows.append(lines[at].split(delimiter))
            found.lines.append(at + 1)
            found.broken.append(at + 1)
            at += 1
    return found._replace(inner=inner)


def _rows(lines: list[str], ends: list[str], at: int, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows from line `at` on, each with the line after it, up to the first with broken quotes."""
    reader = csv.reader((lines[k] + ends[k] for k in range(at, len(lines))), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield at + reader.line_num, row
    except csv.Error:
        return
