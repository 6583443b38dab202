"""Jobs per second of Dally, without and with links that jobs share: every job has a model, racks of 8 nodes."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measures import Measure, cpu_s
from benchmarks.workloads import mixture
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.experiment import RunOptions
from pointsman.policies.registry import get_policy

CLUSTER, GPUS = "800x8/rack=8,gpu=v100,nic=100Gbps", 6400
LOADS = (0.95, 1.05)
KINDS = ("none", "level", "max-min", "duty-cycle", "node-link")
ROUNDS = 3


def contended(jobs: int) -> Iterator[Measure]:
    """`jobs` jobs on 6,400 GPUs under `dally`, engine time alone."""
    for load in LOADS:
        workload = mixture(jobs, GPUS, load)
        for kind in KINDS:
            seconds = []
            for _ in range(ROUNDS):
                spec = get_policy("dally")
                options = RunOptions(assign_models=1, contention=kind, overheads="none", log=False)
                simulation, _ = open_simulation(workload, load_cluster(CLUSTER), spec, spec.make(), options)
                seconds.append(cpu_s(simulation.run))
            yield Measure(f"contended/dally/{load}/{kind}/jobs_per_s", jobs / np.array(seconds), "jobs/s")
