"""The page of a grid."""

from collections.abc import Sequence

from pointsman.report.grids.cell import shown
from pointsman.report.grids.figures import draw_grid
from pointsman.report.grids.grid import Grid
from pointsman.report.grids.table import grid_losers, grid_table
from pointsman.report.metrics.comparison_rows import Row
from pointsman.report.metrics.paired.differences import Difference
from pointsman.report.pages.filling import render
from pointsman.report.pages.page import Page
from pointsman.report.units import count, digits, duration, names

ACROSS = {"cluster": "on", "load": "at", "estimate": "with"}
"""Words before the number of values of an option."""


def make_grid_page(grid: Grid, *, command: str | None = None) -> Page:
    """Draws the figures and fills the page."""
    drawings = draw_grid(grid)
    html = render(
        "report",
        drawings,
        title=_title(grid),
        lead=_lead(grid),
        facts=_facts(grid),
        assumptions=_once([told for cell in grid.cells for told in cell.assumptions]),
        headline=grid_table(grid.cells),
        details=[],
        calibration=[],
        explanations=(),
        losers=[table] if (table := grid_losers(grid.cells)).rows else [],
        price=None,
        savings=None,
        fit=None,
        waiting=None,
        command=command,
        timeline=None,
    )
    return Page(html, drawings)


def _title(grid: Grid) -> str:
    across = [f"{ACROSS[name]} {len(grid.values_of(name))} {name}s" for name in grid.varied]
    return " ".join([f"{len(grid.policies)} {'policies' if len(grid.policies) > 1 else 'policy'}", *across])


def _lead(grid: Grid) -> str:
    """Which policy has the least mean completion time, and where."""
    best: dict[str, list[str]] = {}
    for cell in grid.cells:
        best.setdefault(_best(cell.rows), []).append(cell.label)
    cells = len(grid.cells)
    told = [
        f"{policy} in {'both' if cells == 2 else f'all {count(cells)}'} cells"
        if len(where) == cells
        else f"{policy} in {len(where)} of {count(cells)} cells ({names(where)})"
        for policy, where in sorted(best.items(), key=lambda item: -len(item[1]))
    ]
    return f"The mean completion time is {', '.join(told)}. {_range(grid)}"


def _best(rows: Sequence[Row]) -> str:
    """The policy with the least mean of those that leave no more jobs over than the baseline, if not by chance."""
    rivals = [row for row in rows if row.jobs_censored <= rows[0].jobs_censored]
    known = [row for row in rivals if row.values["jct_mean_s"] is not None]
    if not known:
        return "undefined"
    alike = len(rows) > 1 and len({row.values["jct_mean_s"] for row in rows}) == 1
    if alike:
        return "the same under every policy"
    others = sorted((row for row in known if row is not rows[0]), key=lambda row: _change(row).ratio or 0.0)
    if not others:
        return f"least under {known[0].policy}"
    sooner = [row for row in others if _change(row).is_lower]
    if not sooner and _change(others[0]).may_be_chance:
        return f"not different beyond chance between {rows[0].policy} and {others[0].policy}"
    return f"least under {(sooner or rows)[0].policy}"


def _change(row: Row) -> Difference:
    return row.differences["jct_mean_s"]


def _jct_s(row: Row) -> float:
    return row.values["jct_mean_s"] or 0.0


def _range(grid: Grid) -> str:
    """How far the cells are apart, under the baseline."""
    known = [(cell.rows[0], cell.label) for cell in grid.cells if cell.rows[0].values["jct_mean_s"] is not None]
    if not known:
        return ""
    (least, where), (most, there) = (end(known, key=lambda item: _jct_s(item[0])) for end in (min, max))
    under = f"Under {least.policy}, the baseline, it is {duration(least.values['jct_mean_s'])}"
    if least is most:
        return f"{under} in every cell."
    return f"{under} ({where}) to {duration(most.values['jct_mean_s'])} ({there})."


def _facts(grid: Grid) -> list[tuple[str, str]]:
    """What was run, term by term: what is said of every cell; of the options that vary, their values."""
    terms = _once([term for cell in grid.cells for term, _ in cell.facts])
    told = [(term, _common_fact(term, [dict(cell.facts).get(term, "") for cell in grid.cells], grid)) for term in terms]
    estimates = [shown("estimate", value) for value in grid.values_of("estimate")] if "estimate" in grid.varied else []
    return [(term, said) for term, said in [*told, ("Estimates", ", ".join(estimates))] if said]


def _common_fact(term: str, said: Sequence[str], grid: Grid) -> str:
    if term == "Load" and len(set(said)) > 1:
        return _loads(grid)
    if term == "Cluster":
        return "; ".join(_once(said))
    parts = [words.split("; ") for words in said]
    return "; ".join(part for part in parts[0] if all(part in other for other in parts))


def _loads(grid: Grid) -> str:
    """The loads that were asked for, or what each cell is offered."""
    loads = grid.values_of("load") if "load" in grid.varied else [None]
    if None not in loads:
        return ", ".join(shown("load", load) for load in loads)
    offered = ["all at once" if cell.load is None else digits(cell.load) for cell in grid.cells]
    return "; ".join(f"{cell.label}: {said}" for cell, said in zip(grid.cells, offered, strict=True))


def _once(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))
