"""``python -m benchmarks.marl [--trained DIR] [--jobs N] [--seeds N] [-o FILE]``: placers and what was trained, by
cell.

Runs are kept in DIR/runs.jsonl, and go on there; FILE has, of each cell and contestant, the percent of mean JCT below
the best of LB, Tetris and LIF, and above `packed` and the scorer divided in the same way: interquartile means over
trainings and seeds, with 95 % intervals. *bound*: no job waits or is slowed.

Trainings are those of ``python -m benchmarks.marl.trainings``; without them only what learns nothing is compared.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.marl.cells import ABLATED, CLAIM, EIGHT, SEEDS, VARIED, Cell
from benchmarks.marl.contestants import MARL, SCORER, Contestant, ablations, everybody
from benchmarks.marl.runs import BOUND, Means, complete, means_of
from benchmarks.placement.cell import BLIND
from pointsman.learn.iqm import interquartile_mean, interval

DIVIDED = f"{SCORER}, divided"
AGAINST = ("packed", DIVIDED)
"""With whom each is compared besides, training by training where both were trained."""
CELLS = {"claim": CLAIM, "varied": VARIED, "ablations": ABLATED, "forwarding": EIGHT}
WITH_ABLATIONS = ("ablations", "forwarding")


def rows_of(found: Means, cell: Cell, who: Sequence[Contestant], seeds: Sequence[int]) -> list[dict[str, Any]]:
    """A row for each contestant."""
    sizes = {BOUND: 1} | {one.label: len(one.trainings) for one in who}
    means = {label: means_of(found, cell, label, n, seeds) for label, n in sizes.items()}
    best = min((means[name] for name in BLIND), key=lambda of: float(of.mean()))
    others = [name for name in AGAINST if name in means]
    return [
        {"cell": cell.name, "who": label}
        | told("below the three", 100 * (1 - mine / best))
        | {k: v for name in others for k, v in told(f"to {name}", compared(mine, means[name])).items()}
        for label, mine in means.items()
    ]


def compared(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> NDArray[np.float64]:
    """(trainings, seeds) percent of mean JCT above that of the same training, or of the only one."""
    many = max(len(mine), len(theirs)) if 1 in (len(mine), len(theirs)) else min(len(mine), len(theirs))
    first, second = (means if len(means) == 1 else means[:many] for means in (mine, theirs))
    return 100 * (first / second - 1)


def told(name: str, values: NDArray[np.float64]) -> dict[str, float | None]:
    """The interquartile mean of values (trainings, seeds), and its interval."""
    low, high = interval(values) or (None, None)
    middle = float(interquartile_mean(values.ravel()))
    return {name: round(middle, 2)} | {
        f"{name}, {end}": None if at is None else round(at, 2) for end, at in (("low", low), ("high", high))
    }


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trained", type=Path, default=Path("out/marl"))
    parser.add_argument("--jobs", type=int, default=Cell.jobs, help="of a workload")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="workloads of a cell")
    parser.add_argument("-o", "--output", type=Path, help="by default DIR/table.csv")
    parser.add_argument("--cells", choices=CELLS, nargs="*", default=list(CELLS))
    given = parser.parse_args()
    seeds = SEEDS[: given.seeds]
    rows: list[dict[str, Any]] = []
    for name in given.cells:
        who = everybody(given.trained) + (ablations(given.trained) if name in WITH_ABLATIONS else [])
        for cell in CELLS[name]:
            cell = replace(cell, jobs=given.jobs)
            found = complete(given.trained / "runs.jsonl", [cell], who, seeds)
            rows += rows_of(found, cell, who, seeds)
            mine = next((row for row in rows[::-1] if row["who"] == MARL), rows[-1])
            print({name: value for name, value in mine.items() if value is not None}, flush=True)
            pl.DataFrame(rows).write_csv(given.output or given.trained / "table.csv")


if __name__ == "__main__":
    main()
