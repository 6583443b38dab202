"""``python -m benchmarks.metarl.speed``: how long `metarl` takes to decide, to fit its model, and to adapt
(``docs/results/data/metarl-speed.csv``).

A decision is one job placed or let wait, with what was measured just before; fits and adaptations are apart.
"""

import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
import polars as pl

from benchmarks.metarl.cells import Cell
from benchmarks.metarl.contestants import STEPS
from benchmarks.placement.cell import run
from benchmarks.results.trials import DATA
from pointsman.learn.policies.metarl import MetaRl

CELLS: Final = [
    (Cell(), STEPS),
    (Cell(servers=64), STEPS),
    (Cell(servers=256), 0),
    (Cell(servers=1024, submitted=6000), 0),
]
"""And how many steps an adaptation has."""


class Timed(MetaRl):
    """`metarl` with a watch."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.decisions, self.all_s = 0, 0.0
        self.fits_s: list[float] = []
        self.adaptations_s: list[float] = []
        self.interference.learner.refit = self._timed(self.interference.learner.refit, self.fits_s)
        if self._adapting is not None:
            self._adapting.adapt = self._timed(self._adapting.adapt, self.adaptations_s)

    @staticmethod
    def _timed(work: Any, into: list[float]) -> Any:
        def timed(*given: Any) -> None:
            began = perf_counter()
            work(*given)
            into.append(perf_counter() - began)

        return timed

    def _usual(self, view: Any) -> int:
        self.decisions += 1
        return super()._usual(view)

    def decide(self, view: Any) -> None:
        """As of any `metarl`."""
        began = perf_counter()
        super().decide(view)
        self.all_s += perf_counter() - began

    @property
    def decision_ms(self) -> float:
        """Mean of all."""
        return 1e3 * (self.all_s - sum(self.fits_s) - sum(self.adaptations_s)) / self.decisions


def row_of(cell: Cell, params: dict[str, Any], folder: Path) -> dict[str, Any]:
    """One run, after one that compiles."""
    on, servers = cell.cluster(folder)
    run(Cell(submitted=200).workload(servers, 1), on, MetaRl(), seed=1, **cell.options(1))
    policy = Timed(**params)
    run(cell.workload(servers, 1), on, policy, seed=1, **cell.options(1))
    return {
        "servers": servers,
        **params,
        "decisions": policy.decisions,
        "decision, ms": round(policy.decision_ms, 3),
        "fit, ms": round(1e3 * float(np.mean(policy.fits_s)), 1),
        "longest fit, ms": round(1e3 * max(policy.fits_s), 1),
        "longest adaptation, s": round(max(policy.adaptations_s, default=0.0), 1),
    }


def main() -> None:
    """See the module."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [row_of(cell, {"steps": steps}, Path(folder)) for cell, steps in CELLS]
    pl.DataFrame(rows).write_csv(DATA / "metarl-speed.csv")


if __name__ == "__main__":
    main()
