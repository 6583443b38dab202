"""``python -m benchmarks.preempting.measuring``: what the fitted choices gain over `gittins` in whole runs.

Workloads are of seeds that nothing was learnt from, and a log of which nothing was.
"""

import argparse
import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.classical.cases import cases_by_name
from benchmarks.preempting import choosing
from benchmarks.preempting.fitting import WEIGHTS
from benchmarks.preempting.runs import KINDS, ended, jcts_s, workload
from benchmarks.preempting.searching import FOUND, weights
from pointsman import Workload
from pointsman.cluster import Cluster

DATA: Final = Path("docs/results/data/preempting.csv")
SEEDS: Final = range(1, 21)
JOBS: Final = 2000
LOG: Final = "ITP cluster04"
LOADS: Final = (0.85, 1.0)
CAUTIONS: Final = (0.0, 0.03, choosing.CAUTION)
GITTINS: Final = "gittins"


def figures(jobs: Workload, cluster: Cluster | None, weights: Sequence[float]) -> dict[str, float]:
    """Of one run, in seconds; without weights it is one of `gittins`."""
    run = ended(jobs, weights, cluster)
    jct_s, pended = jcts_s(run), run.handle.world.outcomes["pended"]
    return {
        "jct_mean_s": float(jct_s.mean()),
        "jct_p99_s": float(np.quantile(jct_s, 0.99)),
        "pending_max_s": float(pended.max() / 1000.0),
        "choices": float(choosing.ChoosingMemory(run.handle.state.memory).choices),
    }


def workloads(data: Path) -> Iterator[tuple[str, int, Workload, Cluster | None]]:
    """What is run: its name, its seed, its jobs, its cluster."""
    for kind in KINDS:
        yield from ((kind, seed, workload(kind, JOBS, seed), None) for seed in SEEDS)
    case = cases_by_name(data / "traces")[LOG]
    yield from ((f"{LOG} at load {load:g}", 0, case.workload(load, 0), case.cluster) for load in LOADS)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ is")
    given = parser.parse_args()
    fitted = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    policies = {GITTINS: []} | {f"caution {c:g}": [1.0, c, *fitted[2:]] for c in CAUTIONS}
    policies["found by search"] = weights(np.array(json.loads(FOUND.read_text(encoding="utf-8"))["mean"]))
    rows = []
    for name, seed, jobs, cluster in workloads(given.data):
        for policy, own in policies.items():
            rows.append({"workload": name, "seed": seed, "policy": policy} | figures(jobs, cluster, own))
            print(rows[-1], flush=True)
    with DATA.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
