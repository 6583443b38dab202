"""``python -m benchmarks.gittins.speed [-o FILE]``: jobs a second, refits included, on the 584 GPUs of suite itp.

Medians of five runs after one that compiles; reading and set-up of the run are not counted.
"""

import argparse
from pathlib import Path
from statistics import median
from typing import Final

import polars as pl

from benchmarks.classical.cases import cases
from pointsman import Cluster, Workload
from pointsman.api import simulate

RUNS: Final = 5
POLICIES: Final = ("las", "dally", "gittins")


def speeds(jobs: Workload, cluster: Cluster, policy: str, runs: int = RUNS) -> list[float]:
    """Jobs a second of each run."""
    found = []
    for _ in range(runs + 1):
        result = simulate(jobs, cluster, policy, log=False, assign_models=0, oversized="drop", overheads="realistic")
        found.append(result.jobs.height / result.info["engine_s"])
    return found[1:]


def rows(traces: Path, runs: int = RUNS) -> list[dict[str, str | float]]:
    """A row for each load and policy."""
    case = next(case for case in cases(traces) if case.name == "suite itp")
    found = []
    for load in case.loads:
        jobs = case.workload(load, 0)
        for policy in POLICIES:
            of = speeds(jobs, case.cluster, policy, runs)
            name = {"workload": case.name, "load": load, "gpus": case.cluster.gpus, "policy": policy, "runs": runs}
            found.append(name | {"median": round(median(of)), "least": round(min(of)), "most": round(max(of))})
    return found


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gittins.speed", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ is")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results/data/gittins-speed.csv"))
    given = parser.parse_args()
    table = pl.DataFrame(rows(given.data / "traces"))
    table.write_csv(given.output)
    print(table)


if __name__ == "__main__":
    main()
