"""Small multiples: one panel a policy, on common axes."""

from typing import TYPE_CHECKING

from pointsman.report.figures.style import time_axis
from pointsman.report.metrics.groups import Group

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def panel_size(count: int, height: float) -> tuple[float, float]:
    """Size (inches) of a grid of `count` panels of this height."""
    return 10.0, 0.9 + height * -(-count // columns(count))


def columns(count: int) -> int:
    """Panels side by side."""
    return 1 if count == 1 else 2


def panels(figure: "Figure", groups: list[Group]) -> list["Axes"]:
    """A panel for each policy, under its name."""
    across = columns(len(groups))
    grid = figure.subplots(-(-len(groups) // across), across, sharex=True, sharey=True, squeeze=False).ravel().tolist()
    for empty in grid[len(groups) :]:
        empty.remove()
    for axes, group in zip(grid, groups, strict=False):
        if len(groups) > 1:
            axes.set_title(group.label, loc="left")
    return grid[: len(groups)]


def label_bottoms(grid: list["Axes"], span_s: float) -> float:
    """Labels the time axes of the lowest panels; returns the seconds in their unit."""
    size = 1.0
    for i, axes in enumerate(grid):
        size = time_axis(axes, span_s)
        last = i + columns(len(grid)) >= len(grid)
        axes.set_xlabel(axes.get_xlabel() if last else "")
        axes.tick_params(labelbottom=last)
    return size
