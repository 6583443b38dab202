"""What the policies are measured on: the workloads of suite v1, and real logs at chosen loads."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from pointsman.cluster import Cluster, load_cluster
from pointsman.errors import UsageError
from pointsman.suite.definition import Cell, Suite, suite_v1
from pointsman.workload import Workload, read_workload
from pointsman.workload.generator.profile import DAY_S
from pointsman.workload.transforms.rescale import at_load

LOADS = (0.7, 0.85, 1.0)
"""Of the logs; the suite has its own."""

WARMUP_RATIO = 0.1
"""Of the logs, which last longer; the suite has its own."""

PHILLY_FROM_DAY = 20
"""Before 2017-09-24 the log holds 71 jobs in 20 days: a queue cannot form there, yet it would count in the load."""

CLUSTER08_NODES = "10x8/rack=16,gpu=v100"
"""Sizes of the ITP clusters are not published. cluster08 keeps 66 GPUs busy in mean: 80 GPUs are loaded 0.82."""


@dataclass(frozen=True)
class Case:
    """One workload at several loads, each for the seeds that make it."""

    name: str
    cluster: Cluster
    loads: tuple[float, ...]
    seeds: tuple[int, ...]
    workload: Callable[[float, int], Workload]
    warmup_ratio: float
    """The share of the submit span, from its start, whose jobs run and do not count."""

    @property
    def is_log(self) -> bool:
        """Whether it has one set of jobs, those of a log."""
        return len(self.seeds) == 1


def cases(traces: Path) -> Iterator[Case]:
    """The workloads of suite v1, then the logs in the folder `traces`.

    Raises:
        UsageError: the folder is not there.
    """
    if not traces.is_dir():
        raise UsageError(f"the logs are not at {traces}; give the folder that holds traces/ by --data")
    yield from _suite_cases(suite_v1())
    philly = read_workload(traces / "philly_2017.csv.gz")
    dense = philly.with_jobs(
        philly.jobs.filter(pl.col("submit_s") >= PHILLY_FROM_DAY * DAY_S), reason="before 2017-09-24"
    )
    yield _log_case("Philly", dense, load_cluster("philly"))
    itp = traces / "ms_itp_2021.csv.gz"
    for name, cluster in (("cluster04", "itp-like"), ("cluster08", CLUSTER08_NODES)):
        jobs = read_workload(itp, only={"vc": name})
        yield _log_case(f"ITP {name}", jobs, load_cluster(cluster))


@cache
def cases_by_name(traces: Path) -> dict[str, Case]:
    """The same by name; logs are read once a process."""
    return {case.name: case for case in cases(traces)}


def _suite_cases(suite: Suite) -> Iterator[Case]:
    for part in suite.spec.workloads:

        def workload(load: float, seed: int, part=part) -> Workload:
            return Cell(suite, part, load).frozen(seed)

        spec = suite.spec
        cluster = load_cluster(part.cluster)
        yield Case(f"suite {part.like}", cluster, spec.loads, spec.seeds, workload, spec.warmup_ratio)


def _log_case(name: str, log: Workload, cluster: Cluster) -> Case:
    return Case(name, cluster, LOADS, (0,), lambda load, _: at_load(log, cluster.gpus, load), WARMUP_RATIO)
