"""``python -m benchmarks.metarl.drift [-o FILE]``: ITP cluster04 in half months, as the log itself drifts.

One run over the whole log for each contestant and seed. Of each half month, by submission, percent of mean JCT above
that of `scorer` with the true model: the interquartile mean over trainings and seeds, with its 95 % interval.
"""

import argparse
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.marl import cells
from benchmarks.marl.__main__ import told
from benchmarks.metarl.__main__ import TRAINED
from benchmarks.metarl.cells import SEEDS
from benchmarks.metarl.contestants import CEILING, Contestant, metarl, untrained
from benchmarks.placement.cell import run
from pointsman import Workload
from pointsman.parallel.pool import Processes

LOG: Final = "ITP cluster04"
HALF_MONTH_S: Final = 15 * 86_400
SIGMA: Final = 0.2
WORKERS: Final = 2
FEW: Final = 3
"""Workloads: the log's jobs, whose models are drawn anew."""
WHO: Final = (CEILING, "lif, demands known", "packed", "metarl", "metarl, frozen", "metarl, no network")


def by_half_month_s(policy: str, params: dict[str, Any], seed: int) -> NDArray[np.float64]:
    """(half months) Mean JCT of the jobs submitted in each."""
    with tempfile.TemporaryDirectory() as folder:
        on, _ = cells.Cell(LOG).cluster(Path(folder))
        truth = f"table:sigma={SIGMA:g},seed={seed}"
        result = run(_workload(seed), on, policy, params=params, seed=seed, node_interference=truth)
    jobs = result.jobs.with_columns(half=(pl.col("submit_s") - pl.col("submit_s").min()) // HALF_MONTH_S)
    means = jobs.group_by("half", maintain_order=True).agg(jct_s=(pl.col("end_s") - pl.col("submit_s")).mean())
    return means.sort("half")["jct_s"].to_numpy()


def _workload(seed: int) -> Workload:
    jobs = cells.whole_log(LOG).jobs
    drawn = np.random.default_rng(seed).choice(len(cells.MODELS), jobs.height)
    return Workload.of(jobs.with_columns(model=pl.Series(cells.MODELS).gather(drawn)))


def rows_of(who: Sequence[Contestant], seeds: Sequence[int]) -> list[dict[str, Any]]:
    """A row for each contestant and half month."""
    calls = [(one.policy, dict(params), seed) for one in who for params in one.trainings for seed in seeds]
    found = iter(list(Processes(WORKERS)(by_half_month_s, calls)))
    means = {
        one.label: np.array([[next(found) for _ in seeds] for _ in one.trainings]) for one in who
    }  # (trainings, seeds, half months)
    rows = []
    for one, half in product(who, range(means[CEILING].shape[-1])):
        above = 100 * (means[one.label][..., half] / means[CEILING][..., half] - 1)
        mean_h = round(float(means[one.label][..., half].mean()) / 3600, 2)
        row = {"half month": half + 1, "who": one.label, "mean JCT, h": mean_h}
        rows.append(row | told("to true model", above))
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results/data/metarl-drift.csv"))
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        everybody = {one.label: one for one in [*untrained(), *metarl(TRAINED, Path(folder))]}
        two = [Contestant(name, everybody[name].policy, everybody[name].trainings[:2]) for name in WHO]
        rows = rows_of(two, list(SEEDS[:FEW]))
    pl.DataFrame(rows).write_csv(given.output)
    print(pl.DataFrame(rows))


if __name__ == "__main__":
    main()
