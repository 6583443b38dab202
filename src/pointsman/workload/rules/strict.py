"""The rules of native job tables: the first cell that breaks one refuses the whole table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

import polars as pl

from pointsman.errors import InputError
from pointsman.inputs.messages import quoted
from pointsman.workload.columns import ALIASES, MAX_DURATION_S, MAX_GPUS, MAX_SUBMIT_S, REQUIRED, SCHEMA, complete
from pointsman.workload.provenance import Quality

NUMBERS: Final = tuple(name for name, dtype in SCHEMA.items() if dtype.is_numeric())
_MAX_EXACT: Final = float(1 << 53)
"""From here on float64 does not know every whole number, so a cell may have been rounded."""

_CORRECT: Final = "correct the cell or leave the row out"
_OPTIONAL: Final = "correct the cell or leave it empty"


@dataclass(frozen=True)
class _Rule:
    """A reason to refuse a number: `breaks` is true where it is broken."""

    what: str
    breaks: Callable[[pl.Expr], pl.Expr]
    fix: str


_FINITE: Final = (
    _Rule("is NaN", lambda x: x.is_nan(), _CORRECT),
    _Rule("is infinite or too large", lambda x: x.is_infinite(), _CORRECT),
)
_NEGATIVE: Final = _Rule("is negative", lambda x: x < 0, _CORRECT)
_WHOLE: Final = _Rule("is not a whole number", lambda x: x != x.floor(), "write it without a fraction")
_LONG: Final = _Rule(
    "is longer than 31 years", lambda x: x > MAX_DURATION_S, "durations are in seconds; are these milliseconds?"
)

RULES: Final[dict[str, tuple[_Rule, ...]]] = {
    "submit_s": (
        *_FINITE,
        _NEGATIVE,
        _Rule("is too large", lambda x: x > MAX_SUBMIT_S, "times are in seconds; are these milliseconds?"),
    ),
    "gpus": (
        *_FINITE,
        _NEGATIVE,
        _Rule("is not a whole number", lambda x: x != x.floor(), "put a part of one GPU in the column `fraction`"),
        _Rule(f"is more than {MAX_GPUS:,}", lambda x: x > MAX_GPUS, _CORRECT),
    ),
    "duration_s": (*_FINITE, _NEGATIVE, _LONG),
    "batch_size": (
        *_FINITE,
        _WHOLE,
        _Rule("is not from 1 to 2^53 - 1", lambda x: (x < 1) | (x >= _MAX_EXACT), _OPTIONAL),
    ),
    "fraction": (*_FINITE, _Rule("is not above 0 and at most 1", lambda x: (x <= 0) | (x > 1), _OPTIONAL)),
    "time_limit_s": (
        *_FINITE,
        _Rule("is not positive", lambda x: x <= 0, "leave it empty where there is no limit"),
        _LONG,
    ),
    "priority": (
        *_FINITE,
        _WHOLE,
        _Rule("is beyond ±(2^53 - 1)", lambda x: x.abs() >= _MAX_EXACT, "only their order counts: use less"),
    ),
}


def validated(
    frame: pl.DataFrame,
    *,
    path: str,
    line: Callable[[int], int] | None = None,
    text_numbers: bool = False,
) -> tuple[pl.DataFrame, Quality]:
    """The complete, sorted job table of a native frame, and its quality report.

    Args:
        frame: at least `submit_s`, `gpus`, `duration_s`; other columns of the schema where known.
        path: what messages call the table.
        line: from row to line of the file; without it messages count rows from 1.
        text_numbers: whether numbers may come as strings (CSV).

    Raises:
        InputError: a column or a cell breaks a rule, or no job is left.
    """
    ignored = check_columns(frame.columns, path=path)
    known = frame.select(name for name in SCHEMA if name in frame.columns)
    if known.height == 0:
        raise InputError("there is no row under the header", path=path, fix="give at least one job")
    table = _numbers(_texts(known, path), path, line, text_numbers)
    table = _identified(table, path, line)
    kept = table.filter(pl.col("gpus") > 0)
    if kept.height == 0:
        raise InputError("every job asks for 0 GPUs", path=path, fix="nothing is left to simulate")
    backwards = int((kept["submit_s"].diff() < 0).sum())
    zero = table.height - kept.height
    notes = _notes(backwards, ignored)
    quality = Quality(table.height, kept.height, {"asks for 0 GPUs": zero} if zero else {}, {}, notes)
    return complete(kept), quality


def check_columns(names: Sequence[str], *, path: str) -> list[str]:
    """Columns that are not ours, to be ignored.

    Raises:
        InputError: a required column is missing, or a name looks like a misspelt one of ours.
    """
    absent = [name for name in SCHEMA if name not in names]
    strange = [name for name in names if name not in SCHEMA]
    meant = {name: target for name in strange if (target := _meant(name, absent))}
    missing = [name for name in REQUIRED if name in absent]
    if missing:
        hints = [f"is {quoted(name)} meant to be {target!r}?" for name, target in meant.items() if target in missing]
        fix = "; ".join(hints) or f"the columns are {_listed(names)}; see docs/formats/native.md"
        plural = "s" if len(missing) > 1 else ""
        raise InputError(f"the column{plural} {', '.join(missing)} must be there", path=path, line=1, fix=fix)
    for name, target in meant.items():
        raise InputError(f"unknown column {quoted(name)}", path=path, line=1, fix=f"did you mean {target!r}?")
    return strange


def _listed(names: Sequence[str]) -> str:
    return ", ".join([*(f"{name:.60}" for name in names[:20]), *(["..."] if len(names) > 20 else [])])


def _meant(name: str, absent: list[str]) -> str | None:
    word = name.strip().lower()
    if ALIASES.get(word) in absent:
        return ALIASES[word]
    stem = {target.removesuffix("_s"): target for target in absent}
    candidates = list(dict.fromkeys([*absent, *stem]))
    near = get_close_matches(word, candidates, 1, cutoff=0.75)
    return stem.get(near[0], near[0]) if near else None


def _texts(frame: pl.DataFrame, path: str) -> pl.DataFrame:
    names = [name for name in frame.columns if name not in NUMBERS and frame.schema[name] != pl.String]
    for name in names:
        try:
            frame = frame.with_columns(pl.col(name).cast(pl.String))
        except pl.exceptions.PolarsError:
            cause = f"the column {name} holds {frame.schema[name]!s:.60}, not text"
            raise InputError(cause, path=path, line=1, fix="store it as text") from None
    return frame


def _numbers(frame: pl.DataFrame, path: str, line: Callable[[int], int] | None, text_numbers: bool) -> pl.DataFrame:
    names = [name for name in NUMBERS if name in frame.columns]
    for name in names:
        dtype = frame.schema[name]
        if not (dtype.is_numeric() or dtype == pl.Null or (text_numbers and dtype == pl.String)):
            raise InputError(
                f"the column {name} holds {dtype!s:.60}, not numbers", path=path, fix="store it as a number"
            )
    table = frame.with_columns(_number(name, frame.schema[name]) for name in names)
    broken = _broken(frame, table, names)
    flags = table.select(expr.any().alias(str(i)) for i, (_, _, expr) in enumerate(broken)).row(0)
    if any(flags):
        raise _first_error(frame, table, [b for b, flag in zip(broken, flags, strict=True) if flag], path, line)
    return table


def _number(name: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(name).str.strip_chars() if dtype == pl.String else pl.col(name)
    return column.cast(pl.Float64, strict=False)


def _broken(frame: pl.DataFrame, table: pl.DataFrame, names: list[str]) -> list[tuple[str, _Rule, pl.Expr]]:
    found = []
    for name in names:
        value = pl.col(name)
        text = pl.lit(frame[name].is_not_null()) & value.is_null()
        found.append((name, _Rule("is not a number", lambda x: x, _CORRECT if name in REQUIRED else _OPTIONAL), text))
        if name in REQUIRED:
            found.append((name, _Rule("is empty", lambda x: x, "give every job one"), pl.lit(frame[name].is_null())))
        found += [(name, rule, rule.breaks(value).fill_null(False)) for rule in RULES[name]]
    return found


def _first_error(
    frame: pl.DataFrame,
    table: pl.DataFrame,
    broken: list[tuple[str, _Rule, pl.Expr]],
    path: str,
    line: Callable[[int], int] | None,
) -> InputError:
    firsts = [int(table.select(expr.arg_max()).item()) for _, _, expr in broken]
    row = min(firsts)
    name, rule, _ = broken[firsts.index(row)]
    cell = frame[name][row]
    return _error(f"{name} {'' if cell is None else quoted(cell) + ' '}{rule.what}", row, path, line, rule.fix)


def _error(cause: str, row: int, path: str, line: Callable[[int], int] | None, fix: str) -> InputError:
    if line is None:
        return InputError(f"row {row + 1}: {cause}", path=path, fix=fix)
    return InputError(cause, path=path, line=line(row), fix=fix)


def _identified(table: pl.DataFrame, path: str, line: Callable[[int], int] | None) -> pl.DataFrame:
    """With unique ids: those of the table, or else the rows numbered from 0."""
    if "job_id" not in table.columns:
        return table.with_columns(job_id=pl.int_range(pl.len()).cast(pl.String))
    ids = table["job_id"]
    if ids.null_count():
        row = int(ids.is_null().arg_max() or 0)
        raise _error("job_id is empty", row, path, line, "name every job, or leave the column out")
    # different hashes mean different ids, and are quicker to compare; equal ones may be chance
    if ids.hash().n_unique() < table.height and ids.n_unique() < table.height:
        row = int((~ids.is_first_distinct()).arg_max() or 0)
        first = int((ids == ids[row]).arg_max() or 0)
        where = f"row {first + 1}" if line is None else f"line {line(first)}"
        raise _error(
            f"job_id {quoted(ids[row])} stands twice, first in {where}", row, path, line, "make the ids unique"
        )
    return table


def _notes(backwards: int, ignored: list[str]) -> tuple[str, ...]:
    notes = []
    if backwards:
        notes.append(f"rows out of submit order: {backwards:,}; the table is sorted stably by submit_s")
    if ignored:
        notes.append(f"columns ignored: {_listed(ignored)}")
    return tuple(notes)
