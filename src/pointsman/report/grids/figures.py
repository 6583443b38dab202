"""Figures of a grid: mean times against an option that varies, and the distribution of completion times by cell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pointsman.report.figures.distributions import time_ticks
from pointsman.report.figures.drawing import Drawing, attempted
from pointsman.report.figures.style import Painting, draw, draw_line, legend_of_lines, line
from pointsman.report.grids.cell import SHARES, GridCell, shown
from pointsman.report.grids.grid import Grid
from pointsman.report.units import count, time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ALONG: Final = ("load", "cluster", "estimate")
"""Options by how well they make an axis; the first of those that vary does."""
MEANS: Final = (
    ("jct_mean_s", "1a-mean-jct", "Mean completion time"),
    ("pending_mean_s", "1b-mean-pending", "Mean time pending, all attempts"),
)
"""Metric, name and title of the figures along it."""
STEEP: Final = 20
"""The ratio of times from which on they are drawn on a logarithmic axis (ours)."""
MOST_PANELS: Final = 24
ACROSS: Final = 3
"""Panels side by side."""
TICKS: Final = ((1, "1 s"), (60, "1 min"), (3600, "1 h"), (86400, "1 d"), (8640000, "100 d"))
"""Ticks of narrow time axes."""
LEAST_S: Final = 1.0
"""On logarithmic axes shorter times are drawn here."""


@dataclass(frozen=True)
class _Panel:
    """Cells that differ in the option along the axis alone."""

    title: str
    cells: Sequence[GridCell]


def draw_grid(grid: Grid) -> list[Drawing]:
    """Every figure of a grid; one that cannot be drawn is a sentence in its place."""
    caption = f"{count(len(grid.cells))} cells; means over the seeds and the counted jobs"
    drawn = (attempted(each.name, each.title, partial(_drawing, each, caption)) for each in paintings(grid))
    return [drawing for drawing in drawn if drawing is not None]


def _drawing(each: Painting, caption: str) -> Drawing:
    return Drawing(each.name, each.title, *draw(each.name, each.paint, each.size, caption))


def paintings(grid: Grid) -> list[Painting]:
    """The figures of a grid before they are drawn."""
    along = [name for name in ALONG if name in grid.varied][:1]
    lines = [_lines(grid, name, *figure) for name in along for figure in MEANS]
    return [*lines, _distributions(grid)]


def _lines(grid: Grid, along: str, metric: str, name: str, title: str) -> Painting:
    panels = _panels(grid, along)[:MOST_PANELS]

    def paint(figure: "Figure") -> str:
        scale = _time_scale([row.values[metric] for cell in grid.cells for row in cell.rows])
        _paint_lines(figure, grid, panels, along, metric, scale)
        return _sentence(along, len(panels), scale)

    return Painting(name, f"{title} by {along}", _size(len(panels), 2.8, least=4.2), paint)


def _panels(grid: Grid, along: str) -> list[_Panel]:
    found: dict[str, list[GridCell]] = {}
    for cell in grid.cells:
        others = [shown(name, value) for name, value in cell.values.items() if name != along]
        found.setdefault(", ".join(others), []).append(cell)
    return [_Panel(title, sorted(cells, key=lambda cell: _key(cell, along))) for title, cells in found.items()]


def _key(cell: GridCell, along: str) -> float:
    """Loads and clusters by size; estimates as they were given."""
    return {"load": cell.load or 0.0, "cluster": float(cell.gpus)}.get(along, 0.0)


def _size(panels: int, height: float, least: float) -> tuple[float, float]:
    return 10.0, max(least, 1.2 + height * -(-panels // ACROSS))


def _subplots(figure: "Figure", titles: Sequence[str], **shared: Any) -> list["Axes"]:
    across = min(ACROSS, len(titles))
    rows = -(-len(titles) // across)
    axes = figure.subplots(rows, across, squeeze=False, **shared).ravel().tolist()
    for empty in axes[len(titles) :]:
        empty.remove()
    for each, title in zip(axes, titles, strict=False):
        each.set_title(title, loc="left")
    for each in _lowest(axes[: len(titles)]):
        each.tick_params(labelbottom=True)
    return axes[: len(titles)]


def _lowest(axes: Sequence["Axes"]) -> Sequence["Axes"]:
    """Those with none below."""
    return axes[-min(ACROSS, len(axes)) :]


def _leftmost(axes: Sequence["Axes"]) -> Sequence["Axes"]:
    return axes[:: min(ACROSS, len(axes))]


def _paint_lines(
    figure: "Figure", grid: Grid, panels: Sequence[_Panel], along: str, metric: str, scale: "_Scale"
) -> None:
    every = _subplots(figure, [panel.title for panel in panels], sharex=True, sharey=True)
    for axes, panel in zip(every, panels, strict=True):
        places = _places(axes, panel.cells, along)
        for i, policy in enumerate(grid.policies):
            points = [(at, _value(cell, policy, metric)) for at, cell in zip(places, panel.cells, strict=True)]
            known = [(at, scale.of(value)) for at, value in points if value is not None]
            look: dict[str, Any] = line(i) | {"markevery": 1}
            draw_line(axes, [at for at, _ in known], [value for _, value in known], label=policy, **look)
    for axes in _leftmost(every):
        axes.set_ylabel(f"{'JCT' if metric.startswith('jct') else 'time pending'}, mean{scale.unit}")
    scale.label(every[0])
    for axes in _lowest(every):
        axes.set_xlabel(_axis_name(along))
    legend_of_lines(figure, every, grid.policies)


def _value(cell: GridCell, policy: str, metric: str) -> float | None:
    return next((row.values[metric] for row in cell.rows if row.policy == policy), None)


def _places(axes: "Axes", cells: Sequence[GridCell], along: str) -> list[float]:
    """Where the cells lie on the axis: loads to scale, others side by side."""
    if along == "load":
        return [cell.load or 0.0 for cell in cells]
    names = [
        cell.shown_values()[along] + (f"\n{count(cell.gpus)} GPUs" if along == "cluster" else "") for cell in cells
    ]
    axes.set_xticks(range(len(cells)), names)
    return [float(k) for k in range(len(cells))]


def _axis_name(along: str) -> str:
    return {"load": "offered load", "cluster": "cluster", "estimate": "estimate of durations"}[along]


@dataclass(frozen=True)
class _Scale:
    """An axis of times."""

    of: Callable[[float], float]
    unit: str
    label: Callable[["Axes"], None]
    logarithmic: bool


def _time_scale(values: Sequence[float | None]) -> _Scale:
    """From 0 in one unit; logarithmic where the times are far apart."""
    known = [value for value in values if value is not None] or [LEAST_S]
    most = max(known)
    if most > STEEP * max(LEAST_S, min(known)):
        return _Scale(lambda value: max(LEAST_S, value), " (logarithmic)", lambda axes: _logarithmic(axes, known), True)
    size, unit = time_unit(most)
    return _Scale(lambda value: value / size, f" ({unit})", lambda axes: _linear(axes, most / size), False)


def _linear(axes: "Axes", most: float) -> None:
    axes.set_ylim(0, 1.08 * most or 1.0)


def _logarithmic(axes: "Axes", known: Sequence[float]) -> None:
    axes.set_yscale("log")
    least, most = max(LEAST_S, min(known)), max(known)
    axes.set_ylim(least / 1.5, most * 1.5)
    time_ticks(axes.yaxis, most * 1.5)
    axes.set_ylim(least / 1.5, most * 1.5)


def _sentence(along: str, panels: int, scale: _Scale) -> str:
    alike = "" if panels == 1 else " A panel for each combination of the other options, on common axes."
    short = " Times below 1 s are drawn at 1 s." if scale.logarithmic else ""
    return f"A line is a policy, a point a cell, by {_axis_name(along)}. Lower is better.{alike}{short}"


def _distributions(grid: Grid) -> Painting:
    cells = grid.cells[:MOST_PANELS]
    more = f" The first {len(cells)} of {len(grid.cells)} cells." if len(cells) < len(grid.cells) else ""

    def paint(figure: "Figure") -> str:
        return _paint_cdfs(figure, grid, cells) + more

    return Painting("2-jct-cdf", "Completion times in each cell", _size(len(cells), 2.4, 4.2), paint)


def _paint_cdfs(figure: "Figure", grid: Grid, cells: Sequence[GridCell]) -> str:
    every = _subplots(figure, [cell.label for cell in cells], sharex=True, sharey=True)
    longest_s = max((float(times[-1]) for cell in cells for times in cell.jct_s.values()), default=LEAST_S)
    least_s = min((float(times[1]) for cell in cells for times in cell.jct_s.values()), default=LEAST_S)
    for axes, cell in zip(every, cells, strict=True):
        for i, policy in enumerate(grid.policies):
            times = cell.jct_s.get(policy, np.array([]))
            draw_line(axes, np.maximum(times, LEAST_S), SHARES[: times.size], label=policy, **line(i))
        axes.set_xscale("log")
    every[0].set_xticks([at for at, _ in TICKS], [text for _, text in TICKS])
    every[0].set_xticks([], minor=True)
    every[0].set_xlim(max(LEAST_S, least_s), 1.3 * max(LEAST_S, longest_s))
    for axes in _lowest(every):
        axes.set_xlabel("job completion time (logarithmic)")
    for axes in _leftmost(every):
        axes.set_ylabel("share of jobs")
    every[0].set_ylim(0, 1.01)
    legend_of_lines(figure, every, grid.policies)
    return "A panel for each cell, on common axes. A line further left is better."
