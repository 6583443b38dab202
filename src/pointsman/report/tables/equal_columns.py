"""Columns of a comparison that say the same of every policy: a footnote, not the front."""

from dataclasses import replace

from pointsman.report.metrics.comparison_rows import Compared
from pointsman.report.tables.tables import INFORMATION, UNFINISHED, Table, comparison_table

MAY_GO = (*INFORMATION, "preemptions")
"""The others are figures that people look for even where they are equal."""


def laid_out(comparison: Compared) -> Table:
    """The table that people are shown of a comparison."""
    return without_equal(comparison_table(comparison))


def figures_first(table: Table) -> Table:
    """The table with its figures before what policies used: a narrow screen shows the first columns."""
    last = [column for column in table.columns if column in (*INFORMATION, UNFINISHED)]
    order = [*(column for column in table.columns if column not in last), *last]
    at = [table.columns.index(column) for column in order]
    left = (*table.left, *(column for column in last if column != UNFINISHED))
    return replace(table, columns=tuple(order), rows=[tuple(row[k] for k in at) for row in table.rows], left=left)


def without_equal(table: Table) -> Table:
    """The table without such columns; its note says what they hold. A table of one row is left as it is."""
    if len(table.rows) < 2:
        return table
    cells = dict(zip(table.columns, zip(*table.rows, strict=True), strict=True))
    gone = [column for column in MAY_GO if column in cells and len(set(cells[column])) == 1]
    if not gone:
        return table
    kept = [column for column in table.columns if column not in gone]
    said = ", ".join(f"{column} {cells[column][0]}" for column in gone)
    note = f"{table.note} The same in every row: {said}.".strip()
    return replace(table, columns=tuple(kept), rows=list(zip(*(cells[c] for c in kept), strict=True)), note=note)
