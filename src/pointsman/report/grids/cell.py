"""A cell of a grid: what is kept of it when its runs are not needed any more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointsman.report.comparison import Comparison
from pointsman.report.metrics.comparison_rows import Row, mean_changes
from pointsman.report.metrics.paired.changes import Change, largest_loss
from pointsman.report.pages.lead import featured, who_pays
from pointsman.report.pages.page import assumptions, facts
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
        place = ", ".join(f"{name} {said}" for name, said in self.shown_values().items())
        return f"GridCell({f'{place}: ' if place else ''}{mean_changes(self.rows)})"

    @property
    def label(self) -> str:
        """Its values in a line."""
        return ", ".join(f"load {said}" if name == "load" else said for name, said in self.shown_values().items())

    def shown_values(self) -> dict[str, str]:
        """The values as tables have them."""
        return {name: shown(name, value) for name, value in self.values.items()}


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
    """Adds the group that loses most, which a page names."""
    one = featured(comparison.groups)
    if one is None:
        return cell
    return replace(cell, best=one.label, loser=largest_loss(who_pays(comparison, comparison.groups)))
