"""Part 5: jobs per second on 6,400 GPUs."""

from dataclasses import replace
from functools import partial

from benchmarks.measures import cpu_s
from benchmarks.results.figures import markdown
from benchmarks.sharing.entries import BSBF, CONSOLIDATED, FFS, JOINT, RESTARTS, Entry
from benchmarks.sharing.paper import Found
from benchmarks.sharing.scope import Scope
from benchmarks.workloads import mixture
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.experiment import RunOptions
from pointsman.policies.registry import get_policy
from pointsman.report.units import count, percent
from pointsman.speed.profiles.assign import assign_models
from pointsman.workload import Workload

CLUSTER, GPUS, JOBS, GOAL = "800x8/gpu=v100,rack=8", 6400, 100_000, 100_000
LOADS = (0.95, 1.05, 1.2)
ROUNDS = 3
ENTRIES = (BSBF, FFS, CONSOLIDATED, JOINT)
PATIENCE_S = 30.0
"""CPU time after which a run is left, and the jobs that have ended by then count."""

SLICES = 200
"""Of the submit span, after which the time is looked at."""


def speed(scope: Scope) -> Found:
    """CPU time of the run alone, the best of three."""
    rows = []
    for load in scope.few(LOADS):
        made = mixture(2000 if scope.quick else JOBS, GPUS, load)
        work = replace(made, jobs=assign_models(made.jobs, 1))
        for entry in ENTRIES:
            ended, per_s = max((_measured(work, entry) for _ in range(ROUNDS)), key=lambda found: found[1])
            met = "met" if per_s >= GOAL else f"missed, {percent(per_s / GOAL)}"
            rows.append((entry.label, f"{load:g}", count(ended), count(round(per_s)), met))
    return {"speed": markdown(("policy", "load", "jobs that ended", "jobs/s", f"goal {count(GOAL)}"), rows)}, []


def _measured(work: Workload, entry: Entry) -> tuple[int, float]:
    """How many jobs ended, and how many a second of CPU time."""
    spec = get_policy(entry.policy)
    options = RunOptions.checked({"overheads": RESTARTS, "log": False})
    simulation, _ = open_simulation(work, load_cluster(CLUSTER), spec, spec.make(entry.params), options)
    clock, spent_s = simulation.handle.world.clock[0], 0.0
    span_ms = int(work.jobs["submit_s"].max() * 1000)  # ty: ignore
    for slice_ms in (span_ms * k // SLICES for k in range(1, SLICES + 1)):
        spent_s += cpu_s(partial(simulation.run, slice_ms))
        if spent_s > PATIENCE_S:
            return int(clock["ended"]), int(clock["ended"]) / spent_s
    spent_s += cpu_s(simulation.run)
    return int(clock["ended"]), int(clock["ended"]) / spent_s
