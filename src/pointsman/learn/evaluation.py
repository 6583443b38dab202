"""What policies are worth on jobs that none was trained on, all through the same simulator."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pointsman.api import simulate
from pointsman.cluster import load_cluster
from pointsman.errors import InputError
from pointsman.learn.checkpoint import CARD, Card, read_card
from pointsman.learn.iqm import interquartile_mean, interval
from pointsman.learn.training_setup import JobsConfig, PracticeConfig, horizon_s, sampler
from pointsman.policies.registry import get_policy
from pointsman.report import summarise
from pointsman.report.metrics.holdings import horizon_s as whole_s

MEASURES = {
    "throughput": "nominal GPU-hours of work done per hour",
    "jct_mean_s": "mean completion time of the jobs that ended",
    "makespan_s": "until the last job ended, if all did",
    "communication_cost": "mean over the jobs that started",
    "proximity": "mean over the gangs that started, from 0 to 1",
    "jobs_ended": "in that time",
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
"""The four of TopDRL's six that learn nothing (``docs/papers/topdrl.md`` §7), and job pickers with its GPU picker."""


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
    return Contestant(f"{agent}:{directory}", tuple(f"{agent}:{place.absolute()}" for place in places)), cards[0]


def measure(policy: str, params: Mapping[str, Any], practice: JobsConfig, seed: int) -> dict[str, float | None]:
    """The `MEASURES` of a policy on the held-out workload of this seed, in a practice of one cluster and workload."""
    options = practice.options()
    if get_policy(policy).needs == "none":
        options["estimate"] = None
    until_s = horizon_s(practice) if isinstance(practice, PracticeConfig) else None
    result = simulate(
        sampler(practice, "held-out")(seed, load_cluster(practice.cluster).gpus),
        practice.cluster,
        policy,
        params=params,
        seed=seed,
        until_s=until_s,
        log=None,
        **options,
    )
    metrics = summarise(result)
    tree = metrics.get("tree", {})
    ended = result.jobs["end_s"].drop_nulls().len()
    span_s = until_s or whole_s(result)
    return {
        "throughput": metrics["gpu_hours_productive"] / (span_s / 3600),
        "jct_mean_s": metrics["jct_mean_s"],
        "makespan_s": metrics["makespan_s"] if ended == result.jobs.height else None,
        "communication_cost": tree.get("cost_mean"),
        "proximity": tree.get("proximity_mean"),
        "jobs_ended": float(ended),
    }


def summary(found: list[list[dict[str, float | None]]]) -> dict[str, Any]:
    """Interquartile mean and interval of each measure, of what was found for each training on each seed."""
    row: dict[str, Any] = {"trainings": len(found), "seeds": len(found[0])}
    for name in MEASURES:
        values = [[one[name] for one in of_training] for of_training in found]
        if any(value is None for of_training in values for value in of_training):
            row |= {name: None, f"{name}_low": None, f"{name}_high": None}
            continue
        matrix = np.array(values, np.float64)
        low, high = interval(matrix) or (None, None)
        row |= {name: float(interquartile_mean(matrix.ravel())), f"{name}_low": low, f"{name}_high": high}
    return row
