"""The tolerant way to react to a broken rule: the row is dropped or its cell changed, and either is counted."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from pointsman.workload.columns import complete
from pointsman.workload.provenance import MOST_LINES, Place
from pointsman.workload.rules.job_rules import RULES, UNIQUE, WRITTEN, Rule, judged, written

LINE: Final = "line"
"""The column, of frames that have it, that says where in the file a row stands."""


@dataclass(frozen=True)
class Cleaned:
    """Rows that keep every rule."""

    jobs: pl.DataFrame
    """In the order of the file, with a `job_id` and all columns that there were but `dropped`; numbers are float64."""
    dropped: dict[str, int]
    """Rows left out, by reason."""
    changed: dict[str, int]
    """Cells changed in the rows that stay, by what was changed."""
    places: dict[str, Place] = field(default_factory=dict)
    """Where the rows stand that are left out, by reason, if the frame knows lines."""


def clean(frame: pl.DataFrame, rules: Iterable[Rule] = RULES) -> Cleaned:
    """The rows of `frame` that keep the rules, rule by rule.

    Args:
        frame: at least the required columns of the schema; numbers may be text. Without `job_id`, rows are numbered
            from 0. A column `dropped` (str, optional) says why rows are to be dropped first; one of `written`, what
            the log has in a cell; `LINE` (int), where a row stands.
        rules: those to apply.
    """
    if "job_id" not in frame.columns:
        frame = frame.with_columns(job_id=pl.int_range(pl.len()).cast(pl.String))
    frame, dropped, places = _without_dropped(frame)
    table, changed = judged(frame), Counter[str]()
    for rule in rules:
        if not rule.applies_to(frame.columns):
            continue
        broken = table.select(rule.broken.fill_null(False)).to_series()
        if count := int(broken.sum()):
            (dropped if rule.cleaned is None else changed)[rule.counted] += count
            if rule.cleaned is None:
                places[rule.counted] = _place(table.filter(broken), rule).after(places.get(rule.counted))
            table = _apply(table, rule, broken)
    # by name, but what depends on other rows comes last
    dropped = dict(sorted(dropped.items(), key=lambda item: (item[0] == UNIQUE.counted, item[0])))
    ours = [name for name in frame.columns if name != LINE]
    jobs = table.select(name for name in ours if not name.endswith(WRITTEN))
    known = {reason: place for reason in dropped if (place := places.get(reason)) and (place.lines or place.cell)}
    return Cleaned(jobs, dropped, dict(changed), known)


def _without_dropped(frame: pl.DataFrame) -> tuple[pl.DataFrame, Counter[str], dict[str, Place]]:
    if "dropped" not in frame.columns:
        return frame, Counter(), {}
    out = frame.filter(pl.col("dropped").is_not_null()).with_columns(pl.col("dropped").cast(pl.String))
    counts = out["dropped"].value_counts()
    reasons = Counter(dict(counts.iter_rows()))
    places = {reason: _place(out.filter(pl.col("dropped") == reason)) for reason in reasons}
    return frame.filter(pl.col("dropped").is_null()).drop("dropped"), reasons, places


def _place(rows: pl.DataFrame, rule: Rule | None = None) -> Place:
    """Where the first of these rows stand, and what cannot be read in the first of all."""
    lines = rows[LINE].head(MOST_LINES).to_list() if LINE in rows.columns else []
    cell = rows[written(rule.column)][0] if rule is not None and rule.unreadable else None
    return Place(tuple(lines), None if cell is None else str(cell))


def _apply(table: pl.DataFrame, rule: Rule, broken: pl.Series) -> pl.DataFrame:
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


def completed(jobs: pl.DataFrame, kept: Iterable[str] = ()) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The complete job table of rows that keep every rule, with the columns `kept` of the log, and a note if they were
    out of order.
    """
    backwards = int((jobs["submit_s"].diff() < 0).sum())
    note = f"rows out of submit order: {backwards:,}; the table is sorted stably by submit_s"
    return complete(jobs, kept), (note,) if backwards else ()
