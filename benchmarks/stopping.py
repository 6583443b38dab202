"""Jobs a second with the default overheads, where a preemption takes time, and what an event costs beside one of the
same run without overheads. Philly-like jobs on 6,400 GPUs; CPU time of the run alone.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.measures import Measure, cpu_s, interleaved
from benchmarks.runs import NODE_GPUS, touch
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.experiment import RunOptions
from pointsman.policies.registry import get_policy
from pointsman.workload import Workload
from pointsman.workload.generator.generate import generate

NODES, LOAD = 800, 1.05
MOST_JOBS = 200_000
"""They keep the cluster busy for five weeks."""
EVICTING = ("gittins", "dally", "tiresias", "las", "srtf")
POLICIES = ("fifo-backfill", *EVICTING)
OVERHEADS = ("realistic", "none")


def stopping(jobs: int) -> Iterator[Measure]:
    """Figures of `jobs` jobs under each policy."""
    jobs = min(jobs, MOST_JOBS)
    workload = generate("philly", jobs=jobs, cluster_gpus=NODES * NODE_GPUS, load=LOAD, seed=1)
    for policy in POLICIES:
        runs = {name: _Runs(workload, policy, name) for name in OVERHEADS}
        seconds = interleaved({name: run.seconds for name, run in runs.items()})
        per_event = {name: seconds[name] / runs[name].events for name in OVERHEADS}
        name = f"stopping/{policy}"
        for overheads in OVERHEADS:
            yield Measure(f"{name}/{overheads}/jobs_per_s", jobs / seconds[overheads], "jobs/s")
        yield Measure(f"{name}/event_ratio", np.median(per_event["realistic"]) / np.median(per_event["none"]), "x")


class _Runs:
    """Runs of one policy; all have the same events."""

    def __init__(self, workload: Workload, policy: str, overheads: str) -> None:
        self.workload, self.policy, self.overheads = workload, policy, overheads
        self.events = 0

    def seconds(self) -> float:
        """CPU seconds of one run."""
        spec = get_policy(self.policy)
        options = RunOptions(overheads=self.overheads, log=False)
        cluster = load_cluster(f"{NODES}x{NODE_GPUS}")
        simulation, _ = open_simulation(self.workload, cluster, spec, spec.make(), options)
        touch(simulation)
        found = cpu_s(simulation.run)
        self.events = int(simulation.handle.world.clock[0]["events"])
        return found
