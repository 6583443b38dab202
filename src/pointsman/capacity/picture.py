"""The curves, drawn: the figure of the target against GPUs, a line a policy."""

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from pointsman.capacity.curve import Curve, Target
from pointsman.report.figures.distributions import time_ticks
from pointsman.report.figures.drawing import Drawing, attempted
from pointsman.report.figures.style import INK, draw, draw_line, legend_of_lines, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME: Final = "capacity"
CHARACTERS: Final = 100
"""The most characters of a line of the caption."""


def picture(curves: Sequence[Curve], target: Target, answer: str) -> str:
    """An SVG, with the answer below it."""
    caption = "\n".join(wrap(answer, CHARACTERS))
    svg, _ = draw(NAME, lambda figure: _paint(figure, curves, target), (7.0, 3.6), caption)
    return svg


def drawing(curves: Sequence[Curve], target: Target, answer: str) -> Drawing:
    """Draws the curves, or says why they could not be drawn."""
    title = "Capacity"
    return attempted(NAME, title, lambda: Drawing(NAME, title, picture(curves, target, answer), answer))


def _paint(figure: "Figure", curves: Sequence[Curve], target: Target) -> str:
    axes = figure.subplots()
    values = [target.limit]
    for i, curve in enumerate(curves):
        known = {point.gpus: point.value for point in curve.points if point.value is not None}
        values += known.values()
        look: dict[str, Any] = line(i) | {"markevery": 1, "markersize": 3}
        draw_line(axes, list(known), list(known.values()), label=curve.policy, **look)
        if curve.answer is not None and curve.answer.value is not None:
            axes.plot(curve.answer.gpus, curve.answer.value, marker="o", markersize=9, fillstyle="none", color=INK)
    axes.axhline(target.limit, color=INK, linewidth=0.9, linestyle=(0, (2, 2)))
    axes.set_xscale("log")
    axes.set_xlabel("GPUs (logarithmic); circles: the least that meet the target")
    axes.set_ylabel(target.metric.removesuffix("_s").replace("_", " "))
    _gpu_ticks(axes, curves)
    if target.metric.endswith("_s"):
        axes.set_yscale("symlog", linthresh=1.0, linscale=0.5)
        time_ticks(axes.yaxis, max(values) * 1.5)
        axes.set_ylim(0, max(values) * 1.5 or 1.0)
    legend_of_lines(figure, [axes], [curve.policy for curve in curves])
    return ""


def _gpu_ticks(axes: "Axes", curves: Sequence[Curve]) -> None:
    gpus = sorted({point.gpus for curve in curves for point in curve.points})
    ticks, least = [], 0.0
    for number in gpus:  # as many as there is room for
        if number >= 1.25 * least:
            ticks.append(number)
            least = number
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xticks([], minor=True)
