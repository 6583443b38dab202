"""The picture of the page: the policies against each other, and where sharing ceases to be beneficial."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.results.axes import open_grid
from benchmarks.results.figures import Figures
from benchmarks.sharing.blocks import ALONE, BSBF, LADDER, PACKING, WHOLE_BSBF, WHOLE_FFS, change, measured
from benchmarks.sharing.cells import CONSTANTS, MAIN, SWEPT

LOOKS: Final = {
    BSBF: ("o", "tab:blue", "sjf-bsbf"),
    WHOLE_FFS: ("s", "tab:cyan", "sjf-ffs, no accumulation"),
    "srtf": ("^", "tab:green", "srtf"),
    LADDER: ("x", "tab:purple", "tiresias, 12 thresholds"),
    "gittins": ("D", "tab:orange", "gittins"),
    PACKING[0]: ("+", "tab:gray", "gandiva-packing (oracle), 60 s"),
}
COLOURS: Final = ("tab:blue", "tab:cyan", "tab:red", "tab:brown")


def draw(figures: Figures, path: Path) -> None:
    """Write it."""
    mpl.rcParams["svg.hashsalt"] = "sharing"
    figure = Figure(figsize=(10.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    _policies(figures, left)
    _slowdowns(figures, right)
    for axes in (left, right):
        open_grid(axes)
    figure.savefig(path, metadata={"Date": None})


def _policies(figures: Figures, axes: Any) -> None:
    for k, (policy, (marker, colour, label)) in enumerate(LOOKS.items()):
        found = [change(figures, cell, ALONE, policy) for cell in MAIN]
        rows = [y + (k - 2.5) / 9 for y in range(len(MAIN))]
        axes.hlines(rows, [one.low for one in found], [one.high for one in found], color=colour, lw=1.2)
        axes.plot([one.percent for one in found], rows, marker, color=colour, label=label, ms=6)
    axes.axvline(0.0, color="black", lw=0.8)
    axes.set_yticks(range(len(MAIN)), [cell.name.replace(", ", ",\n") for cell in MAIN])
    axes.invert_yaxis()
    axes.set_xlabel("mean JCT compared with sjf-backfill, %\n(left is better; 95 % intervals)")
    axes.legend(fontsize="small", frameon=False)


def _slowdowns(figures: Figures, axes: Any) -> None:
    at = [float(number) for number in CONSTANTS]
    for cell, colour in zip(SWEPT, COLOURS, strict=True):
        for policy, style in ((BSBF, "-"), (WHOLE_BSBF, "--")):
            if policy == BSBF or not cell.is_log:
                swept = (replace(cell, slowdown=number) for number in CONSTANTS)
                found = [change(figures, one, ALONE, policy).percent for one in swept]
                axes.plot(at, found, style, color=colour, marker=".", label=cell.name if policy == BSBF else None)
    axes.axhline(0.0, color="black", lw=0.8)
    across = axes.get_xaxis_transform()
    for gpu in ("v100", "p100"):
        axes.axvline(measured(gpu), color="black", lw=0.8, ls=":")
        axes.text(measured(gpu), 0.0, f" {gpu.upper()}", transform=across, va="bottom", fontsize="small")
    axes.set_xlabel("slowdown of all pairs\n(dotted: median of measured pairs)")
    axes.set_ylabel("sjf-bsbf compared with sjf-backfill, %")
    axes.legend(title="dashed: no accumulation", title_fontsize="small", fontsize="small", frameon=False)
