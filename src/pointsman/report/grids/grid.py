"""A grid of cells, as tables and files show it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pointsman.inputs.messages import counted
from pointsman.report.as_table import AsTable
from pointsman.report.grids.cell import GridCell
from pointsman.report.grids.table import grid_table
from pointsman.report.metrics.comparison_rows import as_csv, record
from pointsman.report.tables.tables import Table


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

    def _table(self) -> Table:
        return grid_table(self.cells)

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
