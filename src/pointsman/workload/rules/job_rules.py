"""The rules of a job table, each defined once: `refuse` and `clean` are the two ways to react.

A new rule is a `Rule` in `RULES`, and a row in `tests/workload/test_rules.py`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import polars as pl

from pointsman.types import NO_GPU
from pointsman.workload.columns import (
    FALSE,
    MAX_DURATION_S,
    MAX_GPUS,
    MAX_SUBMIT_S,
    REQUIRED,
    SCHEMA,
    SHAPE,
    TRUE,
    plain_word,
)

NUMBERS: Final = tuple(name for name, dtype in SCHEMA.items() if dtype.is_numeric())
WRITTEN: Final = " as written"
"""What the name of a column ends in that holds cells as the log has them."""
_MAX_WHOLE: Final = float((1 << 53) - 1)
"""Beyond it float64 does not know every whole number, so a cell may have been rounded."""


@dataclass(frozen=True, eq=False)
class Rule:
    """What a cell must not be."""

    column: str
    what: str
    """What is wrong with the cell, after its name and value: `is negative`."""
    broken: pl.Expr
    """True where it is; on a frame of `judged`."""
    fix: str
    """What to do about it."""
    counted: str
    """How cleaning counts the rows that it drops or changes."""
    cleaned: pl.Expr | None = None
    """What cleaning puts in the cell's place; None drops the row."""
    unreadable: bool = False
    """Whether there is something in the cell, and it is no value of the column."""
    refused: bool = True
    """False: nothing is wrong with such a row but that it is no job to simulate, so native tables drop it, too."""
    with_it: tuple[str, ...] = ()
    """Columns that mean nothing without the cell: cleaning empties them too."""

    def applies_to(self, columns: Collection[str]) -> bool:
        """Whether a table with these columns has all those that the rule compares."""
        compared = {name.removesuffix(WRITTEN) for name in self.broken.meta.root_names()}
        return {self.column, *compared} <= set(columns)


def judged(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with its number columns as float64, null where they hold something else, and all cells as written.

    A column named by `written` says what stands in the log where the reader could not read it.
    """
    given = [name for name in frame.columns if name.endswith(WRITTEN)]
    frame, told = frame.drop(given), frame.select(given)
    numbers = frame.with_columns(_number(frame[name]) for name in NUMBERS if name in frame.columns)
    own = frame.rename(written)
    cells = own.with_columns(told[name].cast(pl.String).fill_null(own[name].cast(pl.String)) for name in given)
    return pl.concat([numbers, cells], how="horizontal")


def written(column: str) -> str:
    """What the column is called that holds the cells of `column` as the log has them."""
    return f"{column}{WRITTEN}"


def _number(cells: pl.Series) -> pl.Series:
    found = cells.cast(pl.Float64, strict=False)
    if cells.dtype == pl.String and found.null_count() > cells.null_count():  # there may be blanks around some
        return cells.str.strip_chars().cast(pl.Float64, strict=False)
    return found


_CORRECT: Final = "correct the cell or leave the row out"
_OPTIONAL: Final = "correct the cell or leave it empty"
_EMPTY: Final = pl.lit(None)
_MILLISECONDS: Final = "times are in seconds; are these milliseconds?"
_LATEST_S: Final = MAX_SUBMIT_S + MAX_DURATION_S
_ROUNDING_S: Final = 0.001
"""A run counts whole milliseconds, so its start may be written before a submit time with more digits."""

_submit, _gpus, _run, _id = (pl.col(name) for name in ("submit_s", "gpus", "duration_s", "job_id"))
_start, _end = pl.col("start_s"), pl.col("end_s")
_batch, _fraction, _limit, _priority = (pl.col(name) for name in ("batch_size", "fraction", "time_limit_s", "priority"))
_nodes, _per_node = (pl.col(name) for name in SHAPE)


def _rules_of_number(column: str, counted: str, unreadable: str = "") -> list[Rule]:
    """There is a finite number in the cell, or, in an optional column, nothing; `unreadable` is how text is counted,
    if not as no value.
    """
    value, cell = pl.col(column), pl.col(written(column))
    required = column in REQUIRED
    cleaned = None if required else _EMPTY
    text = value.is_null() & cell.is_not_null()
    fix = _CORRECT if required else _OPTIONAL
    rules = [Rule(column, "is not a number", text, fix, unreadable or counted, cleaned, unreadable=True)]
    if required:
        rules.append(Rule(column, "is empty", cell.is_null(), "give every job one", counted))
    rules.append(Rule(column, "is NaN", value.is_nan(), _CORRECT, counted, cleaned))
    large = "is infinite or too large"
    rules.append(Rule(column, large, value.is_infinite(), _CORRECT, unreadable or counted, cleaned, unreadable=True))
    return rules


def _part_of_shape(column: str, words: str) -> list[Rule]:
    """A number of nodes, or of GPUs on each, is whole and at least 1."""
    cell = pl.col(column)
    return [
        *_rules_of_number(column, f"unreadable {words} left out"),
        Rule(
            column,
            "is not a whole number",
            cell != cell.floor(),
            "write it without a fraction",
            f"fractional {words} left out",
            _EMPTY,
        ),
        Rule(column, "is less than 1", cell < 1, _OPTIONAL, f"{words} below 1 left out", _EMPTY),
    ]


def _is_repeated(ids: pl.Series) -> pl.Series:
    """Where an id stands that a row above has."""
    # different hashes mean different ids, and are quicker to compare; equal ones may be chance
    if ids.hash().n_unique() == ids.len():
        return pl.repeat(False, ids.len(), dtype=pl.Boolean, eager=True)
    return ~ids.is_first_distinct()


UNIQUE: Final = Rule(
    "job_id",
    "stands twice",
    _id.map_batches(_is_repeated, return_dtype=pl.Boolean),
    "make the ids unique",
    "job id seen before",
)

RULES: Final = (
    *_rules_of_number("gpus", "no GPU count", "GPU count cannot be read"),
    Rule("gpus", "is 0", _gpus == 0, "", NO_GPU, refused=False),
    Rule("gpus", "is negative", _gpus < 0, _CORRECT, "negative GPU count"),
    Rule(
        "gpus",
        "is not a whole number",
        _gpus != _gpus.floor(),
        "put a part of one GPU in the column `fraction`",
        "fractional GPU count",
    ),
    Rule("gpus", f"is more than {MAX_GPUS:,}", _gpus > MAX_GPUS, _CORRECT, f"more than {MAX_GPUS:,} GPUs"),
    *_rules_of_number("submit_s", "no submit time", "submit time cannot be read"),
    *_rules_of_number("duration_s", "no run time", "run time cannot be read"),
    Rule("duration_s", "is negative", _run < 0, _CORRECT, "negative run time"),
    Rule(
        "duration_s",
        "is longer than 31 years",
        _run > MAX_DURATION_S,
        "durations are in seconds; are these milliseconds?",
        "run time over 31 years",
    ),
    Rule("submit_s", "is negative", _submit < 0, _CORRECT, "negative submit time"),
    Rule(
        "submit_s",
        "is too large",
        _submit > MAX_SUBMIT_S,
        _MILLISECONDS,
        "submit time out of range",
    ),
    Rule(
        "job_id",
        "is empty",
        _id.is_null() | (_id.cast(pl.String) == ""),
        "name every job, or leave the column out",
        "no job id",
    ),
    UNIQUE,
    *_rules_of_number("batch_size", "unreadable batch size left out"),
    Rule(
        "batch_size",
        "is not a whole number",
        _batch != _batch.floor(),
        "write it without a fraction",
        "fractional batch size left out",
        _EMPTY,
    ),
    Rule(
        "batch_size",
        "is not from 1 to 2^53 - 1",
        ~_batch.is_between(1, _MAX_WHOLE),
        _OPTIONAL,
        "batch size not from 1 to 2^53 - 1 left out",
        _EMPTY,
    ),
    *_part_of_shape("nodes_requested", "number of nodes"),
    *_part_of_shape("gpus_per_node", "number of GPUs per node"),
    Rule(
        "gpus_per_node",
        "times nodes_requested is not gpus",
        (_gpus > 0) & (_nodes * _per_node != _gpus),
        "correct one of the three, or leave the shape out by --ignore shape",
        "shape that contradicts the number of GPUs left out",
        _EMPTY,
        with_it=("nodes_requested",),
    ),
    Rule(
        "nodes_requested",
        "does not divide gpus",
        (_gpus > 0) & (_gpus % _nodes != 0),
        "the nodes of a gang have equally many GPUs: leave the cell empty, or the shape out by --ignore shape",
        "shape of nodes with different numbers of GPUs left out",
        _EMPTY,
    ),
    Rule(
        "gpus_per_node",
        "does not divide gpus",
        (_gpus > 0) & (_gpus % _per_node != 0),
        "the nodes of a gang have equally many GPUs: leave the cell empty, or the shape out by --ignore shape",
        "shape whose GPUs per node do not divide its GPUs left out",
        _EMPTY,
    ),
    *_rules_of_number("fraction", "unreadable fraction left out"),
    Rule(
        "fraction",
        "is not above 0 and at most 1",
        ~_fraction.is_between(0, 1, closed="right"),
        _OPTIONAL,
        "fraction not above 0 and at most 1 left out",
        _EMPTY,
    ),
    *_rules_of_number("time_limit_s", "unreadable time limit left out"),
    Rule(
        "time_limit_s",
        "is not positive",
        _limit <= 0,
        "leave it empty where there is no limit",
        "time limit not positive left out",
        _EMPTY,
    ),
    Rule(
        "time_limit_s",
        "is longer than 31 years",
        _limit > MAX_DURATION_S,
        "durations are in seconds; are these milliseconds?",
        "time limit over 31 years cut to that",
        pl.lit(MAX_DURATION_S),
    ),
    *_rules_of_number("priority", "unreadable priority set to 0"),
    Rule(
        "priority",
        "is not a whole number",
        _priority != _priority.floor(),
        "write it without a fraction",
        "fractional priority set to 0",
        _EMPTY,
    ),
    Rule(
        "priority",
        "is beyond ±(2^53 - 1)",
        _priority.abs() > _MAX_WHOLE,
        "only their order counts: use less",
        "priority cut to ±(2^53 - 1)",
        _priority.clip(-_MAX_WHOLE, _MAX_WHOLE),
    ),
    Rule(
        "preemptible",
        "is not true or false",
        ~plain_word("preemptible").is_in([*TRUE, *FALSE]),
        "write true or false, or leave it empty",
        "unreadable preemptible left out, so the job may be preempted",
        _EMPTY,
    ),
    *_rules_of_number("start_s", "unreadable start left out"),
    Rule(
        "start_s",
        "is before submit_s",
        _start < _submit - _ROUNDING_S,
        _OPTIONAL,
        "start before submission left out",
        _EMPTY,
    ),
    Rule("start_s", "is too large", _start > _LATEST_S, _MILLISECONDS, "start out of range left out", _EMPTY),
    *_rules_of_number("end_s", "unreadable end left out"),
    Rule("end_s", "is before submit_s", _end < _submit - _ROUNDING_S, _OPTIONAL, "end before start left out", _EMPTY),
    Rule("end_s", "is before start_s", _end < _start - _ROUNDING_S, _OPTIONAL, "end before start left out", _EMPTY),
    Rule("end_s", "is too large", _end > _LATEST_S, _MILLISECONDS, "end out of range left out", _EMPTY),
)
"""In the order in which cleaning applies them: a row is counted under the first that drops it."""
