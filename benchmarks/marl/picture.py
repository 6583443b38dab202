"""``python -m benchmarks.marl.picture [TABLE] [-o FILE]``: the picture of MARL's page."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

from benchmarks.marl.__main__ import DIVIDED
from benchmarks.marl.contestants import MARL, SINGLE
from benchmarks.marl.runs import BOUND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BELOW = "below the three"
Looks = dict[str, tuple[str, str, str]]
"""Marker, colour and label, by who is compared."""
TICKS = (-20, -10, -5, 0, 5, 10, 20, 40)
LOOKS: Looks = {
    BOUND: ("|", "black", "bound: no job waits or is slowed"),
    "packed": ("s", "tab:gray", "packed"),
    "fifo-backfill": ("x", "tab:green", "fifo-backfill, its usual placement"),
    "sjf-backfill": ("+", "tab:olive", "sjf-backfill, likewise"),
    DIVIDED: ("o", "tab:blue", "linear scorer, four schedulers"),
    SINGLE: ("v", "tab:purple", "single agent"),
    MARL: ("D", "tab:orange", "MARL"),
}


def draw(table: pl.DataFrame, looks: Looks, above: str, learned: tuple[str, ...], dotted: str) -> Figure:
    """Left how far below the best of LB, Tetris and LIF each is, right what learning adds to the scorer.

    Args:
        table: as `python -m benchmarks.marl` or `benchmarks.metarl` writes it.
        looks: of all on the left.
        above: the column that the right shows.
        learned: of whom it shows it.
        dotted: what a dotted line at 20 % stands for.
    """
    cells = table["cell"].unique(maintain_order=True).to_list()
    figure = Figure(figsize=(11, 1.6 + 0.3 * len(cells)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    for who, (marker, colour, label) in looks.items():
        of = {row["cell"]: row for row in table.filter(who=who).to_dicts()}
        at = [i for i, cell in enumerate(cells) if cell in of]
        if at:
            left.plot([of[cells[i]][BELOW] for i in at], at, marker, color=colour, label=label, mfc="none", ms=7)
        if at and who in learned:
            _with_intervals(right, above, [of[cells[i]] for i in at], at, marker, colour)
    left.axvline(20, color="tab:red", lw=0.8, ls=":")
    left.set_yticks(range(len(cells)), cells)
    left.invert_yaxis()
    left.set_xlabel(f"mean JCT, % below the best of LB, Tetris and LIF\n(dotted: {dotted})")
    right.axvline(0, color="tab:blue", lw=0.8)
    right.set_xscale("symlog", linthresh=5)
    right.set_xticks(TICKS, map(str, TICKS))
    right.set_xlabel("mean JCT, % above the scorer's\n(95 % intervals; logarithmic beyond 5 %)")
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    for axes in (left, right):
        axes.grid(axis="x", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _with_intervals(axes: "Axes", above: str, rows: list[dict], at: list[int], marker: str, colour: str) -> None:
    middle = [row[above] for row in rows]
    sides = [[abs(row[f"{above}, {end}"] - row[above]) for row in rows] for end in ("low", "high")]
    axes.errorbar(middle, at, xerr=sides, fmt=marker, color=colour, mfc="none", ms=7, capsize=3)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path, nargs="?", default=Path("docs/results/data/marl.csv"))
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results/marl.svg"))
    given = parser.parse_args()
    mpl.rcParams["svg.hashsalt"] = "marl"
    figure = draw(pl.read_csv(given.table), LOOKS, f"to {DIVIDED}", (MARL, SINGLE), "the paper's 20 %")
    figure.savefig(given.output, metadata={"Date": None})


if __name__ == "__main__":
    main()
