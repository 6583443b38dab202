"""The tolerant way to react to a broken rule: the row is dropped or its cell changed, and either is counted."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from pointsman.workload.columns import complete
from pointsman.workload.rules.job_rules import RULES, UNIQUE, Rule, judged


@dataclass(frozen=True)
class Cleaned:
    """Rows that keep every rule."""

    jobs: pl.DataFrame
    """In the order of the file, with a `job_id` and all columns that there were but `dropped`; numbers are float64."""
    dropped: dict[str, int]
    """Rows left out, by reason."""
    changed: dict[str, int]
    """Cells changed in the rows that stay, by what was changed."""


def clean(frame: pl.DataFrame, rules: Iterable[Rule] = RULES) -> Cleaned:
    """The rows of `frame` that keep the rules, rule by rule.

    Args:
        frame: at least the required columns of the schema; numbers may be text. Without `job_id`, rows are numbered
            from 0. A column `dropped` (str, optional) says why rows are to be dropped first.
        rules: those to apply.
    """
    if "job_id" not in frame.columns:
        frame = frame.with_columns(job_id=pl.int_range(pl.len()).cast(pl.String))
    frame, dropped = _without_dropped(frame)
    table, changed = judged(frame), Counter[str]()
    for rule in rules:
        if not rule.applies_to(frame.columns):
            continue
        broken = table.select(rule.broken.fill_null(False)).to_series()
        if count := int(broken.sum()):
            (dropped if rule.cleaned is None else changed)[rule.counted] += count
            table = _applied(table, rule, broken)
    # by name, but what depends on other rows comes last
    dropped = dict(sorted(dropped.items(), key=lambda item: (item[0] == UNIQUE.counted, item[0])))
    return Cleaned(table.select(frame.columns), dropped, dict(changed))


def _without_dropped(frame: pl.DataFrame) -> tuple[pl.DataFrame, Counter[str]]:
    if "dropped" not in frame.columns:
        return frame, Counter()
    reasons = frame["dropped"].drop_nulls().cast(pl.String)
    return frame.filter(pl.col("dropped").is_null()).drop("dropped"), Counter(reasons.to_list())


def _applied(table: pl.DataFrame, rule: Rule, broken: pl.Series) -> pl.DataFrame:
    if rule.cleaned is None:
        return table.filter(~broken)
    value = pl.when(broken).then(rule.cleaned).otherwise(pl.col(rule.column))
    emptied = [pl.when(~broken).then(pl.col(name)).alias(name) for name in rule.with_it]
    return table.with_columns(value.alias(rule.column), *emptied)


MOST_NAMED: Final = 20
"""Columns of a log that a note names."""


def not_read(columns: Sequence[str]) -> tuple[str, ...]:
    """A note that these columns of the log are not read; none of none."""
    more = ["..."] if len(columns) > MOST_NAMED else []
    named = ", ".join([*(f"{name:.60}" for name in columns[:MOST_NAMED]), *more])
    return (f"columns not read: {named}",) if columns else ()


def completed(jobs: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The complete job table of rows that keep every rule, and a note if they were out of order."""
    backwards = int((jobs["submit_s"].diff() < 0).sum())
    note = f"rows out of submit order: {backwards:,}; the table is sorted stably by submit_s"
    return complete(jobs), (note,) if backwards else ()
