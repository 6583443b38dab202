"""``python -m benchmarks.marl.choices``: how often MARL chooses otherwise than the scorer that it begins from.

``docs/results/data/marl-choices.csv`` has, for each cell, the percent of decisions in which it does, and what it does
instead. If it never did, its schedule would be the scorer's.
"""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import torch

from benchmarks.marl.cells import SEEDS, Cell
from benchmarks.marl.contestants import MARL, everyone
from benchmarks.placement.cell import run
from benchmarks.placement.contestants import given
from benchmarks.results.trials import DATA
from pointsman.learn.policies.marl import Marl

if TYPE_CHECKING:
    from pointsman.engine.run.view import View

CELLS: Final = [Cell(), Cell(load=0.9), Cell("1-16", 0.9)]
SEED: Final = SEEDS[0]


class Counted(Marl):
    """MARL, which counts its choices beside those of the scorer."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.found: Counter[str] = Counter()

    def _choose(self, view: "View") -> int:
        action, seen = super()._choose(view), self._judge.seen
        with torch.inference_mode():
            usual = int(self._made.network.usual(seen._parts)[0])  # ty: ignore
        self.found["decisions"] += 1
        if action != usual:
            kinds = [_kind(one, seen.actions) for one in (usual, action)]
            self.found[" instead of ".join(kinds[::-1]) if kinds[0] != kinds[1] else "another place"] += 1
        return action


def _kind(action: int, actions: int) -> str:
    return {actions - 2: "forward", actions - 1: "wait"}.get(action, "place")


def row_of(cell: Cell, folder: Path) -> dict[str, Any]:
    """Percent of decisions, over all trainings."""
    on, servers = cell.cluster(folder)
    found: Counter[str] = Counter()
    for who in everyone(cell):
        if who.label.startswith(f"{MARL}, training"):
            policy = Counted(**given(who))
            run(cell.workload(servers, SEED), on, policy, seed=SEED)
            found += policy.found
    many = found.pop("decisions")
    shares = {kind: round(100 * times / many, 2) for kind, times in found.most_common()}
    return {"cell": cell.name, "decisions": many, "otherwise": round(sum(shares.values()), 2)} | shares


def main() -> None:
    """See the module."""
    with TemporaryDirectory() as folder:
        rows = [row_of(cell, Path(folder)) for cell in CELLS]
    pl.DataFrame(rows).write_csv(DATA / "marl-choices.csv")


if __name__ == "__main__":
    main()
