"""All cells and seeds side by side, and what comes of them: means, and differences paired on seeds."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.network.cells import BASE, FIGURES, Figures, run_cell
from pointsman.parallel.pool import Processes
from pointsman.report.metrics.confidence import Interval, ratio_interval

WORKERS = 2


@dataclass(frozen=True)
class Measured:
    """One cell: the figures of each entry, seed by seed."""

    cell: Any
    entries: tuple[Any, ...]
    seeds: tuple[int, ...]
    runs: dict[str, list[Figures]]
    """By the entry's label, in the order of the seeds."""

    def values(self, label: str, figure: str) -> np.ndarray:
        """(seeds,) of one entry."""
        return np.array([run[figure] for run in self.runs[label]], dtype=np.float64)

    def mean(self, label: str, figure: str) -> float:
        """Over the seeds."""
        return float(self.values(label, figure).mean())

    def change(self, figure: str, label: str, base: str = BASE.label) -> tuple[float, Interval | None]:
        """Of `base` against `label`, as a ratio, with its interval, paired on seeds."""
        here, there = self.values(base, figure), self.values(label, figure)
        if not there.sum():
            return 0.0, None
        return float(here.sum() / there.sum()) - 1, ratio_interval(here, there)


def measure(
    what: str,
    cells: Sequence[Any],
    entries: Sequence[Any],
    seeds: Sequence[int],
    data: Path,
    run: Callable[..., list[Figures]] = run_cell,
) -> list[Measured]:
    """Run all entries in all cells with all seeds, and say how far it is."""
    calls = [(cell, entries, seed, data) for cell in cells for seed in seeds]
    found: list[list[Figures]] = []
    for done, figures in enumerate(Processes(WORKERS)(run, calls), 1):
        found.append(figures)
        if done % max(1, len(calls) // 4) == 0:
            print(f"{what}: {done} of {len(calls)}", file=sys.stderr, flush=True)
    by_cell = [found[i : i + len(seeds)] for i in range(0, len(found), len(seeds))]
    return [
        Measured(cell, tuple(entries), tuple(seeds), _by_label(entries, of_seeds))
        for cell, of_seeds in zip(cells, by_cell, strict=True)
    ]


def _by_label(entries: Sequence[Any], of_seeds: list[list[Figures]]) -> dict[str, list[Figures]]:
    return {entry.label: [figures[i] for figures in of_seeds] for i, entry in enumerate(entries)}


def as_json(found: Sequence[Measured], figures: Sequence[str] = FIGURES) -> dict[str, dict[str, list[float]]]:
    """The means over seeds, by cell and entry, in the order of `figures`, four digits of each."""
    return {
        one.cell.name: {label: [float(f"{one.mean(label, name):.4g}") for name in figures] for label in one.runs}
        for one in found
    }
