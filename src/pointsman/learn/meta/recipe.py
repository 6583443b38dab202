"""How `metarl` is trained before it schedules: by which method, in how many runs, and what these have in common."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.learn.agents import PRACTICE, Settings, make_part
from pointsman.learn.config import Config, parameter
from pointsman.learn.training_setup import JobsConfig, Load
from pointsman.policies.placers.declared import Order
from pointsman.speed.interference.online.expectations import Method

AGENT: Final = "metarl"
ALGORITHM: Final = "meta"
Network = Literal[Method, "actor-critic", "none"]
"""How the weights of the network follow what it learns in runs."""


class MetaConfig(Config):
    """What is done with what a run has learnt."""

    method: Method = parameter("mean", "How a run corrects what is expected: mean, reptile, fine-tuning or fomaml.")
    step: float | None = parameter(None, "How far it does; none: as the method has it.", gt=0, le=1)
    network: Network = parameter(
        "reptile",
        "The same of the weights of the network; actor-critic: they are trained as Harmony's; none: it has none, and "
        "PyTorch is not needed.",
    )
    decisions: int = parameter(
        256,
        "At which choices are tried, for each step of the network; of actor-critic: in each environment, per update.",
        ge=2,
        le=100_000,
    )
    runs: int = parameter(16, "Runs, each under a truth of its own.", ge=1, le=10_000)


class MetaPractice(JobsConfig):
    """The cluster, the jobs, and how far truths differ."""

    cluster: str = parameter(
        "32x4/rack=4,gpu=v100", "A ready name, a shorthand, or a file; or several with ' + ' between.", min_length=1
    )
    workload: str = parameter(
        "dl2-philly", "topdrl, philly, itp, helios, dl2-philly, dl2-1-8, dl2-1-16, or a job log; or several.",
        min_length=1,
    )  # fmt: skip
    jobs: int = parameter(200, "Jobs of a run.", ge=1, le=100_000)
    load: Load | str = parameter(0.7, "Offered load; or several, likewise.")
    contention: str = parameter("duty-cycle", "As of 'pointsman simulate'.")
    order: Order = parameter("sjf", "Order of jobs: fifo, sjf.")
    sigma: float = parameter(0.2, "How widely effects of pairs of models are drawn, anew for each run.", ge=0, le=2)

    def truth(self, seed: int) -> str:
        """What slows jobs in the run that has this truth."""
        return f"table:sigma={self.sigma:g},seed={seed}"

    def options(self) -> dict[str, Any]:
        return super().options() | {"contention": self.contention, "node_interference": self.truth(0)}


@dataclass(frozen=True)
class MetaRecipe:
    """The method and the practice, with all their settings."""

    meta: MetaConfig
    practice: MetaPractice

    @property
    def parts(self) -> dict[str, Any]:
        """The settings, by the name they go by."""
        return {ALGORITHM: self.meta, PRACTICE: self.practice}


def meta_recipe(settings: Settings) -> MetaRecipe:
    """The recipe with these settings.

    Raises:
        UsageError: there is no such part or parameter, or a value is wrong.
    """
    for given in settings:
        if given not in (ALGORITHM, PRACTICE):
            known = did_you_mean(given, (ALGORITHM, PRACTICE))
            raise UsageError(f"--set {given}.…: {AGENT} has no part {given!r:.60} ({known})")
    meta = make_part(ALGORITHM, MetaConfig, settings.get(ALGORITHM, {}))
    return MetaRecipe(meta, meta_practice(settings.get(PRACTICE, {})))


def meta_practice(values: Mapping[str, Any]) -> MetaPractice:
    """The practice with these settings.

    Raises:
        UsageError: there is no such parameter, or a value is wrong.
    """
    return make_part(PRACTICE, MetaPractice, values)
