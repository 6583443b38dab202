"""Runs under `choosing`, on a small cluster with overheads as sites have them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

import pointsman
from benchmarks.preempting import choosing
from pointsman import Workload
from pointsman.api import RunOptions, open_simulation
from pointsman.cluster import Cluster
from pointsman.engine.run.simulation import Simulation
from pointsman.policies.registry import get_policy
from pointsman.types import NEVER_MS
from pointsman.workload import generate

SERVERS, GPUS = 16, 4
ON: Final = f"{SERVERS}x{GPUS}/rack=4,nic=10Gbps,gpu=gtx1080ti"
WIDEST: Final = SERVERS * GPUS // 2
LOAD: Final = 0.9
KINDS: Final = ("dl2-1-16", "dl2-1-8", "dl2-philly", "itp", "helios")
POLICY: Final = f"{choosing.__file__}:{choosing.Choosing.__name__}"


def workload(kind: str, jobs: int, seed: int) -> Workload:
    """Jobs like those of a log, none wider than half of the cluster."""
    made = generate(kind, jobs=jobs, cluster_gpus=SERVERS * GPUS, load=LOAD, seed=seed).jobs
    return Workload.of(made.with_columns(pl.col("gpus").clip(1, WIDEST)))


def opened(jobs: Workload, cluster: Cluster | None = None) -> Simulation:
    """A run under `choosing` before its first event."""
    spec = get_policy(POLICY)
    options = RunOptions(overheads="realistic", oversized="drop")
    return open_simulation(jobs, cluster or pointsman.load_cluster(ON), spec, spec.make({}), options)[0]


def ended(jobs: Workload, weights: Sequence[float], cluster: Cluster | None = None) -> Simulation:
    """A whole run in which the network of these weights chooses, or nobody without any."""
    run = opened(jobs, cluster)
    choosing.set_network(run.handle.state, weights)
    run.run()
    return run


def jcts_s(run: Simulation) -> NDArray[np.float64]:
    """Of all jobs of a run."""
    submit = run.handle.world.trace["submit"]
    return (run.handle.world.outcomes["end"][: len(submit)] - submit) / 1000.0


@dataclass
class Run:
    """A simulation under `choosing`, which stops before its choices."""

    simulation: Simulation
    jobs: int

    @property
    def memory(self) -> choosing.ChoosingMemory:
        """That of the policy."""
        return choosing.ChoosingMemory(self.simulation.handle.state.memory)

    @property
    def choices(self) -> int:
        """How many have been made."""
        return int(self.memory.choices)

    def go_to(self, choice: int) -> bool:
        """Go on until so many choices have been made; whether there are so many."""
        while self.choices < choice:
            before = self.simulation.decisions
            self.simulation.loop.run(self.simulation.handle.address, NEVER_MS - 1, 1)
            if self.simulation.decisions == before:
                return False
        return True

    def total_ms(self) -> float:
        """Run to the end: the sum of the times at which jobs ended."""
        self.simulation.run()
        return float(self.simulation.handle.world.outcomes["end"][: self.jobs].sum())

    def after(self, action: int) -> "Run":
        """A copy in which `action` was the next choice."""
        copy = Run(self.simulation.copy(), self.jobs)
        copy.memory.target = self.choices + 1
        copy.memory.action = action
        copy.go_to(self.choices + 1)
        return copy

    @property
    def seen(self) -> NDArray[np.float64]:
        """What was seen of the choice that was made otherwise."""
        return self.memory.seen.array.copy()

    def is_as(self, other: "Run") -> bool:
        """Whether all jobs stand as they do in the other run."""
        ours, theirs = (run.simulation.handle.state.jobs for run in (self, other))
        return np.array_equal(ours.view(np.int64), theirs.view(np.int64))


def begun(jobs: Workload) -> Run:
    """Of these jobs."""
    return Run(opened(jobs), jobs.jobs.height)


def submitted_ms(jobs: Workload) -> float:
    """The sum of the times at which jobs were submitted, since the first."""
    return 1000.0 * float((jobs.jobs["submit_s"] - jobs.jobs["submit_s"].min()).sum())
