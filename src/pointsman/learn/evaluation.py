"""What policies are worth on jobs that none was trained on, all through the same simulator."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.cluster.layout import Layout
from pointsman.cluster.tree_cost import TreeCost, proximity
from pointsman.engine.overheads import Overheads
from pointsman.engine.prepare import Prepared
from pointsman.engine.simulation import Simulation
from pointsman.errors import InputError
from pointsman.learn.checkpoint import CARD, Card, read_card
from pointsman.learn.iqm import interquartile_mean, interval
from pointsman.learn.practice import PracticeConfig, sampler
from pointsman.policies.registry import get_policy
from pointsman.types import NEVER_MS, JobState, Verb

HOUR_MS = 3_600_000.0

MEASURES = {
    "throughput": "nominal GPU-hours of work done per hour",
    "jct_mean_s": "mean completion time of the jobs that ended",
    "makespan_s": "until the last job ended, if all did",
    "communication_cost": "mean over the jobs that started",
    "proximity": "mean over the gangs that started, from 0 to 1",
    "jobs_ended": "by the horizon",
}
"""What is measured."""


@dataclass(frozen=True)
class Contestant:
    """A policy, or one trained several times over."""

    label: str
    policies: tuple[str, ...]
    params: Mapping[str, Any] = field(default_factory=dict)


NEAREST, FIRST, BALANCED = "nearest", "first-available", "load-balance"
BASELINES = (
    Contestant("fcfs + first", ("pick-place",), {"picker": "fcfs", "gpus": FIRST}),
    Contestant("sjf + balance", ("pick-place-sjf",), {"gpus": BALANCED}),
    Contestant("tetris + first", ("pick-place",), {"picker": "tetris", "gpus": FIRST}),
    Contestant("drf + balance", ("pick-place",), {"picker": "drf", "gpus": BALANCED}),
    Contestant("fcfs + nearest", ("pick-place",), {"picker": "fcfs", "gpus": NEAREST}),
    Contestant("sjf + nearest", ("pick-place-sjf",), {"gpus": NEAREST}),
    Contestant("tetris + nearest", ("pick-place",), {"picker": "tetris", "gpus": NEAREST}),
)
"""The four of TopDRL's six that learn nothing (papers/topdrl.md §7), and job pickers with TopDRL's own GPU picker."""


def contestant(directory: Path) -> tuple[Contestant, Card]:
    """The checkpoint in `directory`, or its replicas in ``seed-*`` below it, and what the first is.

    Raises:
        InputError: there is none, or they are of several agents.
    """
    places = [directory]
    if not (directory / CARD).is_file():
        places = sorted(path.parent for path in directory.glob(f"seed-*/{CARD}")) or places
    cards = [read_card(place) for place in places]
    agents = {card.agent for card in cards}
    if len(agents) > 1:
        raise InputError(f"checkpoints of several agents ({', '.join(sorted(agents))})", path=directory)
    agent = cards[0].agent
    return Contestant(f"{agent}:{directory}", tuple(f"{agent}:{place}" for place in places)), cards[0]


def measure(policy: str, params: Mapping[str, Any], practice: PracticeConfig, seed: int) -> dict[str, float | None]:
    """The `MEASURES` of a policy on the held-out workload of this seed."""
    cluster = load_cluster(practice.cluster)
    layout = cluster.layout()
    workload = sampler(practice, "held-out")(seed, int(layout.node_gpus.sum()))
    spec = get_policy(policy)
    simulation, prepared = open_simulation(
        workload, cluster, spec, spec.make(params), seed=seed, estimate=_known(practice, spec.needs), placement=None,
        overheads=Overheads(), oversized="refuse", assign_models=practice.assign_models, node_events=(), cancels=(),
        log=True, audit=False, rate_model=practice.rate_model,
    )  # fmt: skip
    horizon_ms = NEVER_MS - 1 if practice.horizon_s is None else round(1000 * practice.horizon_s)
    simulation.run(horizon_ms)
    ended = simulation.handle.world.outcomes["state"] == JobState.COMPLETED
    times_ms = simulation.handle.world.outcomes["end"] - prepared.trace["submit"]
    span_ms = horizon_ms if practice.horizon_s is not None else max(1, simulation.now_ms)
    costs, near = _places(simulation, layout)
    return {
        "throughput": work_done_gpu_ms(simulation, prepared, horizon_ms) / span_ms,
        "jct_mean_s": float(times_ms[ended].mean()) / 1000.0 if ended.any() else None,
        "makespan_s": float(simulation.handle.world.outcomes["end"].max()) / 1000.0 if ended.all() else None,
        "communication_cost": _mean(costs),
        "proximity": _mean(near),
        "jobs_ended": float(ended.sum()),
    }


def work_done_gpu_ms(simulation: Simulation, prepared: Prepared, until_ms: int) -> float:
    """Nominal GPU-ms of work done until then, of jobs that have ended and of those that run."""
    ended = simulation.handle.world.outcomes["state"] == JobState.COMPLETED
    whole = float((prepared.jobs["gpus"].to_numpy() * prepared.trace["work"])[ended].sum())
    jobs = simulation.handle.jobs[simulation.handle.jobs["state"] != 0]
    now_ms = min(until_ms, NEVER_MS - 2) if until_ms < NEVER_MS - 1 else simulation.now_ms
    elapsed = np.where(jobs["state"] == JobState.RUNNING, now_ms - jobs["rated"], 0)
    done = np.where(elapsed > 0, jobs["onset"] + jobs["rate"] * elapsed, jobs["done"])
    return whole + float((jobs["asked"] * done).sum())


def _known(practice: PracticeConfig, needs: str) -> str | None:
    return practice.estimate if needs != "none" else None


def _places(simulation: Simulation, layout: Layout) -> tuple[list[float], list[float]]:
    """Communication cost of each job that started, and how close the GPUs of each gang are."""
    log, tree = simulation.log(), TreeCost()
    starts = log[log["kind"] == Verb.START]
    racks = layout.node_rack[starts["node"]]
    widths = np.bitwise_count(np.ascontiguousarray(starts["mask"]).view(np.uint64)).astype(np.int64)
    costs, near = [], []
    bounds: dict[int, tuple[float, float]] = {}
    for rows in np.split(np.arange(len(starts)), np.flatnonzero(np.diff(starts["seq"])) + 1) if len(starts) else ():
        gpus = int(widths[rows].sum())
        cost = tree.of(len(set(racks[rows].tolist())), len(rows), gpus)
        costs.append(cost)
        if gpus > 1:
            if gpus not in bounds:
                ends = (layout.node_gpus, layout.node_rack, gpus)
                bounds[gpus] = tree.least(*ends), tree.most(*ends)
            near.append(proximity(cost, *bounds[gpus]))
    return costs, near


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def summary(label: str, found: list[list[dict[str, float | None]]]) -> dict[str, Any]:
    """Interquartile mean and interval of each measure, of what was found for each training on each seed."""
    row: dict[str, Any] = {"policy": label, "trainings": len(found), "seeds": len(found[0])}
    for name in MEASURES:
        values = [[one[name] for one in of_training] for of_training in found]
        if any(value is None for of_training in values for value in of_training):
            row |= {name: None, f"{name}_low": None, f"{name}_high": None}
            continue
        matrix = np.array(values, np.float64)
        low, high = interval(matrix) or (None, None)
        row |= {name: float(interquartile_mean(matrix.ravel())), f"{name}_low": low, f"{name}_high": high}
    return row
