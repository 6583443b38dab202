"""Weights for the policy `scorer`, from workloads: the cross-entropy method on mean JCT (``docs/papers/marl.md``).

from pointsman.learn.scorer_training import ScorerTask, train_scorer
done = train_scorer(ScorerTask([workload], "64x4/gpu=v100", {"contention": "duty-cycle"}))
pointsman.simulate(other, "64x4/gpu=v100", "scorer", params=done.weights, contention="duty-cycle")
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from pointsman.api import simulate
from pointsman.cluster.cluster import Cluster
from pointsman.learn.cross_entropy import Distribution, Search, Vector, minimise
from pointsman.policies.placers.declared import Order
from pointsman.workload.table import Workload

FIRST: Final = {
    "slow_down": (1.0, 0.8),
    "harm": (1.0, 0.8),
    "servers": (1.0, 0.8),
    "racks": (1.0, 0.8),
    "gpus_left": (0.5, 0.8),
    "broken_sockets": (0.2, 0.8),
    "patience": (2.0, 2.0),
}
"""Where and how widely the search of each parameter of `scorer` begins (ours)."""
DECIMALS: Final = 3


@dataclass(frozen=True)
class ScorerTask:
    """What to train on."""

    workloads: Sequence[Workload]
    cluster: Cluster | str
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keywords of `pointsman.simulate`."""
    seed: int = 0
    order: Order = "sjf"
    """The order of jobs."""
    search: Search = field(default_factory=Search)


@dataclass(frozen=True)
class Trained:
    """What came of it."""

    weights: dict[str, float]
    """Parameters of `scorer`."""
    history: list[float]
    """The least cost of each generation: mean JCT over that of `packed`, averaged over the workloads."""


def train_scorer(training: ScorerTask) -> Trained:
    """Search for the weights under which mean JCT, over that of `packed`, is least on average.

    Raises:
        PointsmanError: as `pointsman.simulate` of any of the workloads.
    """
    begin = first(training.seed)
    found, history = minimise(cost_of(training), begin.mean, begin.deviation, training.seed, training.search)
    return Trained(weights_of(found), history)


def first(seed: int) -> Distribution:
    """Where a search begins."""
    mean, deviation = np.array(list(FIRST.values())).T
    return Distribution(mean, deviation, np.random.default_rng(seed))


def cost_of(training: ScorerTask) -> Callable[[Vector], float]:
    """What weights cost: mean JCT over that of `packed`, averaged over the workloads.

    Raises:
        PointsmanError: as `pointsman.simulate` of any of the workloads.
    """
    base = [_mean_jct_s(training, workload, "packed", {}) for workload in training.workloads]

    def cost(vector: Vector) -> float:
        params = {**weights_of(vector), "order": training.order}
        means = [_mean_jct_s(training, workload, "scorer", params) for workload in training.workloads]
        return float(np.mean([mean / packed for mean, packed in zip(means, base, strict=True)]))

    return cost


def weights_of(vector: Vector) -> dict[str, float]:
    """The parameters of `scorer` by name, rounded; patience is never below 0."""
    weights = {name: round(float(value), DECIMALS) for name, value in zip(FIRST, vector, strict=True)}
    return weights | {"patience": max(0.0, weights["patience"])}


def _mean_jct_s(training: ScorerTask, workload: Workload, policy: str, params: Mapping[str, Any]) -> float:
    jobs = simulate(workload, training.cluster, policy, params=params, log=False, **training.options).jobs
    return float((jobs["end_s"] - jobs["submit_s"]).to_numpy().mean())
