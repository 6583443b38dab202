"""Figures 4 and 5: the cluster over time, and who got a fair share."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from pointsman.report.figures.distributions import paint_cdf
from pointsman.report.figures.style import FAINT, INK, draw_line, legend_of_lines, line, time_axis
from pointsman.report.metrics.groups import Group, Run, shown_span_s
from pointsman.report.metrics.steps import step_means
from pointsman.report.units import count, digits, names, percent, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 240
"""Points of a line, each the mean of its stretch of time."""


def utilisation(figure: "Figure", groups: list[Group]) -> str:
    """Figure 4: share of the GPUs in use, and the jobs that wait."""
    upper, lower = figure.subplots(2, 1, sharex=True)
    paint_lines(upper, groups, lambda run: 100 * run.result.series["used_gpus"] / run.gpus)
    paint_lines(lower, groups, lambda run: run.result.series["pending"])
    paint_window(upper, lower, groups)
    upper.set_ylabel("GPUs in use (%)")
    upper.set_ylim(0, 102)
    lower.set_ylabel("jobs waiting")
    lower.set_ylim(bottom=0)
    legend_of_lines(figure, [upper, lower], [group.label for group in groups])
    return f"{_use_sentence(groups)} Grey: outside the submit window that is counted.{_unknown_use(groups)}"


def _use_sentence(groups: list[Group]) -> str:
    used = {group.label: group.mean("window_allocated_ratio") for group in groups}
    known = {label: ratio for label, ratio in used.items() if ratio is not None}
    queues = {group.label: float(max(_most(run.result.series["pending"]) for run in group.runs)) for group in groups}
    in_use = f"GPUs in use while jobs are submitted: {spread(known, percent)}. " if known else ""
    return f"{in_use}Most jobs that wait at once: {spread(queues, count)}."


def _most(values: pl.Series) -> int:
    known = values.cast(pl.Float64).drop_nans().drop_nulls()
    return 0 if known.is_empty() else int(known.max())  # ty: ignore


def _unknown_use(groups: list[Group]) -> str:
    """Says of which policies it is not known how many GPUs were in use."""
    unknown = [group.label for group in groups if _is_unknown(group.first.result.series["used_gpus"])]
    return f" How many GPUs were in use is unknown of {names(unknown)}." if unknown else ""


def _is_unknown(values: pl.Series) -> bool:
    return len(values) > 0 and values.null_count() == len(values)


def paint_lines(axes: "Axes", groups: list[Group], column: Callable[[Run], pl.Series]) -> None:
    """A line a policy: the mean over each stretch of time."""
    span_s = shown_span_s(groups)
    size = time_axis(axes, span_s)
    edges_s = np.linspace(0.0, span_s or 1.0, POINTS + 1)
    for i, group in enumerate(groups):
        series = group.first.result.series
        if not series.is_empty():
            means = step_means(series["time_ms"] / 1000, column(group.first).cast(pl.Float64), edges_s)
            draw_line(axes, (edges_s[1:] + edges_s[:-1]) / 2 / size, means, label=group.label, **line(i, width=1.2))


def paint_window(upper: "Axes", lower: "Axes", groups: list[Group]) -> None:
    """Shades what lies outside the window, and leaves one label for the two time axes."""
    span_s, window = shown_span_s(groups), groups[0].first.window
    for axes in (upper, lower):
        size = time_axis(axes, span_s)
        for low, high in ((0.0, window.from_s), (window.to_s, span_s)):
            if high > low:
                axes.axvspan(low / size, high / size, color=FAINT, alpha=0.35, linewidth=0)
    upper.set_xlabel("")


def rho_cdf(figure: "Figure", groups: list[Group]) -> str:
    """Figure 5: distribution of the finish-time fairness."""
    axes = figure.subplots()
    axes.set_xscale("log")
    paint_cdf(axes, groups, "rho", 1e-3)
    axes.axvline(1.0, color=INK, linewidth=0.9, linestyle="--")
    axes.set_xlabel("finish-time fairness ρ (logarithmic; right of the line: later than with a fair share)")
    axes.xaxis.set_major_formatter("{x:g}")
    legend_of_lines(figure, [axes], [group.label for group in groups])
    return _rho_sentence([*groups]) or "No counted job has ended with a known fairness."


def _rho_sentence(groups: list[Group]) -> str:
    """Says how late jobs are under each policy, on its first seed."""
    slow, worst = (
        {group.label: ratio for group in groups if (ratio := group.first.summary[f"fairness_rho_{name}"]) is not None}
        for name in ("p99", "max")
    )
    if not worst:
        return ""
    return (
        f"99 of 100 jobs take at most this many times as long as with a fair share: {spread(slow, _times)}; "
        f"the worst: {spread(worst, _times)}."
    )


def _times(ratio: float) -> str:
    """Three digits, or six decimals where three digits would round the difference from 1 away."""
    return text if (text := digits(ratio)) != "1" else f"{ratio:.6f}".rstrip("0").rstrip(".")
