"""``python -m benchmarks.metarl [--cells NAME ...] [--into DIR] [-o FILE]``: what Meta-RL placement gains.

Of each cell and contestant: percent of mean JCT below the best of LB, Tetris and LIF (told the demands of models, as
operators may know them), and above that of `scorer` with the true model and of `metarl`'s frozen self, which neither
measures nor adapts. Interquartile means over trainings and seeds, with 95 % intervals.

Runs are kept in DIR/runs.jsonl, and go on there. In the base cell, after each change and in short traces, all five
trainings of `metarl` and of its frozen self have ten workloads; its other variants, and every variant in other cells,
have two trainings and five workloads.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from benchmarks.marl.__main__ import compared, told
from benchmarks.marl.runs import BOUND, Means, complete, means_of
from benchmarks.metarl.cells import BASE, CHANGED, SEEDS, SHORT, VARIED, Cell
from benchmarks.metarl.contestants import CEILING, TWO, Contestant, metarl, untrained

TRAINED: Final = Path(__file__).parent / "trained"
BEST_OF: Final = ("lb", "tetris-place", "lif, demands known")
ITSELF, FROZEN, ADAPTING = "metarl", "metarl, frozen", "adapting"
AGAINST: Final = {"to true model": CEILING, "to frozen": FROZEN, "to metarl": ITSELF}
CELLS: Final = {"base": BASE, "changed": CHANGED, "short": SHORT, "varied": VARIED}
ADAPTS: Final = ("base", "changed")
"""Where variants that adapt are measured too: they take minutes a run."""
FEW: Final = 5
"""Workloads, of what is not measured in full."""


def fewer(who: Sequence[Contestant], in_full: bool) -> list[tuple[Contestant, Sequence[int]]]:
    """Each with its workloads, and with as many trainings as are measured."""
    found: list[tuple[Contestant, Sequence[int]]] = []
    for one in who:
        if in_full and len(one.trainings) in (1, 5):
            found.append((one, SEEDS))
        else:
            found.append((Contestant(one.label, one.policy, one.trainings[: len(TWO)]), SEEDS[:FEW]))
    return found


def rows_of(found: Means, cell: Cell, who: Sequence[tuple[Contestant, Sequence[int]]]) -> list[dict[str, Any]]:
    """A row for each contestant."""
    measured = {one.label: (len(one.trainings), seeds) for one, seeds in who}
    rows = []
    for label, (trainings, seeds) in {BOUND: (1, who[0][1]), **measured}.items():
        mine = means_of(found, cell, label, trainings, seeds)
        best = np.min([means_of(found, cell, name, 1, seeds) for name in BEST_OF], axis=0)
        row: dict[str, Any] = {"cell": cell.name, "who": label, "trainings": trainings, "workloads": len(seeds)}
        row |= told("below the three", 100 * (1 - mine / best))
        for name, other in AGAINST.items():
            row |= told(name, compared(mine, means_of(found, cell, other, measured[other][0], seeds)))
        rows.append(row)
    return rows


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("out/metarl"))
    parser.add_argument("-o", "--output", type=Path, default=Path("out/metarl/metarl.csv"))
    parser.add_argument("--cells", choices=CELLS, nargs="*", default=list(CELLS))
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        everybody = [*untrained(), *metarl(TRAINED, Path(folder))]
        for name in given.cells:
            in_full = name != "varied"
            for cell in CELLS[name]:
                adapts = name in ADAPTS
                who = fewer([one for one in everybody if adapts or ADAPTING not in one.label], in_full)
                print(cell.name, flush=True)
                for seeds in {tuple(seeds): seeds for _, seeds in who}.values():
                    own = [one for one, some in who if some == seeds]
                    found = complete(given.into / "runs.jsonl", [cell], own, seeds)
                rows += rows_of(found, cell, who)
                pl.DataFrame(rows, infer_schema_length=None).write_csv(given.output)
                print(next(row for row in rows[::-1] if row["who"] == ITSELF), flush=True)


if __name__ == "__main__":
    main()
