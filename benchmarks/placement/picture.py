"""The picture of a page: how far below the best of LB, Tetris and LIF each policy is, and what learning adds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.placement.means import Means
from benchmarks.results.axes import open_grid

TICKS: Final = (-20, -5, 0, 5, 20)


@dataclass(frozen=True)
class Picture:
    """What is drawn."""

    looks: Mapping[str, tuple[str, str, str]]
    """Marker, colour and label of each policy on the left."""
    learned: Sequence[str]
    """Those on the right."""
    other: str
    """The policy to which these are compared."""
    said: str
    """As the axis names it."""
    claim: float
    """Percent, a dotted line."""

    def draw(self, means: Means, path: Path) -> None:
        """Write it."""
        mpl.rcParams["svg.hashsalt"] = path.stem
        cells = means.cells
        figure = Figure(figsize=(11, 1.6 + 0.3 * len(cells)), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        for who, (marker, colour, label) in self.looks.items():
            of = {at: means.below(cell, who).percent for at, cell in enumerate(cells) if means.ran(cell, who)}
            left.plot(list(of.values()), list(of), marker, color=colour, label=label, mfc="none", ms=7)
            if who in self.learned:
                self._with_intervals(right, means, who)
        left.axvline(self.claim, color="tab:red", lw=0.8, ls=":", label=f"the paper: {self.claim:.0f} % or more")
        left.set_yticks(range(len(cells)), [cell.name for cell in cells])
        left.invert_yaxis()
        left.set_xlabel("mean JCT, % below the best of LB, Tetris and LIF\n(right is better)")
        right.axvline(0, color=self.looks[self.other][1] if self.other in self.looks else "black", lw=0.8)
        right.set_xscale("symlog", linthresh=5)
        right.set_xticks(TICKS, [f"{tick:+d}".replace("-", "−") if tick else "0" for tick in TICKS])
        right.set_xticks([], minor=True)
        right.set_xlabel(f"mean JCT, % relative to {self.said}\n(95 % intervals; left is better)")
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
        for axes in (left, right):
            open_grid(axes)
        figure.savefig(path, metadata={"Date": None})

    def _with_intervals(self, axes: Axes, means: Means, who: str) -> None:
        marker, colour, _ = self.looks[who]
        of: dict[int, Any] = {
            at: means.above(cell, who, self.other) for at, cell in enumerate(means.cells) if means.ran(cell, who)
        }
        shift = 0.2 * (self.learned.index(who) - (len(self.learned) - 1) / 2)
        middle = np.array([change.percent for change in of.values()])
        sides = np.array([(change.percent - change.low, change.high - change.percent) for change in of.values()]).T
        axes.errorbar(
            middle, np.array(list(of)) + shift, xerr=sides, fmt=marker, color=colour, mfc="none", ms=6, capsize=2
        )
