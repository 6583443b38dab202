"""Figure 7: GPUs that are free, but not where a waiting job can use them."""

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from pointsman.report.figures import grid
from pointsman.report.figures.over_time import POINTS, paint_lines, paint_window
from pointsman.report.figures.style import COLOURS, INK
from pointsman.report.metrics.groups import Group, Run, shown_span_s
from pointsman.report.metrics.steps import step_means
from pointsman.report.metrics.summary import stranded
from pointsman.report.units import digits, percent, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIGHT, DARK = 0.28, 0.95


def fragmentation(figure: "Figure", groups: list[Group]) -> str:
    """Idle GPUs, and those of them that the first waiting job cannot use; of one policy the largest free block too."""
    return _one_policy(figure, groups) if len(groups) == 1 else _panel_each(figure, groups)


def _one_policy(figure: "Figure", groups: list[Group]) -> str:
    upper, lower = figure.subplots(2, 1, sharex=True)
    paint_lines(upper, groups, lambda run: run.result.series["largest_free"])
    paint_lines(lower, groups, lambda run: 100 * stranded(run.result.series, run.gpus) / run.gpus)
    paint_window(upper, lower, groups)
    upper.set_ylabel("most free GPUs\non one node")
    upper.set_ylim(bottom=0)
    lower.set_ylabel("Idle GPUs lost\nto fragmentation (%)")
    lower.set_ylim(0, max(1.0, lower.get_ylim()[1]))
    details = groups[0].first.summary["fragmentation"]
    if details is None:
        return "How many GPUs were idle is unknown."
    return (
        f"Under {groups[0].label} the first job in line waits {percent(details['blocked_time_ratio'])} of the time "
        f"although as many GPUs as it requests are idle; "
        f"{digits(details['idle_gpus_mean'])} GPUs are idle on average."
    )


def _panel_each(figure: "Figure", groups: list[Group]) -> str:
    from matplotlib.patches import Patch

    panels, span_s = grid.panels(figure, groups), shown_span_s(groups)
    size = grid.label_bottoms(panels, span_s)
    for i, (axes, group) in enumerate(zip(panels, groups, strict=True)):
        _paint_idle(axes, group.first, span_s, size)
        axes.set_title(f"{group.label}: {_describe_blocked(group)}", loc="left")
        if i % grid.columns(len(panels)) == 0:
            axes.set_ylabel("GPUs idle (%)")
    panels[0].set_ylim(0, 100)
    handles = [Patch(facecolor=COLOURS[0], alpha=alpha) for alpha in (LIGHT, DARK)]
    figure.legend(handles, ["idle", "idle, lost to fragmentation"], loc="outside upper left", ncols=2)
    return (
        "Light: idle GPUs. Dark: idle GPUs while the first job in line waits although it requests no more than are "
        f"idle: they are free, but not together where it could use them.{_dark_share(groups)} Vertical lines bound the "
        "counted submit window."
    )


def _paint_idle(axes: "Axes", run: Run, span_s: float, size: float) -> None:
    series, edges_s = run.result.series, np.linspace(0.0, span_s or 1.0, POINTS + 1)
    if series.is_empty():
        return
    for gpus, alpha in ((run.gpus - series["used_gpus"], LIGHT), (stranded(series, run.gpus), DARK)):
        share = step_means(series["time_ms"] / 1000, 100 * gpus.cast(pl.Float64) / run.gpus, edges_s)
        axes.stairs(share, edges_s / size, fill=True, color=COLOURS[0], alpha=alpha, linewidth=0)
    for edge_s in (run.window.from_s, run.window.to_s):
        if 0 < edge_s < span_s:
            axes.axvline(edge_s / size, color=INK, linewidth=0.9, linestyle="--")


def _dark_share(groups: list[Group]) -> str:
    details = {group.label: group.first.summary["fragmentation"] for group in groups}
    blocked = {label: told["blocked_time_ratio"] for label, told in details.items() if told is not None}
    return f" Share of the window: {spread(blocked, percent)}." if blocked else ""


def _describe_blocked(group: Group) -> str:
    details = group.first.summary["fragmentation"]
    return "unknown" if details is None else f"dark {percent(details['blocked_time_ratio'])} of the window"
