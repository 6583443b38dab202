"""Which `strength` of `gittins` (weight of the pooled hazards in a group's own) is best, on jobs that no page of
results uses: five clusters of ITP's log and suite v1 with other seeds.

    python -m benchmarks.gittins.shrinkage --data FOLDER
"""

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.classical.cases import WARMUP_RATIO, Case
from benchmarks.gittins.contestants import ESTIMATE, Contestant, shuffled
from benchmarks.gittins.runs import Cell, measured
from pointsman.cluster import load_cluster
from pointsman.suite.definition import Cell as SuiteCell
from pointsman.suite.definition import suite_v1
from pointsman.workload import Workload, read_workload
from pointsman.workload.transforms.rescale import at_load, offered_load

CLUSTERS = ("cluster01", "cluster02", "cluster05", "cluster09", "cluster10")
"""Of ITP's log; the pages use the other two."""
SEEDS = (11, 12)
"""Of the suite; the pages use 0 to 4."""
OWN_LOAD, LOAD, SUITE_LOAD = 0.85, 1.0, 0.95
STRENGTHS = (2.0, 5.0, 10.0, 30.0)
DRAWS = 2
GPUS_PER_NODE = 8


def contestants(strength: float) -> Iterator[Contestant]:
    """Every kind of prediction."""
    yield Contestant("history", "gittins", {"strength": strength})
    given = ESTIMATE | {"strength": strength}
    yield from (Contestant(f"R² {r2:g}", "gittins", given, r2=r2) for r2 in (0.8, 0.6, 0.25))
    yield Contestant("shuffled", "gittins", given, "limit", hint=shuffled)


def _given(load: float, seed: int) -> Workload:
    raise NotImplementedError("jobs are made once, beside the case")


def _log_cases(log: Path) -> Iterator[tuple[Case, Cell, Workload]]:
    for name in CLUSTERS:
        jobs = read_workload(log, only={"vc": name})
        busy = offered_load(jobs.jobs, 1)
        nodes = max(2, math.ceil(busy / OWN_LOAD / GPUS_PER_NODE), int(jobs.jobs["gpus"].max()) // GPUS_PER_NODE)
        cluster = load_cluster(f"{nodes}x{GPUS_PER_NODE}/rack=16,gpu=v100")
        case = Case(f"ITP {name}", "", cluster, (LOAD,), (0,), _given, WARMUP_RATIO)
        yield case, Cell(case.name, LOAD, 0, True), at_load(jobs, cluster.gpus, LOAD)


def _suite_cases() -> Iterator[tuple[Case, Cell, Workload]]:
    suite = suite_v1()
    for part in suite.spec.workloads:
        cluster = load_cluster(part.cluster)
        for seed in SEEDS:
            jobs = SuiteCell(suite, part, SUITE_LOAD).generate(seed)
            case = Case(part.like, "", cluster, (SUITE_LOAD,), (seed,), _given, suite.spec.warmup_ratio)
            yield case, Cell(case.name, SUITE_LOAD, seed, True), jobs


def _log_of_ratio(case: Case, cell: Cell, jobs: Workload, who: Contestant) -> float:
    """Mean JCT over the lower bound, over draws of hints."""
    draws = DRAWS if who.r2 or who.hint else 1
    runs = [measured(case, cell, jobs, who, draw) for draw in range(draws)]
    return math.log(float(np.mean([run["jct_mean_s"] / run["bound_s"] for run in runs])))


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gittins.shrinkage", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ is")
    given = parser.parse_args()
    cases = [*_log_cases(given.data / "traces" / "ms_itp_2021.csv.gz"), *_suite_cases()]
    print("| `strength` | " + " | ".join(who.label for who in contestants(1.0)) + " |")
    for strength in STRENGTHS:
        means = [np.mean([_log_of_ratio(*case, who) for case in cases]) for who in contestants(strength)]
        print(f"| {strength:g} | " + " | ".join(f"{mean:.4f}" for mean in means) + " |", flush=True)


if __name__ == "__main__":
    main()
