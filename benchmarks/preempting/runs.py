"""Runs under `choosing`, on a small cluster with overheads as sites have them."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

import pointsman
from benchmarks.preempting import choosing
from pointsman import Workload
from pointsman.api import RunOptions, open_simulation
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


def opened(jobs: Workload, policy: str = POLICY) -> Simulation:
    """A run before its first event."""
    spec = get_policy(policy)
    options = RunOptions(overheads="realistic")
    return open_simulation(jobs, pointsman.load_cluster(ON), spec, spec.make({}), options)[0]


@dataclass
class Run:
    """A simulation under `choosing`, which stops before its choices."""

    simulation: Simulation
    jobs: int

    @property
    def memory(self) -> NDArray[np.float64]:
        """That of the policy."""
        return self.simulation.handle.state.memory

    @property
    def choices(self) -> int:
        """How many have been made."""
        return int(self.memory[choosing.COUNT])

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

    def tried(self, action: int) -> tuple[float, NDArray[np.float64]]:
        """The same sum if the next choice were `action`, and what was seen of that choice."""
        copy = Run(self.simulation.copy(), self.jobs)
        copy.memory[choosing.TARGET] = self.choices + 1
        copy.memory[choosing.ACTION] = action
        return copy.total_ms(), copy.memory[choosing.SEEN :][: choosing.FEATURES].copy()


def begun(jobs: Workload) -> Run:
    """Of these jobs."""
    return Run(opened(jobs), jobs.jobs.height)


def submitted_ms(jobs: Workload) -> float:
    """The sum of the times at which jobs were submitted, since the first."""
    return 1000.0 * float((jobs.jobs["submit_s"] - jobs.jobs["submit_s"].min()).sum())
