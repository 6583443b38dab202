"""The picture of the page: the policies against each other, and where sharing ceases to be beneficial."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks import pair_data
from benchmarks.results.axes import open_grid
from benchmarks.results.figures import Figures
from benchmarks.sharing.blocks import ALONE, BSBF, LADDER, PACKING, WHOLE_BSBF, WHOLE_FFS, change, measured
from benchmarks.sharing.cells import BY_OTHER_TABLE, CONSTANTS, MAIN, SWEPT, Cell

LOOKS: Final = {
    BSBF: ("o", "tab:blue", "sjf-bsbf"),
    WHOLE_FFS: ("s", "tab:cyan", "sjf-ffs, accumulation=none"),
    "srtf": ("^", "tab:green", "srtf"),
    LADDER: ("x", "tab:purple", "tiresias, 12 thresholds"),
    "gittins": ("D", "tab:orange", "gittins"),
    PACKING: ("+", "tab:gray", "gandiva-packing (oracle), 600 s"),
}
SHARING: Final = (BSBF, WHOLE_FFS)
"""Also drawn, hollow, with the slowdowns of the other table."""
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
        rows = [y + (k - 2.5) / 9 for y in range(len(MAIN))]
        _points(figures, axes, MAIN, policy, rows, fmt=marker, color=colour, label=label)
        if policy in SHARING:
            _points(figures, axes, BY_OTHER_TABLE, policy, rows, fmt=marker, color=colour, mfc="white")
    axes.axvline(0.0, color="black", lw=0.8)
    axes.set_yticks(range(len(MAIN)), [cell.name.replace(" ImageNet", "\nImageNet") for cell in MAIN])
    axes.invert_yaxis()
    axes.set_xlabel(
        "mean JCT compared with sjf-backfill, %\n(left is better; 95 % intervals; hollow: other table of pairs)"
    )
    axes.legend(fontsize="small", frameon=False)


def _points(figures: Figures, axes: Any, cells: tuple[Cell, ...], policy: str, rows: list[float], **look: Any) -> None:
    found = [change(figures, cell, ALONE, policy) for cell in cells]
    low, high = zip(*((one.percent - one.low, one.high - one.percent) for one in found), strict=True)
    axes.errorbar([one.percent for one in found], rows, xerr=(low, high), ms=6, elinewidth=1.2, **look)


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
    for height, (table, style) in enumerate(zip(pair_data.SOURCES, (":", "-."), strict=True)):
        for gpu in ("v100", "p100"):
            at_median = measured(gpu, table)
            axes.axvline(at_median, color="black", lw=0.8, ls=style)
            axes.text(at_median, 1 - height / 20, f" {gpu.upper()}", transform=across, va="top", fontsize="small")
    axes.set_xlabel("slowdown of all pairs\n(measured medians: dotted shipped, dash-dotted other)")
    axes.set_ylabel("sjf-bsbf compared with sjf-backfill, %")
    axes.legend(title="dashed: accumulation=none", title_fontsize="small", fontsize="small", frameon=False)
