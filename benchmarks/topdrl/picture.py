"""The picture of the page: throughput and mean completion time of each policy relative to TopDRL, with intervals."""

from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.results.figures import Figures
from benchmarks.topdrl.comparisons import JCT, WORK, cells, pooled
from benchmarks.topdrl.contestants import FIFO_RACKS, FIVE, LAS_RACKS

LOOKS: Final = {
    "FCFS + first": ("x", "tab:gray"),
    "SJF + balance": ("s", "tab:olive"),
    "Tetris + first": ("v", "tab:purple"),
    "DRF + balance": ("^", "tab:pink"),
    FIFO_RACKS: ("P", "tab:green"),
    LAS_RACKS: ("d", "tab:red"),
    "dally": ("o", "tab:blue"),
    "gittins": ("D", "tab:orange"),
}
PANELS: Final = (
    ("throughput", WORK, "throughput relative to TopDRL, %\n(right is better; 95 % intervals)"),
    ("completion", JCT, "mean JCT relative to TopDRL, %\n(left is better; above 150 % at the edge)"),
)
FARTHEST: Final = 150.0
"""Beyond, points are drawn at the edge."""


def draw(figures: Figures, path: Path) -> None:
    """Write it."""
    mpl.rcParams["svg.hashsalt"] = "topdrl"
    figure = Figure(figsize=(9.0, 4.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (what, measure, label) in zip(panels, PANELS, strict=True):
        _panel(axes, pooled(figures), what, measure)
        axes.set_xlabel(label)
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(path, metadata={"Date": None})


def _panel(axes: Axes, figures: Figures, what: str, measure: str) -> None:
    places = cells(figures, what)
    for k, (policy, (marker, colour)) in enumerate(LOOKS.items()):
        changes = [figures.change(place, policy, FIVE, measure) for place in places]
        middle = [min(change.percent, FARTHEST) for change in changes]
        low, high = zip(*((c.percent - c.low, c.high - c.percent) for c in changes), strict=True)
        bars = [[0.0 if m == FARTHEST else v for m, v in zip(middle, side, strict=True)] for side in (low, high)]
        heights = [y + (k - (len(LOOKS) - 1) / 2) * 0.09 for y in range(len(places))]
        axes.errorbar(middle, heights, xerr=bars, fmt=marker, color=colour, label=policy, markersize=5, linewidth=0.8)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(places)), [f"{place['workload']},\n{place['gpus']} GPUs" for place in places])
    if measure == JCT:
        axes.set_xlim(right=FARTHEST + 10)
    axes.grid(axis="x", alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
