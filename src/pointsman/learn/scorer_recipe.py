"""The linear scorer as an agent that can be trained: its search and its practice. None of it needs PyTorch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.learn.agents import PRACTICE, Settings, make_part
from pointsman.learn.config import parameter
from pointsman.learn.cross_entropy import Search
from pointsman.learn.training_setup import JobsConfig, Load
from pointsman.policies.placers.declared import Order

AGENT: Final = "scorer"
ALGORITHM: Final = "cross-entropy"


class ScorerPractice(JobsConfig):
    """The cluster and the jobs to train on, and what slows jobs there."""

    cluster: str = parameter(
        "64x4/rack=4,gpu=v100", "A ready name, a shorthand, or a file; or several with ' + ' between.", min_length=1
    )
    workload: str = parameter(
        "philly", "philly, itp, helios, or a job log; or several with ' + ' between.", min_length=1
    )
    jobs: int = parameter(3000, "Jobs of a workload.", ge=1, le=100_000)
    load: Load | str = parameter("0.7 + 0.9", "Offered load; or several, likewise.")
    order: Order = parameter("sjf", "Order of jobs: fifo, sjf.")
    workloads: int = parameter(4, "Workloads for each cluster, log and load.", ge=1, le=1000)
    contention: str = parameter("duty-cycle", "As of 'pointsman simulate'.")
    node_interference: str = parameter("table", "As of 'pointsman simulate'.")

    def options(self) -> dict[str, Any]:
        return super().options() | {"contention": self.contention, "node_interference": self.node_interference}


@dataclass(frozen=True)
class ScorerRecipe:
    """The search and the practice, with all their settings."""

    search: Search
    practice: ScorerPractice

    @property
    def parts(self) -> dict[str, Any]:
        """The settings, by the name they go by."""
        return {ALGORITHM: self.search, PRACTICE: self.practice}


def scorer_recipe(settings: Settings) -> ScorerRecipe:
    """The recipe with these settings.

    Raises:
        UsageError: there is no such part or parameter, or a value is wrong.
    """
    for given in settings:
        if given not in (ALGORITHM, PRACTICE):
            known = did_you_mean(given, (ALGORITHM, PRACTICE))
            raise UsageError(f"--set {given}.…: {AGENT} has no part {given!r:.60} ({known})")
    search = make_part(ALGORITHM, Search, settings.get(ALGORITHM, {}))
    return ScorerRecipe(search, scorer_practice(settings.get(PRACTICE, {})))


def scorer_practice(values: Mapping[str, Any]) -> ScorerPractice:
    """The practice with these settings.

    Raises:
        UsageError: there is no such parameter, or a value is wrong.
    """
    return make_part(PRACTICE, ScorerPractice, values)
