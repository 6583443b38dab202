"""The table of a grid: the options that vary first, then the columns of a comparison."""

from collections.abc import Sequence

from pointsman.report.grids.grid import Grid
from pointsman.report.tables.equal_columns import without_equal
from pointsman.report.tables.tables import INFORMATION, Table, comparison_cells
from pointsman.report.units import attributed


def grid_table(grid: Grid) -> Table:
    """A row for each cell and policy."""
    columns, rows = comparison_cells([row for cell in grid.cells for row in cell.rows])
    places = [tuple(cell.said().values()) for cell in grid.cells for _ in cell.rows]
    told = [(*place, *row) for place, row in zip(places, rows, strict=True)]
    note = " ".join([*by_cell(grid, [[cell.note, cell.oversized] for cell in grid.cells]), *_unlike_jobs(grid)])
    whole = Table("", (*grid.varied, *columns), told, note, left=(*grid.varied, "policy", *INFORMATION))
    return without_equal(whole)


def by_cell(grid: Grid, said: Sequence[Sequence[str]]) -> list[str]:
    """The sentences about each cell: those about all of them as they are, others with the cells that they are about."""
    return attributed([cell.label for cell in grid.cells], said, between="; ")


def _unlike_jobs(grid: Grid) -> list[str]:
    """A warning, where cells lack, or have narrower, different jobs."""
    alike = len({cell.oversized for cell in grid.cells}) == 1
    return [] if alike else ["Caution: cells do not have the same jobs, so compare policies within a cell only."]
