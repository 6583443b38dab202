"""What people see: data on stdout; notices and progress on stderr, a bar on a terminal, else a line per tenth."""

import os
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

import typer

from pointsman.progress import Progress, bar, is_watched

GAP, NARROW = 2, 24
"""Between columns, and how narrow a column of text may become before later columns are left out."""

_loudness = 0


class Format(StrEnum):
    """How rows are printed."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"

    @property
    def is_data(self) -> bool:
        """Whether programs read it, which want figures as they are."""
        return self in (Format.json, Format.csv)


def set_loudness(*, quiet: bool, verbose: bool) -> None:
    """Say nothing but errors, or say more."""
    global _loudness
    _loudness = verbose - quiet


def is_verbose() -> bool:
    """Whether ``-v`` was given."""
    return _loudness > 0


def note(sentence: str) -> None:
    """Tell the person something on stderr, unless they want quiet."""
    if _loudness >= 0:
        typer.echo(sentence, err=True)


def detail(sentence: str) -> None:
    """Writes a sentence to stderr, only with ``-v``."""
    if is_verbose():
        typer.echo(sentence, err=True)


def can_draw() -> bool:
    """Whether matplotlib is installed, without importing it."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Lines(Progress):
    """A line for each tenth."""

    def __init__(self, name: str) -> None:
        self._name, self._tenths, self._started_s = name, 0, time.monotonic()

    def update(self, share: float, label: str = "") -> None:
        tenths = int(share * 10 + 1e-9)
        if tenths > self._tenths:
            self._tenths = tenths
            note(f"{self._name}: {tenths * 10} % after {time.monotonic() - self._started_s:.0f} s {label}".rstrip())


@contextmanager
def progress(name: str) -> Generator[Progress]:
    """A progress of the kind that fits who is looking."""
    if _loudness < 0:
        yield Progress()
    elif is_watched():
        with bar(name) as one:
            yield one
    else:
        yield _Lines(name)


def show(rows: Sequence[dict[str, Any]], format: Format, *, left: Sequence[str] = ()) -> None:
    """Print rows with equal keys on stdout; columns in `left` are text, and adjusted so in a table."""
    if format is Format.json:
        show_json(rows)
    elif format is Format.csv:
        _show_csv(rows)
    elif format is Format.table:
        _show_table(rows, left)
    elif rows:
        from pointsman.report.tables import markup

        write = markup.markdown if format is Format.markdown else markup.latex
        typer.echo(write(list(rows[0]), [[_cell(value) for value in row.values()] for row in rows], left), nl=False)


def show_json(data: Any) -> None:
    """Print plain data as JSON on stdout."""
    import json

    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, default=str))


def _show_csv(rows: Sequence[dict[str, Any]]) -> None:
    import csv

    if rows:
        writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _show_table(rows: Sequence[dict[str, Any]], left: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(markup=False, highlight=False)
    if not console.is_terminal:  # a file has no edge
        console.width = 1000
    cells = [{key: _cell(value) for key, value in row.items()} for row in rows]
    columns = _columns_that_fit(cells, left, console.width)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for key, least in columns.items():
        table.add_column(key, justify="left" if key in left else "right", no_wrap=key not in left, min_width=least)
    for row in cells:
        table.add_row(*(row[key] for key in columns))
    with console.capture() as capture:
        console.print(table)
    print("\n".join(line.rstrip() for line in capture.get().splitlines()))
    hidden = [key for key in (cells[0] if cells else ()) if key not in columns]
    if hidden:
        note(f"no room for: {', '.join(hidden)} (widen the terminal, or use --format csv)")


def _columns_that_fit(cells: Sequence[dict[str, str]], left: Sequence[str], width: int) -> dict[str, int]:
    """The first columns that find room side by side, and how narrow each may become: figures stay whole."""
    columns: dict[str, int] = {}
    for key in cells[0] if cells else ():
        natural = max(len(key), *(len(row[key]) for row in cells))
        least = min(natural, NARROW) if key in left else natural
        if columns and sum(columns.values()) + GAP * len(columns) + least > width:
            break
        columns[key] = least
    return columns


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
