"""The picture of the page: percent above the bound, a line a workload."""

from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.gittins.blocks import hardest, name_of
from benchmarks.gittins.contestants import GITTINS, NONE, ORACLES
from benchmarks.gittins.figures import above
from benchmarks.results.axes import above_bound
from benchmarks.results.figures import Figures

LOOKS: Final = {
    "fifo-backfill": ("s", "tab:gray", "fifo-backfill"),
    "tiresias": ("x", "tab:green", "tiresias"),
    "las": ("+", "tab:olive", "las"),
    "las, 20 thresholds": ("v", "tab:purple", "las, 20 thresholds"),
    "dally": ("o", "tab:blue", "dally"),
    NONE: ("d", "tab:red", "gittins, no predictor"),
    GITTINS: ("D", "tab:orange", "gittins"),
    "gittins, R² 0.6": ("*", "tab:brown", "gittins, hints of R² 0.6"),
    ORACLES[0]: ("|", "black", "gittins, true durations"),
}


def draw(figures: Figures, path: Path) -> None:
    """Write it."""
    mpl.rcParams["svg.hashsalt"] = "gittins"
    figure = Figure(figsize=(8.0, 4.2), layout="constrained")
    axes, places = figure.subplots(), hardest(figures)
    for policy, (marker, colour, label) in LOOKS.items():
        found = [(above(figures, where, policy), y) for y, where in enumerate(places) if figures.ran(where, policy)]
        axes.plot(*zip(*found, strict=True), marker, color=colour, label=label, markersize=8, markeredgewidth=1.6)
    above_bound(axes, [name_of(where) for where in places])
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, metadata={"Date": None})
