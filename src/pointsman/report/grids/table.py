"""The table of a grid: the options that vary first, then the columns of a comparison."""

from collections.abc import Sequence

from pointsman.report.grids.grid import Grid
from pointsman.report.tables.equal_columns import without_equal
from pointsman.report.tables.tables import INFORMATION, Table, comparison_cells


def grid_table(grid: Grid) -> Table:
    """A row for each cell and policy."""
    columns, rows = comparison_cells([row for cell in grid.cells for row in cell.rows])
    places = [tuple(cell.said().values()) for cell in grid.cells for _ in cell.rows]
    told = [(*place, *row) for place, row in zip(places, rows, strict=True)]
    note = " ".join(by_cell(grid, [cell.note for cell in grid.cells]))
    whole = Table("", (*grid.varied, *columns), told, note, left=(*grid.varied, "policy", *INFORMATION))
    return without_equal(whole)


def by_cell(grid: Grid, said: Sequence[str]) -> list[str]:
    """What is said of each cell: once where it is the same of all, else with the cells that it is said of."""
    of: dict[str, list[str]] = {}
    for cell, words in zip(grid.cells, said, strict=True):
        of.setdefault(words, []).append(cell.label)
    return [*of] if len(of) == 1 else [f"{'; '.join(cells)}: {words}" for words, cells in of.items()]
