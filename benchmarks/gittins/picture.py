"""The picture of the page: percent above the bound, a panel a workload."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.gittins.contestants import GITTINS, NONE, TOLD
from benchmarks.gittins.figures import Figures, Place
from benchmarks.results.axes import above_bound

LOOKS: Final = {
    "fifo-backfill": ("s", "tab:gray", "fifo-backfill"),
    "tiresias": ("x", "tab:green", "tiresias"),
    "las": ("+", "tab:olive", "las"),
    "las, 20 thresholds": ("v", "tab:purple", "las, 20 thresholds"),
    "dally": ("o", "tab:blue", "dally"),
    NONE: ("d", "tab:red", "gittins, no predictor"),
    GITTINS: ("D", "tab:orange", "gittins"),
    "gittins, R² 0.6": ("*", "tab:brown", "gittins, hints of R² 0.6"),
    TOLD[0]: ("|", "black", "gittins, told durations"),
}


def draw(figures: Figures, places: Sequence[Place], path: Path) -> None:
    """Write it."""
    mpl.rcParams["svg.hashsalt"] = "gittins"
    figure = Figure(figsize=(8.0, 4.2), layout="constrained")
    axes = figure.subplots()
    for policy, (marker, colour, label) in LOOKS.items():
        found = [(figures.above(p, policy), y) for y, p in enumerate(places) if policy in figures.policies(p)]
        axes.plot(*zip(*found, strict=True), marker, color=colour, label=label, markersize=8, markeredgewidth=1.6)
    above_bound(axes, [place.name for place in places])
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, metadata={"Date": None})
