"""Which `strength` of `gittins` (weight of the pooled hazards in a group's own) is best, on jobs that no page of
results uses: five clusters of ITP's log and suite v1 with other seeds.

    python -m benchmarks.gittins.shrinkage --data FOLDER
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.classical.cases import WARMUP_RATIO
from benchmarks.gittins.contestants import ESTIMATE, limited, noisy, shuffled
from benchmarks.results.contestant import Contestant, Setting, run
from pointsman.cluster import load_cluster
from pointsman.suite.definition import Cell, suite_v1
from pointsman.workload import read_workload
from pointsman.workload.transforms.rescale import at_load, offered_load

CLUSTERS: Final = ("cluster01", "cluster02", "cluster05", "cluster09", "cluster10")
"""Of ITP's log; the pages use the other two."""
SEEDS: Final = (11, 12)
"""Of the suite; the pages use 0 to 4."""
OWN_LOAD, LOAD, SUITE_LOAD = 0.85, 1.0, 0.95
STRENGTHS: Final = (2.0, 5.0, 10.0, 30.0)
DRAWS: Final = (0, 1000)
"""Of hints, added to the seed."""
GPUS_PER_NODE: Final = 8
OPTIONS: Final = {"assign_models": 0, "oversized": "drop", "overheads": "realistic"}


def contestants(strength: float) -> Iterator[Contestant]:
    """Every kind of prediction."""
    yield Contestant("history", "gittins", {"strength": strength})
    given = {**ESTIMATE, "strength": strength}
    yield from (Contestant(f"R² {r2:g}", "gittins", given, hint=partial(noisy, r2)) for r2 in (0.8, 0.6, 0.25))
    yield Contestant("shuffled", "gittins", given, hint=partial(limited, shuffled))


def _logs(log: Path) -> Iterator[tuple[int, Setting]]:
    for name in CLUSTERS:
        jobs = read_workload(log, only={"vc": name})
        busy = offered_load(jobs.jobs, 1)
        nodes = max(2, math.ceil(busy / OWN_LOAD / GPUS_PER_NODE), int(jobs.jobs["gpus"].max()) // GPUS_PER_NODE)
        cluster = load_cluster(f"{nodes}x{GPUS_PER_NODE}/rack=16,gpu=v100")
        yield 0, Setting(at_load(jobs, cluster.gpus, LOAD), cluster, OPTIONS, WARMUP_RATIO)


def _suite() -> Iterator[tuple[int, Setting]]:
    suite = suite_v1()
    for part in suite.spec.workloads:
        cluster = load_cluster(part.cluster)
        for seed in SEEDS:
            jobs = Cell(suite, part, SUITE_LOAD).generate(seed)
            yield seed, Setting(jobs, cluster, OPTIONS, suite.spec.warmup_ratio)


def _log_of_ratio(who: Contestant, seed: int, setting: Setting) -> float:
    """Ln of mean JCT over the lower bound, over draws of hints."""
    runs = [run(who, setting, seed + draw) for draw in (DRAWS if who.hint else DRAWS[:1])]
    return math.log1p(float(np.mean([found["above_bound_percent"] for found in runs])) / 100)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gittins.shrinkage", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ is")
    settings = [*_logs(parser.parse_args().data / "traces" / "ms_itp_2021.csv.gz"), *_suite()]
    print(_row(["`strength`", *(who.label for who in contestants(1.0))]))
    for strength in STRENGTHS:
        means = [np.mean([_log_of_ratio(who, *setting) for setting in settings]) for who in contestants(strength)]
        print(_row([f"{strength:g}", *(f"{mean:.4f}" for mean in means)]), flush=True)


if __name__ == "__main__":
    main()
