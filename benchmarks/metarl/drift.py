"""``python -m benchmarks.metarl.drift``: ITP cluster04 in half months, as the log itself drifts.

``docs/results/data/metarl-drift.csv`` has, of each half month by submission, percent of mean JCT above that of `scorer`
with the true model: the interquartile mean over trainings and seeds, with its 95 % interval. Each contestant and seed
is one run over the whole log.
"""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.marl import cells
from benchmarks.metarl.cells import SEEDS, Cell
from benchmarks.metarl.contestants import CEILING, FROZEN, ITSELF, contestants
from benchmarks.placement.cell import run
from benchmarks.placement.contestants import TRAINING
from benchmarks.placement.means import above, middle
from benchmarks.results.figures import Difference
from benchmarks.results.trials import DATA
from pointsman.parallel.pool import Processes

LOG: Final = "ITP cluster04"
HALF_MONTH_S: Final = 15 * 86_400
SIGMA: Final = 0.2
WORKERS: Final = 2
FEW: Final = 3
"""Workloads: the log's jobs, whose models are drawn anew."""
WHO: Final = (CEILING, "lif, demands known", "packed", ITSELF, FROZEN)


def by_half_month_s(policy: str, params: dict[str, Any], seed: int) -> NDArray[np.float64]:
    """(half months) Mean JCT of the jobs submitted in each."""
    with tempfile.TemporaryDirectory() as folder:
        on, _ = cells.Cell(LOG).cluster(Path(folder))
        truth = f"table:sigma={SIGMA:g},seed={seed}"
        result = run(
            cells.with_models(cells.whole_log(LOG).jobs, seed),
            on,
            policy,
            params=params,
            seed=seed,
            node_interference=truth,
        )
    jobs = result.jobs.with_columns(half=(pl.col("submit_s") - pl.col("submit_s").min()) // HALF_MONTH_S)
    means = jobs.group_by("half", maintain_order=True).agg(jct_s=(pl.col("end_s") - pl.col("submit_s")).mean())
    return means.sort("half")["jct_s"].to_numpy()


def rows_of(seeds: Sequence[int]) -> list[dict[str, Any]]:
    """A row for each policy and half month; two trainings."""
    of = {name: [one for one in contestants(Cell(LOG)) if re.sub(TRAINING, "", one.label) == name]
          for name in WHO}  # fmt: skip
    calls = [(one.policy, dict(one.params), seed) for ones in of.values() for one in ones for seed in seeds]
    found = iter(list(Processes(WORKERS)(by_half_month_s, calls)))
    means = {who: np.array([[next(found) for _ in seeds] for _ in ones]) for who, ones in of.items()}
    """(trainings, seeds, half months) each."""
    return [
        {"half month": half + 1, "who": who, "mean JCT, h": round(float(mine[..., half].mean()) / 3600, 2),
         **_row(middle(above(mine[..., half], means[CEILING][..., half])))}
        for who, mine in means.items() for half in range(mine.shape[-1])
    ]  # fmt: skip


def _row(change: Difference) -> dict[str, float]:
    of = {"to true model": change.percent, "to true model, low": change.low, "to true model, high": change.high}
    return {name: round(value, 2) for name, value in of.items()}


def main() -> None:
    """See the module."""
    pl.DataFrame(rows_of(SEEDS[:FEW])).write_csv(DATA / "metarl-drift.csv")


if __name__ == "__main__":
    main()
