"""The strict way to react to a broken rule: the first cell that breaks one refuses the whole table."""

from collections.abc import Callable
from typing import Final

import polars as pl

from pointsman.errors import InputError
from pointsman.inputs.messages import quoted
from pointsman.workload.columns import SHAPE
from pointsman.workload.rules.job_rules import NUMBERS, RULES, UNIQUE, Rule, judged

_ORDER: Final = (*(name for name in NUMBERS if name not in SHAPE), "preemptible", "job_id", *SHAPE)
"""Which of several broken cells of a row is named: a shape only if nothing is wrong with what it must agree with."""


def refuse(frame: pl.DataFrame, *, path: str, line: Callable[[int], int] | None = None) -> pl.DataFrame:
    """`frame` with its numbers as float64, if no row breaks a rule; the first that does is named.

    Args:
        frame: columns of the schema; numbers may be text.
        path: what the message calls the table.
        line: from row to line of the file; without it the message counts rows from 1.

    Raises:
        InputError: a row breaks a rule; with its place, the cell, what is wrong with it and the fix.
    """
    table = judged(frame)
    rules = [rule for rule in RULES if rule.refused and rule.applies_to(frame.columns)]
    flags = table.select(rule.broken.any().alias(str(i)) for i, rule in enumerate(rules)).row(0)
    broken = [rule for rule, flag in zip(rules, flags, strict=True) if flag]
    if broken:
        places = [(_first_row(table, rule), _ORDER.index(rule.column)) for rule in broken]
        first = min(places)
        raise _error(frame, broken[places.index(first)], first[0], path, line)
    return table.select(frame.columns)


def _first_row(table: pl.DataFrame, rule: Rule) -> int:
    return int(table.select(rule.broken.fill_null(False).arg_max()).item())


def _error(frame: pl.DataFrame, rule: Rule, row: int, path: str, line: Callable[[int], int] | None) -> InputError:
    cell = frame[rule.column][row]
    cause = f"{rule.column} {'' if cell is None else quoted(cell) + ' '}{rule.what}"
    if rule is UNIQUE:
        before = int((frame[rule.column] == cell).arg_max() or 0)
        cause += f", first in row {before + 1}" if line is None else f", first in line {line(before)}"
    if line is None:
        return InputError(f"row {row + 1}: {cause}", path=path, fix=rule.fix)
    return InputError(cause, path=path, line=line(row), fix=rule.fix)
