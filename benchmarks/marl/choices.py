"""``python -m benchmarks.marl.choices [--trained DIR] [-o FILE]``: how often MARL chooses otherwise than the scorer it
mends.

FILE has, for each cell, the percent of decisions in which it does, and what it does instead. Where it never
did, its schedule would be the scorer's, so that all it gains comes from these decisions.
"""

import argparse
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import torch

from benchmarks.marl.cells import SEEDS, Cell
from benchmarks.marl.contestants import MARL, Contestant, everybody
from benchmarks.placement.cell import run
from pointsman.learn.policies.marl import Marl

if TYPE_CHECKING:
    from pointsman.engine.run.view import View

CELLS: Final = [Cell(), Cell(load=0.9), Cell("1-16", 0.9)]
ROUNDS: Final = 1


class Counted(Marl):
    """MARL, which counts its choices beside those of the scorer."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.found: Counter[str] = Counter()

    def _chosen(self, view: "View") -> int:
        action, seen = super()._chosen(view), self._judge.seen
        with torch.inference_mode():
            usual = int(self._made.network.usual(seen._parts)[0])  # ty: ignore
        self.found["decisions"] += 1
        if action != usual:
            kinds = [_kind(one, seen.actions) for one in (usual, action)]
            self.found[" instead of ".join(kinds[::-1]) if kinds[0] != kinds[1] else "another place"] += 1
        return action


def _kind(action: int, actions: int) -> str:
    return {actions - 2: "forward", actions - 1: "wait"}.get(action, "place")


def row_of(cell: Cell, folder: Path, who: Contestant) -> dict[str, Any]:
    """Percent of decisions, over all trainings."""
    on, servers = cell.cluster(folder)
    found: Counter[str] = Counter()
    for training in range(len(who.trainings)):
        for seed in SEEDS[:ROUNDS]:
            policy = Counted(**who.params(training, cell))
            run(cell.workload(servers, seed), on, policy, seed=seed)
            found += policy.found
    many = found.pop("decisions")
    shares = {kind: round(100 * times / many, 2) for kind, times in found.most_common()}
    return {"cell": cell.name, "decisions": many, "otherwise": round(sum(shares.values()), 2)} | shares


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trained", type=Path, default=Path("out/marl"))
    parser.add_argument("-o", "--output", type=Path, help="by default DIR/choices.csv")
    given = parser.parse_args()
    who = next(one for one in everybody(given.trained) if one.label == MARL)
    rows = []
    with TemporaryDirectory() as folder:
        for cell in CELLS:
            rows.append(row_of(cell, Path(folder), who))
            print(rows[-1], flush=True)
    pl.DataFrame(rows).write_csv(given.output or given.trained / "choices.csv")


if __name__ == "__main__":
    main()
