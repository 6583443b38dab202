"""Part 5: jobs per second on 6,400 GPUs."""

from dataclasses import replace

from benchmarks.classical.tables import markdown
from benchmarks.measures import cpu_s
from benchmarks.sharing.entries import BSBF, CONSOLIDATED, FFS, JOINT, RESTARTS, Entry
from benchmarks.sharing.paper import Found
from benchmarks.sharing.scope import Scope
from benchmarks.workloads import mixture
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.policies.registry import get_policy
from pointsman.report.units import count, percent
from pointsman.speed.assign import assign_models
from pointsman.workload import Workload

CLUSTER, GPUS, JOBS, GOAL = "800x8/gpu=v100,rack=8", 6400, 100_000, 100_000
LOADS = (0.95, 1.05, 1.2)
ROUNDS = 3
FEWER = 10_000
"""Jobs of the variants that look at every node, or at all partners together, for every job."""

ENTRIES = ((BSBF, JOBS), (FFS, JOBS), (JOINT, FEWER), (CONSOLIDATED, FEWER))


def speed(scope: Scope) -> Found:
    """CPU time of the run alone, the least of three."""
    rows = []
    for load in scope.few(LOADS):
        for entry, jobs in ENTRIES:
            made = mixture(min(jobs, 2000) if scope.quick else jobs, GPUS, load)
            work = replace(made, jobs=assign_models(made.jobs, 1))
            seconds = [_seconds(work, entry) for _ in range(ROUNDS if jobs == JOBS else 1)]
            per_s = work.jobs.height / min(seconds)
            met = "met" if per_s >= GOAL else f"missed, {percent(per_s / GOAL)}"
            rows.append((entry.label, f"{load:g}", count(work.jobs.height), count(round(per_s)), met))
    return {"speed": markdown(("policy", "load", "jobs", "jobs/s", f"goal {count(GOAL)}"), rows)}, []


def _seconds(work: Workload, entry: Entry) -> float:
    spec = get_policy(entry.policy)
    simulation, _ = open_simulation(
        work, load_cluster(CLUSTER), spec, spec.make(entry.params), seed=0, estimate=None, placement=None,
        overheads=RESTARTS, oversized="refuse", assign_models=None, node_events=(), cancels=(), log=False, audit=False,
    )  # fmt: skip
    return cpu_s(simulation.run)
