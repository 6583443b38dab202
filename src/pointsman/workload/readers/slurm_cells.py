"""Cells as Slurm writes them: ids of steps, and spans of time."""

from typing import Final

import polars as pl

from pointsman.workload.readers.cells import text

STEP: Final = (
    r"^\s*(?<job>[0-9]+(?:_[0-9]+)?(?:\+[0-9]+)?)\.(?<step>batch|extern|interactive|TBD|[0-9]+(?:\+[0-9]+)?)\s*$"
)
"""The id of a step of a job: `801.batch`, `801.extern`, `801_4.0`."""


def is_step(job_id: pl.Expr) -> pl.Expr:
    """Whether an id is that of a step of a job."""
    return job_id.str.contains(STEP).fill_null(False)


_UNITS_S = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}
_SPANS = (
    r"^(?<days>[0-9]+)-(?<hours>[0-9]+)(?::(?<minutes>[0-9]+))?(?::(?<seconds>[0-9]+))?(?:\.[0-9]+)?$",
    r"^(?:(?<hours>[0-9]+):)?(?<minutes>[0-9]+):(?<seconds>[0-9]+)(?:\.[0-9]+)?$",
    r"^(?<minutes>[0-9]+)$",
)


def span_s(column: str) -> pl.Expr:
    """Slurm's `D-HH[:MM[:SS]]`, `[HH:]MM:SS` or `MM` in seconds; null for UNLIMITED and the like."""
    return pl.coalesce(_written_s(text(column), span) for span in _SPANS)


def _written_s(value: pl.Expr, span: str) -> pl.Expr:
    parts = value.str.extract_groups(span)
    told = {unit: seconds for unit, seconds in _UNITS_S.items() if f"<{unit}>" in span}
    terms = [parts.struct.field(unit).cast(pl.Float64, strict=False) * seconds for unit, seconds in told.items()]
    return pl.when(value.str.contains(span)).then(pl.sum_horizontal(terms))
