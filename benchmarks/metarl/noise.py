"""``python -m benchmarks.metarl.noise``: what it costs `metarl` that measurements of speed are wrong.

Each reading of how many times as long a job computes is multiplied by exp(N(0, σ)), drawn anew each time.
``docs/results/data/metarl-noise.csv`` has, of each σ, percent of mean JCT, its 99th percentile and the longest wait
above those with exact readings, and above those of `scorer` with the true model: interquartile means over two trainings
and five workloads of the base cell.
"""

import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.metarl.cells import SEEDS, Cell
from benchmarks.metarl.contestants import CEILING, UNTRAINED
from benchmarks.placement.cell import run
from benchmarks.placement.contestants import METARL, TWO
from benchmarks.placement.means import above, middle
from benchmarks.results.trials import DATA
from pointsman.learn.policies.closed_loop import ClosedLoop
from pointsman.learn.policies.metarl import MetaRl
from pointsman.parallel.pool import Processes

SIGMAS: Final = (0.0, 0.03, 0.1, 0.2, 0.4)
FIGURES: Final = ("mean", "p99", "longest")


class Noisy(ClosedLoop):
    """It misreads all that it sees."""

    def __init__(self, loop: ClosedLoop, sigma: float, seed: int) -> None:
        super().__init__(loop.learner, loop.exploration)
        self._sigma, self._draw = sigma, np.random.default_rng([seed, 7])

    def read(self, view: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """As of any closed loop, wrong by so much."""
        rows, slow_downs = super().read(view)
        return rows, slow_downs * np.exp(self._draw.normal(0.0, self._sigma, len(rows)))


class NoisyMetaRl(MetaRl):
    """`metarl` whose measurements are wrong."""

    def __init__(self, sigma: float, draw: int, **params: Any) -> None:
        super().__init__(**params)
        self.interference = Noisy(self.interference, sigma, draw)


def figures_of(sigma: float | None, training: int, seed: int) -> list[float]:
    """Mean JCT, its 99th percentile and the longest wait, s; without `sigma`, of `scorer` with the true model."""
    ceiling = next(one for one in UNTRAINED if one.label == CEILING)
    policy: Any = ceiling.policy
    if sigma is not None:
        policy = NoisyMetaRl(sigma, seed, checkpoint=str(METARL / f"no-network-{training}"))
    with tempfile.TemporaryDirectory() as folder:
        on, servers = Cell().cluster(Path(folder))
        jobs = run(Cell().workload(servers, seed), on, policy, seed=seed, **Cell().options(seed)).jobs
    jct_s = jobs["end_s"] - jobs["submit_s"]
    return [float(jct_s.mean()), float(jct_s.quantile(0.99, "linear")), float(jobs["pending_s"].max())]  # ty: ignore


def main() -> None:
    """See the module."""
    calls = [(sigma, training, seed) for sigma in (None, *SIGMAS) for training in TWO for seed in SEEDS]
    found = np.array(list(Processes(2)(figures_of, calls))).reshape(-1, len(TWO), len(SEEDS), len(FIGURES))
    ceiling, exact, *_ = found
    rows = [
        {"noise": sigma, "figure": figure,
         "to exact": round(middle(above(mine[..., k], exact[..., k])).percent, 2),
         "to true model": round(middle(above(mine[..., k], ceiling[..., k])).percent, 2)}
        for sigma, mine in zip(SIGMAS, found[1:], strict=True) for k, figure in enumerate(FIGURES)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(DATA / "metarl-noise.csv")


if __name__ == "__main__":
    main()
