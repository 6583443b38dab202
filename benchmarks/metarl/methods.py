"""``python -m benchmarks.metarl.methods [--seeds N] [-o FILE]``: what is gained by each way to put together what runs
under other truths have learnt of interference, without a network.

Of each cell and contestant, percent of mean JCT above that of `scorer` with the true model: interquartile means over
the seeds with 95 % intervals. 32 servers of 4 GPUs and one scheduler. The truth has slow-downs by pair of models, drawn
anew for each seed.
"""

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.placement.cell import cluster, mean_jct_s, run, workload
from pointsman.learn.iqm import interquartile_mean, interval
from pointsman.learn.meta.recipe import meta_recipe
from pointsman.learn.meta.training import MetaTraining
from pointsman.learn.policies.metarl import NOTHING
from pointsman.report.result import Result
from pointsman.speed.interference.online.expectations import Method

SERVERS: Final = 32
SEED: Final = 901
METHODS: Final = get_args(Method)
RUNS: Final = 48
"""Of a meta-training, of 200 jobs each, under truths which no cell has."""
CONTESTANTS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "scorer, true model": ("scorer", {}),
    "scorer, demands known": ("scorer", {"interference": "table"}),
    "metarl, untaught": ("metarl", {"checkpoint": NOTHING, "steps": 0}),
    "metarl, untaught, no exploration": ("metarl", {"checkpoint": NOTHING, "explore": 0.0, "steps": 0}),
    **{f"metarl, {method}": ("metarl", {"checkpoint": method, "steps": 0}) for method in METHODS},
}
CEILING: Final = "scorer, true model"


@dataclass(frozen=True)
class Cell:
    """Jobs of some sizes, at a load under a truth."""

    sizes: str = "philly"
    load: float = 0.7
    sigma: float = 0.2
    jobs: int = 1500


CELLS: Final = (Cell(jobs=60), Cell(jobs=200), Cell("1-8", jobs=200), Cell())


def mean_jcts_s(cell: Cell, name: str, seeds: range, folder: Path) -> NDArray[np.float64]:
    """(seeds)"""
    policy, params = CONTESTANTS[name]
    if params.get("checkpoint") in METHODS:
        params = params | {"checkpoint": str(_trained(folder, params["checkpoint"]))}
    return np.array([mean_jct_s(_run(cell, seed, policy, params, folder)) for seed in seeds])


def _run(cell: Cell, seed: int, policy: str, params: dict[str, Any], folder: Path) -> Result:
    on, jobs = cluster(folder, SERVERS, per_rack=4), workload(cell.sizes, cell.load, cell.jobs, seed, SERVERS)
    return run(jobs, on, policy, params=params, node_interference=f"table:sigma={cell.sigma},seed={seed}")


def _trained(folder: Path, method: str) -> Path:
    """What a meta-training has left."""
    place = folder / method
    if not place.is_dir():
        how = {"meta": {"method": method, "runs": RUNS, "network": "none"}}
        MetaTraining(meta_recipe(how), place, SEED, command="").run(lambda share, label: None)
    return place


def rows_of(cell: Cell, seeds: range, folder: Path) -> list[dict[str, Any]]:
    """A row for each contestant."""
    means = {name: mean_jcts_s(cell, name, seeds, folder) for name in CONTESTANTS}
    rows = []
    for name, mine in means.items():
        above = 100 * (mine / means[CEILING] - 1)
        low, high = interval(above[None]) or (None, None)
        told = {"above": float(interquartile_mean(above)), "low": low, "high": high}
        where = {"sizes": cell.sizes, "load": cell.load, "sigma": cell.sigma, "jobs": cell.jobs}
        rows.append(where | {"who": name} | {key: None if x is None else round(x, 2) for key, x in told.items()})
    return rows


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for cell in CELLS:
            rows += rows_of(cell, range(2001, 2001 + given.seeds), Path(folder))
            print(pl.DataFrame(rows[-len(CONTESTANTS) :]), flush=True)
    if given.output:
        pl.DataFrame(rows).write_csv(given.output)


if __name__ == "__main__":
    main()
