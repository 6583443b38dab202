"""``python -m benchmarks.metarl.model``: how wrong the model of `metarl` is while it runs, and what exploring
costs (``docs/results/data/metarl-model.csv``).

An error is |forecast / measured - 1| of a slow-down, just before it is corrected: at *first sight*, where those jobs
were never seen on one server before, and *later*. *Within*: the share of first sights where the logarithms differ by
no more than twice the disagreement of the laws.
"""

import tempfile
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.metarl.cells import SEEDS, UNSEEN, Cell
from benchmarks.placement.cell import run
from benchmarks.placement.contestants import METARL, TWO
from benchmarks.results.trials import DATA
from pointsman.learn.policies.closed_loop import ClosedLoop
from pointsman.learn.policies.metarl import MetaRl
from pointsman.report.result import Result

CELLS: Final = [Cell(), Cell(sigma=0.1), Cell(sigma=0.05), Cell(change=UNSEEN)]
SOME: Final = [*(str(METARL / f"no-network-{k}") for k in TWO), "none"]
Floats = NDArray[np.float64]


class Watched(ClosedLoop):
    """It notes what was forecast of all that it sees, before it believes its eyes."""

    def __init__(self, loop: ClosedLoop) -> None:
        super().__init__(loop.learner, loop.exploration)
        self.sights: list[Floats] = []
        """(n, 4) each: forecast and measured logarithm, disagreement, whether it was seen before."""

    def read(self, view: Any) -> tuple[NDArray[np.int64], Floats]:
        """As of any closed loop."""
        rows, slow_downs = super().read(view)
        forecast = (self.learner.predicted[rows], np.log(slow_downs), self.learner.disagreement[rows])
        self.sights.append(np.column_stack([*forecast, self.ledger.visited(rows)]))
        return rows, slow_downs


class Watching(MetaRl):
    """`metarl`, watched."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.interference = Watched(self.interference)


def row_of(cell: Cell, checkpoint: str, folder: Path) -> dict[str, Any]:
    """Means over the first workloads."""
    on, servers = cell.cluster(folder)
    found = []
    for seed in SEEDS:
        policy = Watching(checkpoint=checkpoint)
        result = run(cell.workload(servers, seed), on, policy, seed=seed, **cell.options(seed))
        found.append({**errors(np.concatenate(policy.interference.sights)), **cost(policy, result)})
    of = {name: round(float(np.mean([one[name] for one in found])), 2) for name in found[0]}
    return {"cell": cell.name, "checkpoint": Path(checkpoint).name, **of}


def errors(sights: Floats) -> dict[str, float]:
    """In percent."""
    forecast, measured, disagreement, seen = sights.T
    wrong, first = np.abs(np.expm1(np.maximum(forecast, 0) - measured)), seen == 0
    within = np.abs(forecast - measured) <= 2 * disagreement
    return {
        "first sights": int(first.sum()),
        "error at first sight, %": 100 * wrong[first].mean(),
        "error later, %": 100 * wrong[~first].mean(),
        "within, %": 100 * within[first].mean(),
        "disagreement at first sight, %": 100 * disagreement[first].mean(),
        "disagreement later, %": 100 * disagreement[~first].mean(),
    }


def cost(policy: MetaRl, result: Result) -> dict[str, float]:
    """Of placements to learn from, and how many times as long as alone those jobs, and the others, really took."""
    exploration = policy.interference.exploration
    slowness = ((result.jobs["end_s"] - result.jobs["start_s"]) / result.jobs["duration_s"]).to_numpy()
    rows = sorted(exploration.explored)
    others = np.delete(slowness, rows)
    return {
        "explored jobs": len(rows),
        "explored GPU time, %": 100 * exploration.explored_gpu_ms / exploration.all_gpu_ms,
        "explored, p50": float(np.quantile(slowness[rows], 0.5)),
        "explored, p99": float(np.quantile(slowness[rows], 0.99)),
        "others, p50": float(np.quantile(others, 0.5)),
        "others, p99": float(np.quantile(others, 0.99)),
    }


def main() -> None:
    """See the module."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [row_of(cell, checkpoint, Path(folder)) for cell, checkpoint in product(CELLS, SOME)]
    pl.DataFrame(rows).write_csv(DATA / "metarl-model.csv")


if __name__ == "__main__":
    main()
