"""Sums and means of floats that are the same to the last bit on any machine: Polars adds each chunk of a column by
itself, and filters, joins and expressions of many rows leave as many chunks as there are threads. In `group_by` it adds
up each thread's rows of a group by themselves, unless a quantile or the like is asked for beside.
"""

from collections.abc import Sequence

import polars as pl


def total(values: pl.Series) -> float:
    """The sum; of nothing 0."""
    return float(values.rechunk().sum())


def total_of(frame: pl.DataFrame, of: pl.Expr) -> float:
    """The sum of an expression over the rows."""
    return total(frame.select(of).to_series())


def mean(values: pl.Series) -> float | None:
    """The mean of what is not null; None if nothing is."""
    found = values.rechunk().mean()
    return None if found is None else float(found)  # ty: ignore


def in_groups(frame: pl.DataFrame, by: Sequence[str], *columns: str) -> pl.DataFrame:
    """One row a group, in the order of the first rows: its `columns` as lists, to be added up in the order of rows."""
    return frame.group_by(by, maintain_order=True).agg(columns)
