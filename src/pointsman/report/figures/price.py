"""The figure of the price of preemption: completion times by interval between checkpoints."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pointsman.report.figures.catalogue import runs_caption
from pointsman.report.figures.drawing import Drawing, attempted
from pointsman.report.figures.style import INK, draw, draw_line, legend_of_lines, line
from pointsman.report.metrics.groups import Group
from pointsman.report.metrics.price import Point, Price
from pointsman.report.tables.price import interval_name, price_sentence
from pointsman.report.units import time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME, TITLE = "9-price", "Completion time by interval between checkpoints"
TICKS_APART = 0.08
"""The least distance between the middles of two names below the axis, as a share of it."""


def draw_price(price: Price, groups: list[Group]) -> Drawing:
    """Mean JCT against the interval, a line a policy, which looks as in the other figures of `groups`.

    Whiskers are intervals of the difference to the baseline.
    """
    looks = {group.label: line(k) | {"markevery": None} for k, group in enumerate(groups)}

    def paint(figure: "Figure") -> str:
        return _paint(figure, price, looks)

    def make() -> Drawing:
        return Drawing(NAME, TITLE, *draw(NAME, paint, (10.0, 3.6), runs_caption(groups)))

    return replace(attempted(NAME, TITLE, make), section="price")


def _paint(figure: "Figure", price: Price, looks: dict[str, dict[str, Any]]) -> str:
    axes = figure.subplots()
    labels = list(dict.fromkeys(point.policy for point in price.points))
    lines = [[point for point in price.points if point.policy == label] for label in labels]
    highest = max(point.jct_mean_s or 0.0 for point in price.points)
    size, unit = time_unit(highest)
    for k, points in enumerate(lines):
        x = [point.checkpoint_every_s / 3600 for point in points]
        y = [float("nan") if point.jct_mean_s is None else point.jct_mean_s / size for point in points]
        draw_line(axes, x, y, label=labels[k], **looks[labels[k]])
        if k:
            _whiskers(axes, points, lines[0], size)
    axes.set_xticks([s / 3600 for s in price.intervals_s], _ticks(price))
    axes.set_xlabel("work between two checkpoints")
    axes.set_ylabel(f"mean JCT ({unit})")
    axes.set_ylim(bottom=0)
    legend_of_lines(figure, [axes], labels)
    return price_sentence(price)


def _ticks(price: Price) -> list[str]:
    """Names of the intervals, without those that would be printed over the one before."""
    apart_s, last_s, found = TICKS_APART * (price.intervals_s[-1] - price.intervals_s[0]), float("-inf"), []
    for s in price.intervals_s:
        is_clear = s - last_s >= apart_s
        found.append(interval_name(s, price.lost_s) if is_clear else "")
        last_s = s if is_clear else last_s
    return found


def _whiskers(axes: "Axes", points: list[Point], base: list[Point], size: float) -> None:
    for point, other in zip(points, base, strict=True):
        if point.change.ratio_interval is not None and other.jct_mean_s is not None:
            ends = [other.jct_mean_s * (1 + end) / size for end in point.change.ratio_interval]
            axes.plot([point.checkpoint_every_s / 3600] * 2, ends, color=INK, linewidth=1.0, marker="_", markersize=5)
