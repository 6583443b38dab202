"""Columns of a log's own that are kept: they follow those of the schema in the job table, typed by what they hold."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

import polars as pl

from pointsman.errors import InputError, UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.messages import quoted
from pointsman.types import DEADLINE
from pointsman.workload.columns import SCHEMA
from pointsman.workload.rules.job_rules import WRITTEN

Keep = Mapping[str, str]
"""From the name that a kept column gets to its name in the log."""

ON_THE_WAY: Final = ("dropped", "line", "clock", "killed", "limited", "milli", "per_node")
"""Columns that the job table has for a while, from reading to the end of a run."""
_WHOLE: Final = r"^[+-]?(0|[1-9][0-9]*)$"
"""What begins with another 0 is an id, not a number."""
_ID: Final = r"^0[0-9]"


def keep_of(given: Iterable[str] | Keep, *, option: str = "columns") -> dict[str, str]:
    """What is kept by ``["deadline_s", "tenant=Account"]``, or by a mapping of the same; messages call it `option`.

    Raises:
        UsageError: a part is no NAME or NAME=COLUMN, a name stands twice, or job tables have another column of it.
    """
    if isinstance(given, str):
        raise UsageError(f"{option} is a list of names, such as [{given!r:.60}]")
    named = list(chain.from_iterable(given.items())) if isinstance(given, Mapping) else list(given)
    if strange := [name for name in named if not isinstance(name, str)]:
        raise UsageError(f"{option}: {quoted(strange[0])} is no name of a column")
    pairs = list(given.items()) if isinstance(given, Mapping) else [_pair(text, option) for text in given]
    found: dict[str, str] = {}
    for ours, theirs in pairs:
        if ours in found:
            raise UsageError(f"{option}: {ours!r:.60} is named twice")
        if ours in SCHEMA or ours in ON_THE_WAY or ours.endswith(WRITTEN):
            whose = (
                "job tables have a column of this name" if ours in SCHEMA else "this name is used while jobs are read"
            )
            raise UsageError(f"{option}: {ours!r:.60} cannot be kept: {whose}; rename it: my_{ours}={theirs:.60}")
        found[ours] = theirs
    return found


def _pair(text: str, option: str) -> tuple[str, str]:
    ours, equals, theirs = (part.strip() for part in text.partition("="))
    if not ours or (equals and not theirs):
        raise UsageError(f"{option}: {text!r:.60} is not NAME or NAME=COLUMN (as in deadline_s or tenant=Account)")
    return ours, theirs or ours


def kept_columns(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the columns of a job table that were kept of the log."""
    return tuple(name for name in names if name not in SCHEMA and name not in ON_THE_WAY)


def check_there(keep: Keep, names: Sequence[str], *, path: str, line: int | None = None) -> None:
    """That the log has the columns to keep.

    Raises:
        InputError: it lacks one; the nearest is named.
    """
    for theirs in keep.values():
        if theirs not in names:
            cause = f"there is no column {quoted(theirs)} to keep"
            raise InputError(cause, path=path, line=line, fix=did_you_mean(theirs, names, limit=20))


def under_their_names(frame: pl.DataFrame, keep: Keep, *, path: str) -> pl.DataFrame:
    """The frame with the columns to keep called as they are in the job table.

    Raises:
        InputError: it lacks one.
    """
    check_there(keep, frame.columns, path=path)
    renamed = [theirs for ours, theirs in keep.items() if theirs != ours and theirs not in {*SCHEMA, *keep}]
    return frame.with_columns(pl.col(theirs).alias(ours) for ours, theirs in keep.items()).drop(renamed)


def kept_of(frame: pl.DataFrame, keep: Keep, *, path: str, line: Callable[[int], int] | None = None) -> pl.DataFrame:
    """The columns to keep of a frame that has them, by their names in the job table: whole numbers, numbers, truths or
    text.

    Names that end in ``_s`` are seconds, and so numbers. Nothing, NaN included, is null.

    Args:
        frame: the log, whose numbers may be text.
        keep: which.
        path: what messages call the log.
        line: from row to line of the file, whose numbers and truths are text; None: columns have their types.

    Raises:
        InputError: a column holds something else, or a cell of seconds is no number.
    """
    typed = {ours: _convert(ours, frame[theirs], path, line) for ours, theirs in keep.items()}
    return pl.DataFrame(typed) if typed else pl.DataFrame(height=frame.height)


def _convert(name: str, cells: pl.Series, path: str, line: Callable[[int], int] | None) -> pl.Series:
    if cells.dtype == pl.Duration:
        return cells.dt.total_microseconds() / 1e6
    if isinstance(cells.dtype, pl.Categorical | pl.Enum):
        cells = cells.cast(pl.String)
    if cells.dtype == pl.String and line is not None:
        cells = _read(name, cells, path, line)
    if cells.dtype == pl.Null:
        return cells.cast(pl.Float64)
    if cells.dtype.is_integer() and not name.endswith("_s"):
        return cells.cast(pl.Int64 if cells.dtype != pl.UInt64 else pl.Float64)
    if cells.dtype.is_numeric():
        return cells.cast(pl.Float64).fill_nan(None)
    if name.endswith("_s") or cells.dtype not in (pl.Boolean, pl.String):
        wanted = "numbers of seconds" if name.endswith("_s") else "numbers, truths or text"
        cause = f"the column {quoted(name)} holds {cells.dtype!s:.60}, not {wanted}"
        raise InputError(cause, path=path, fix=f"convert it; only {DEADLINE} may hold dates, where submit_s does")
    return cells


def _read(name: str, cells: pl.Series, path: str, line: Callable[[int], int]) -> pl.Series:
    """Text as what all of its cells are."""
    cells = cells.str.strip_chars()
    cells = cells.set(cells == "", None)
    numbers = cells.cast(pl.Float64, strict=False)
    wrong = numbers.is_null() & cells.is_not_null()
    if name.endswith("_s") and wrong.any():
        row = int(wrong.arg_max() or 0)
        cause = f"{name} {quoted(cells[row])} is not a number of seconds"
        raise InputError(cause, path=path, line=line(row), fix="correct the cell or leave it empty")
    if name.endswith("_s"):
        return numbers
    if not wrong.any() and not cells.str.contains(_ID).any():
        return cells.cast(pl.Int64) if cells.str.contains(_WHOLE).all() and _is_small(numbers) else numbers
    words = cells.str.to_lowercase()
    return words == "true" if words.is_in(["true", "false"]).all() else cells


def _is_small(numbers: pl.Series) -> bool:
    return bool((numbers.abs() < 2.0**63).all())
