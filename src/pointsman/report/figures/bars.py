"""Figures 2 and 9: completion times against the baseline, and what preemption costs."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pointsman.report.figures.style import INK, bar
from pointsman.report.metrics.groups import Group, baseline_of
from pointsman.report.metrics.paired.differences import difference
from pointsman.report.units import NOTHING, digits, duration, percent, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEADLINE = {"jct_mean_s": "mean", "jct_p50_s": "median", "jct_p95_s": "95th percentile", "jct_p99_s": "99th percentile"}


def jct_bars(figure: "Figure", groups: list[Group]) -> str:
    """Figure 2: mean and 99th percentile of the JCT against the baseline, the first policy; one policy in hours."""
    return _one_policy(figure, groups[0]) if len(groups) == 1 else _against_baseline(figure, groups)


def _one_policy(figure: "Figure", group: Group) -> str:
    axes = figure.subplots()
    seconds = [group.mean(metric) for metric in HEADLINE]
    for at, value in enumerate(seconds):
        hours = (value or 0.0) / 3600
        if value is not None:
            axes.barh(at, hours, height=0.6, **bar(0))
        axes.annotate(duration(value), (hours, at), xytext=(5, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(seconds)), list(HEADLINE.values()))
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.grid(False, axis="y")
    axes.set_xlabel("job completion time (h)")
    bound_s, above = group.mean("jct_lower_bound_s"), group.mean("jct_above_bound_ratio")
    if bound_s is None:
        return "" if group.counted.height else "No counted job has ended."
    axes.plot([bound_s / 3600] * 2, [-0.4, 0.4], color=INK, linewidth=2)
    return (
        f"The mean is {percent(above)} above the lower bound of {duration(bound_s)}, which no schedule "
        "can beat (the vertical line in the first bar)."
    )


def _against_baseline(figure: "Figure", groups: list[Group]) -> str:
    left, right = figure.subplots(1, 2, sharey=True)
    _ratios(left, groups, "jct_mean_s", "mean")
    _ratios(right, groups, "jct_p99_s", "99th percentile")
    left.set_yticks(range(len(groups)), [f"{group.label} [{group.knowledge}]" for group in groups])
    left.invert_yaxis()
    ranked = sorted((group for group in groups if group.mean("jct_mean_s") is not None), key=lambda it: it.mean_jct_s)
    if not ranked:
        return "No counted job has ended."
    best, base = ranked[0], baseline_of(groups)
    if len(ranked) == len(groups) and best.mean_jct_s == ranked[-1].mean_jct_s:
        return f"The mean is the same under every policy: {duration(best.mean('jct_mean_s'))}."
    change = difference(best, base, "jct_mean_s")
    against = f", {percent(change.ratio, signed=True)} to {base.label}{', which may be chance' * change.may_be_chance}"
    if best is base:
        against = ", which is the baseline"
    elif change.ratio is None:
        against = ""
    return (
        f"The mean is least under {best.label}: {duration(best.mean('jct_mean_s'))}{against}"
        f"{_next(best, ranked[1:2], base)}. In brackets: what the "
        "policy requires to know of durations. Whiskers: 95 % interval of the paired difference."
    )


def _next(best: Group, others: list[Group], base: Group) -> str:
    """That the next may be as good, so that none looks ahead by chance; of the baseline that is said already."""
    close = [group for group in others if group is not base and difference(group, best, "jct_mean_s").may_be_chance]
    return f"; the difference to {close[0].label}, which is next, may be chance" if close else ""


def _ratios(axes: "Axes", groups: list[Group], metric: str, name: str) -> None:
    base = baseline_of(groups)
    for i, group in enumerate(groups):
        change = difference(group, base, metric)
        if change.ratio is None:
            continue
        value = 1 + change.ratio
        axes.barh(i, value, height=0.66, **bar(i))
        if change.ratio_interval is not None:
            low, high = change.ratio_interval
            axes.plot([max(0.0, 1 + low), 1 + high], [i, i], color=INK, linewidth=1.4, marker="|", markersize=7)
        _beside(axes, i, digits(value))
    axes.axvline(1.0, color=INK, linewidth=0.9, linestyle="--")
    axes.set_xlim(left=0)
    axes.grid(False, axis="y")
    axes.set_xlabel(f"{name} JCT ÷ {base.label}'s")


def _beside(axes: "Axes", at: int, text: str) -> None:
    """A figure to the right of the axes, in the line of its bar."""
    in_line: Any = ("axes fraction", "data")
    axes.annotate(text, (1.0, at), xycoords=in_line, xytext=(6, 0), textcoords="offset points", va="center", fontsize=9)


def any_preempted(groups: list[Group]) -> bool:
    """Whether figure 9 has something to show."""
    return any(group.mean("preemptions") for group in groups)


def preemptions(figure: "Figure", groups: list[Group]) -> str:
    """Figure 9: preemptions per 100 jobs and, if any was lost, GPU-hours of work lost."""
    counts = [group.mean("preemptions") for group in groups]
    jobs = [max(group.mean("jobs") or 1.0, 1.0) for group in groups]
    per_100 = [100 * (number or 0.0) / of for number, of in zip(counts, jobs, strict=True)]
    lost = [group.mean("lost_gpu_hours") or 0.0 for group in groups]
    shown = [(per_100, "preemptions per 100 jobs"), (lost, "work lost (GPU-hours)")][: 1 + any(lost)]
    row = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axes, (values, name) in zip(row, shown, strict=True):
        for i, value in enumerate(values):
            axes.barh(i, value, height=0.66, **bar(i))
            _beside(axes, i, NOTHING if counts[i] is None else digits(value))
        axes.set_xlim(0, 1.05 * max(values))
        axes.grid(False, axis="y")
        axes.set_xlabel(name)
    row[0].set_yticks(range(len(groups)), [group.label for group in groups])
    row[0].invert_yaxis()
    most = int(np.argmax(per_100))
    costs = groups[most].first.result.info.get("overheads")
    is_free = not any(costs.values()) if isinstance(costs, dict) else costs == "none"
    free = " Preemption was free in this run (overheads: none)." if is_free else ""
    known = [i for i, number in enumerate(counts) if number is not None]
    often = f"Preemptions per 100 jobs: {spread({groups[i].label: per_100[i] for i in known}, digits)}."
    losing = f" GPU-hours of work lost: {spread({groups[i].label: lost[i] for i in known}, digits)}."
    nothing = " No work was lost: a preempted job continues where it stopped."
    return f"{often}{losing if any(lost) else nothing}{free}"
