"""The table of a grid: the options that vary first, then the columns of a comparison."""

from collections.abc import Sequence

from pointsman.report.grids.cell import GridCell
from pointsman.report.tables.equal_columns import without_equal
from pointsman.report.tables.losers import CHANGED, changed
from pointsman.report.tables.tables import INFORMATION, Table, comparison_cells
from pointsman.report.units import NOTHING, attributed


def grid_table(cells: Sequence[GridCell]) -> Table:
    """A row for each cell and policy."""
    varied = tuple(cells[0].values)
    columns, rows = comparison_cells([row for cell in cells for row in cell.rows])
    places = [tuple(cell.shown_values().values()) for cell in cells for _ in cell.rows]
    told = [(*place, *row) for place, row in zip(places, rows, strict=True)]
    note = " ".join([*by_cell(cells, [[cell.note, cell.oversized] for cell in cells]), *_unlike_jobs(cells)])
    whole = Table("", (*varied, *columns), told, note, left=(*varied, "policy", *INFORMATION))
    return without_equal(whole)


def grid_losers(cells: Sequence[GridCell]) -> Table:
    """In each cell the largest group of jobs that loses under the policy with the lowest mean, a row a cell."""
    varied = tuple(cells[0].values)
    rows = [(*cell.shown_values().values(), cell.best, *_loss_cells(cell)) for cell in cells if cell.best]
    columns = (*varied, "policy", "largest group that loses", *LOSS)
    note = "Under the policy with the lowest mean JCT, against the baseline; cells/*/changes.csv have all groups."
    return Table("The largest group that loses in each cell", columns, rows, note, left=columns[: -len(LOSS)])


LOSS = ("jobs", "mean JCT", "to baseline", "95 % CI")


def _loss_cells(cell: GridCell) -> tuple[str, ...]:
    """The group and what changed; none: no group loses significantly."""
    one = cell.loser
    if one is None:
        return ("none", *[NOTHING] * len(LOSS))
    row = dict(zip(CHANGED, changed(one), strict=True))
    return (row["jobs of"], *(row[name] for name in LOSS))


def by_cell(cells: Sequence[GridCell], said: Sequence[Sequence[str]]) -> list[str]:
    """The sentences about each cell: those about all of them as they are, others with the cells that they are about."""
    return attributed([cell.label for cell in cells], said, between="; ")


def _unlike_jobs(cells: Sequence[GridCell]) -> list[str]:
    """A warning, where cells lack, or have narrower, different jobs."""
    alike = len({cell.oversized for cell in cells}) == 1
    return [] if alike else ["Caution: cells do not have the same jobs, so compare policies within a cell only."]
