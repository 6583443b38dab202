"""The picture of the page of the classical policies: the policies, and how they are placed."""

from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.results.axes import open_grid
from benchmarks.results.figures import Figures
from benchmarks.results.pages._classical import BACKFILL, LADDER, PLACES, hardest, named

LOOKS: Final = {
    "fifo": ("s", "black"), BACKFILL: ("s", "tab:gray"), "easy": ("P", "tab:red"), "sjf-backfill": ("^", "tab:green"),
    "las": ("+", "tab:olive"), LADDER: ("v", "tab:purple"), "gittins": ("D", "tab:orange"), "srtf": ("o", "tab:blue"),
}  # fmt: skip
PLACED: Final = {"few-racks": ("o", "tab:green"), "tightest": ("^", "tab:orange"), "spread": ("x", "tab:red")}


def draw(figures: Figures, path: Path) -> None:
    """Write it."""
    mpl.rcParams["svg.hashsalt"] = "classical"
    figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    _policies(left, figures)
    _places(right, figures)
    wheres = hardest(figures)
    left.set_yticks(range(len(wheres)), [named(where) for where in wheres])
    left.invert_yaxis()
    for axes in (left, right):
        open_grid(axes)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Date": None})


def _policies(axes: Any, figures: Figures) -> None:
    """Percent above the bound."""
    wheres = hardest(figures)
    for policy, (marker, colour) in LOOKS.items():
        above = [figures.mean(where, policy, "above_bound_percent") for where in wheres]
        axes.plot(above, range(len(above)), marker, color=colour, label=policy, markersize=8, markeredgewidth=1.6)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("mean completion time above the lower bound, %\n(logarithmic; left is better)")


def _places(axes: Any, figures: Figures) -> None:
    """Change by placement, with intervals: `fifo-backfill`."""
    wheres = hardest(figures)
    for shift, place in enumerate(PLACES):
        marker, colour = PLACED[place]
        found = [figures.change(where, f"{BACKFILL}, {place}", BACKFILL) for where in wheres]
        middle = [change.percent for change in found]
        ends = [[c.percent - c.low for c in found], [c.high - c.percent for c in found]]
        heights = [row + 0.18 * (shift - 1) for row in range(len(found))]
        axes.errorbar(middle, heights, xerr=ends, fmt=marker, color=colour, label=place, markersize=6, capsize=2)
    axes.axvline(0, color="black", linewidth=1)
    axes.set_xlabel("fifo-backfill: change of mean completion\ntime from consolidated, %")
