"""Figures 1 and 3: how long jobs take, and who waits."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pointsman.report.figures.style import COLOURS, INK, bar, draw_line, legend_above, legend_of_lines, line
from pointsman.report.metrics.counted import BUCKETS
from pointsman.report.metrics.groups import Group
from pointsman.report.metrics.paired.changes import LEAST_JOBS
from pointsman.report.units import duration, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

SHARES = np.unique(np.concatenate((np.linspace(0, 1, 201), 1 - np.logspace(-4, -1, 60), np.logspace(-4, -1, 60))))
"""Where a distribution is read: evenly, and more closely in both tails."""

MARKS = (
    (0, "0"), (1, "1 s"), (10, "10 s"), (60, "1 min"), (600, "10 min"), (3600, "1 h"), (36000, "10 h"),
    (86400, "1 d"), (864000, "10 d"), (8640000, "100 d"),
)  # fmt: skip
"""Ticks of a time axis."""


def paint_cdf(axes: "Axes", groups: list[Group], column: str, least: float) -> None:
    """The distribution of one column of the counted jobs, one line a policy; values below `least` are put there."""
    for i, group in enumerate(groups):
        values = group.values(column)
        if values.size:
            draw_line(axes, np.maximum(np.quantile(values, SHARES), least), SHARES, label=group.label, **line(i))
    axes.set_ylabel("share of jobs")
    axes.set_ylim(0, 1.01)


def time_ticks(axis: "Axis", longest_s: float) -> None:
    """Names the decades of a logarithmic time axis as people say them."""
    marks = [(seconds, text) for seconds, text in MARKS if seconds <= longest_s]
    axis.set_ticks([seconds for seconds, _ in marks], [text for _, text in marks])
    axis.set_ticks([], minor=True)


def jct_cdf(figure: "Figure", groups: list[Group]) -> str:
    """Figure 1: distribution of the JCT."""
    axes = figure.subplots()
    axes.set_xscale("log")
    paint_cdf(axes, groups, "jct_s", 1.0)
    longest_s = max(group.values("jct_s").max(initial=1.0) for group in groups)
    least_s = min(np.quantile(group.values("jct_s"), 0.001) if group.values("jct_s").size else 1.0 for group in groups)
    time_ticks(axes.xaxis, longest_s)
    axes.set_xlim(max(1.0, least_s), longest_s * 1.3)
    axes.set_xlabel("job completion time, submit to end (logarithmic; below 1 s shown at 1 s)")
    legend_of_lines(figure, [axes], [group.label for group in groups])
    return _jct_sentence(groups)


def _jct_sentence(groups: list[Group]) -> str:
    known = [group for group in groups if group.values("jct_s").size]
    if not known:
        return "No counted job has ended."
    if len(known) == 1:
        low, high = np.quantile(known[0].values("jct_s"), [0.5, 0.99])
        return (
            f"Half of the jobs end within {duration(low)} of their submit; 1 in 100 takes longer than {duration(high)}."
        )
    medians = {group.label: float(np.median(group.values("jct_s"))) for group in known}
    return f"Median completion time: {spread(medians, duration)}. A line further left is better."


def waits_by_gpus(figure: "Figure", groups: list[Group]) -> str:
    """Figure 3: queueing delay by GPU count, as boxes."""
    axes = figure.subplots()
    waits = {bucket: [_waits(group, bucket) for group in groups] for bucket in BUCKETS}
    present = [bucket for bucket in BUCKETS if any(values.size for values in waits[bucket])]
    width = 0.8 / len(groups)
    for i, _ in enumerate(groups):
        at = [k + (i - (len(groups) - 1) / 2) * width for k in range(len(present))]
        _boxes(axes, [waits[bucket][i] for bucket in present], at, 0.8 * width, i)
    longest_s = max((values.max(initial=1.0) for bucket in present for values in waits[bucket]), default=1.0)
    axes.set_yscale("symlog", linthresh=1.0, linscale=0.5)
    time_ticks(axes.yaxis, longest_s * 1.5)
    axes.set_ylim(-0.3, longest_s * 1.5)
    axes.set_ylabel("time pending, all attempts")
    axes.set_xlabel("GPUs requested (number of counted jobs)")
    counts = [sum(values.size for values in waits[bucket]) // len(groups) for bucket in present]
    axes.set_xticks(range(len(present)), [f"{name}\n({n:,})" for name, n in zip(present, counts, strict=True)])
    axes.grid(False, axis="x")
    _box_legend(figure, groups)
    return _wait_sentence(groups, present)


def _waits(group: Group, bucket: str) -> NDArray[np.float64]:
    chosen = group.counted["pending_s"].filter(group.counted["bucket"] == bucket)
    return chosen.drop_nulls().to_numpy().astype(np.float64)


def _boxes(axes: "Axes", columns: list[NDArray[np.float64]], at: list[float], width: float, index: int) -> None:
    colour = COLOURS[index % len(COLOURS)]
    stats, places = [], []
    for values, place in zip(columns, at, strict=True):
        if values.size:
            low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
            stats.append(
                {"whislo": low, "q1": first, "med": middle, "q3": third, "whishi": high, "mean": values.mean()}
            )
            places.append(place)
    ends = {"color": colour, "linewidth": 1.2}
    mean = {"marker": "D", "markerfacecolor": colour, "markeredgecolor": INK, "markersize": 3.5}
    axes.bxp(
        stats, positions=places, widths=width, showfliers=False, showmeans=True, patch_artist=True, manage_ticks=False,
        boxprops=bar(index), medianprops={"color": INK, "linewidth": 1.8}, whiskerprops=ends, capprops=ends,
        meanprops=mean,
    )  # fmt: skip


def _box_legend(figure: "Figure", groups: list[Group]) -> None:
    from matplotlib.patches import Patch

    legend_above(figure, [Patch(**bar(i)) for i, _ in enumerate(groups)], [group.label for group in groups])


def _wait_sentence(groups: list[Group], present: list[str]) -> str:
    """Which jobs wait longest: under one policy; of several, how long at least and at most those of one GPU count."""
    waits = {bucket: {group.label: _waits(group, bucket) for group in groups} for bucket in present}
    means = {bucket: {of: float(x.mean()) for of, x in found.items() if x.size} for bucket, found in waits.items()}
    enough = [bucket for bucket in present if max(x.size for x in waits[bucket].values()) >= LEAST_JOBS] or present
    longest = {bucket: max(means[bucket].values()) for bucket in enough if means[bucket]}
    if not longest:
        return "No counted job has started."
    worst = max(longest, key=longest.__getitem__)
    if longest[worst] == 0.0:
        return f"Under {groups[0].label} no job waits." if len(groups) == 1 else "No job waits under any policy."
    gpus = "1 GPU" if worst == "1" else f"{worst} GPUs"
    return (
        f"Jobs of {gpus} wait longest, on average {spread(means[worst], duration)}. Boxes hold the middle half of the "
        "jobs, whiskers 5 to 95 %, the line is the median, the diamond the mean."
    )
