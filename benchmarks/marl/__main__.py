"""``python -m benchmarks.marl [--trained DIR] [--jobs N] [--seeds N]``: placers and what was trained, cell by cell.

Figures are percent of mean JCT below the best of LB, Tetris and LIF; *bound*: no job waits or is slowed. Runs are kept
in DIR/runs.jsonl, and go on there.

Trainings are those of ``python -m benchmarks.marl.trainings``; without them only what learns nothing is compared.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.marl.cells import CLAIM, SEEDS, VARIED, Cell
from benchmarks.marl.contestants import Contestant, everybody
from benchmarks.marl.runs import BOUND, Means, complete, means_of
from benchmarks.placement.cell import BLIND
from pointsman.learn.iqm import interquartile_mean


def below_the_three(found: Means, cell: Cell, who: Sequence[Contestant], seeds: Sequence[int]) -> dict[str, float]:
    """By contestant the percent below the best of the three: of each seed, and of these the interquartile mean."""
    best = min((means_of(found, cell, name, 1, seeds) for name in BLIND), key=lambda means: float(means.mean()))
    sizes = {BOUND: 1} | {one.label: len(one.trainings) for one in who}
    return {
        label: round(float(interquartile_mean((100 * (1 - means_of(found, cell, label, n, seeds) / best)).ravel())), 1)
        for label, n in sizes.items()
    }


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trained", type=Path, default=Path("out/marl"))
    parser.add_argument("--jobs", type=int, default=Cell.jobs, help="of a workload")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="workloads of a cell")
    parser.add_argument("--varied", action="store_true", help="the cells that vary one thing instead")
    given = parser.parse_args()
    who, seeds = everybody(given.trained), SEEDS[: given.seeds]
    for cell in VARIED if given.varied else CLAIM:
        cell = replace(cell, jobs=given.jobs)
        found = complete(given.trained / "runs.jsonl", [cell], who, seeds)
        print(cell.name, below_the_three(found, cell, who, seeds), flush=True)


if __name__ == "__main__":
    main()
