"""A grid: what is kept of each cell when its runs are not needed any more."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointsman.inputs.messages import counted
from pointsman.report.as_table import AsTable
from pointsman.report.metrics.comparison import Comparison, Row, as_csv, mean_changes, record
from pointsman.report.metrics.paired.changes import Change, largest_loss
from pointsman.report.pages.lead import featured
from pointsman.report.pages.page import assumptions, facts, who_pays
from pointsman.report.tables.oversized import oversized
from pointsman.report.tables.settings import overheads_of
from pointsman.report.tables.tables import comparison_note

UNSET: Mapping[str, str] = {"load": "the log's own", "estimate": "as required"}
"""What is said of an option that a cell leaves open."""

SHARES = np.linspace(0, 1, 201)
"""Where the distribution of completion times is read."""


@dataclass(frozen=True, repr=False)
class GridCell:
    """One combination of the options that vary, and what became of each policy there."""

    values: Mapping[str, Any]
    """The options that vary, and their values here."""
    rows: list[Row]
    """The policies; the first is the baseline."""
    gpus: int
    load: float | None
    """Offered load; None: all jobs are submitted at once."""
    jct_s: Mapping[str, NDArray[np.float64]]
    """Completion times of each policy's counted jobs, at `SHARES`."""
    facts: Sequence[tuple[str, str]]
    assumptions: Sequence[str]
    note: str
    oversized: str
    """What became of jobs that were too wide; empty if none were."""
    best: str = ""
    """The policy that is compared with the baseline first; empty where none is."""
    loser: Change | None = None
    """The largest group of jobs that loses under it."""

    def __repr__(self) -> str:
        """``GridCell(load 0.9, cluster 8x8: fifo, gittins -12.3 %)``: mean JCT against the baseline."""
        place = ", ".join(f"{name} {said}" for name, said in self.said().items())
        return f"GridCell({f'{place}: ' if place else ''}{mean_changes(self.rows)})"

    @property
    def label(self) -> str:
        """Its values in a line."""
        return ", ".join(f"load {said}" if name == "load" else said for name, said in self.said().items())

    def said(self) -> dict[str, str]:
        """The values as tables have them."""
        return {name: shown(name, value) for name, value in self.values.items()}


@dataclass(frozen=True, repr=False)
class Grid(AsTable):
    """The cells of one experiment, in order: the last option varies fastest."""

    cells: Sequence[GridCell]

    def __repr__(self) -> str:
        """``Grid(3 policies in 6 cells: load, cluster)``; ``Grid(3 policies)``."""
        policies = counted(len(self.policies), "policy", "policies")
        return (
            f"Grid({policies} in {counted(len(self.cells), 'cell')}: {', '.join(self.varied)})"
            if self.varied
            else f"Grid({policies})"
        )

    def _table(self) -> Any:
        return import_module("pointsman.report.grids.table").grid_table(self)

    @property
    def varied(self) -> tuple[str, ...]:
        """The options of which there are several values."""
        return tuple(self.cells[0].values)

    @property
    def policies(self) -> list[str]:
        """Every policy, in the order of the cells."""
        return list(dict.fromkeys(row.policy for cell in self.cells for row in cell.rows))

    def values_of(self, option: str) -> list[Any]:
        """The values of an option, each once."""
        return list(dict.fromkeys(cell.values[option] for cell in self.cells))

    def records(self) -> list[dict[str, Any]]:
        """The rows of ``grid.csv``: a row for each cell and policy, the options that vary first."""
        return [{**cell.values, **record(row)} for cell in self.cells for row in cell.rows]

    def to_csv(self) -> str:
        """As CSV text."""
        return as_csv(self.records())

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        cells = [
            {**cell.values, "baseline": cell.rows[0].policy, "rows": [asdict(row) for row in cell.rows]}
            for cell in self.cells
        ]
        return {"varied": {name: self.values_of(name) for name in self.varied}, "cells": cells}

    def to_json(self) -> str:
        """As JSON text."""
        return json.dumps(self.to_dict(), indent=1) + "\n"


def shown(option: str, value: Any) -> str:
    """A value of an option as people read it."""
    if value is None:
        return UNSET[option]
    return f"{value:g}" if isinstance(value, float) else str(value)


def cell_of(values: Mapping[str, Any], comparison: Comparison) -> GridCell:
    """What is kept of a comparison; its runs are not."""
    first = comparison.groups[0].first
    times = {group.label: group.values("jct_s") for group in comparison.groups}
    return GridCell(
        values=values,
        rows=comparison.rows,
        gpus=first.gpus,
        load=first.summary["load"],
        jct_s={label: np.quantile(found, SHARES) for label, found in times.items() if found.size},
        facts=facts(comparison.groups),
        assumptions=assumptions(comparison.groups),
        note=f"{comparison_note(comparison)} Overheads: {overheads_of(comparison.groups)}.",
        oversized=oversized(comparison.groups),
    )


def with_loser(cell: GridCell, comparison: Comparison) -> GridCell:
    """The same with the group that loses most, which a page names."""
    one = featured(comparison.groups)
    if one is None:
        return cell
    return replace(cell, best=one.label, loser=largest_loss(who_pays(comparison, comparison.groups)))
