"""The interference on nodes that a policy forecasts by where it learns it while it runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pointsman.engine.rate_models.contract import BaseModel, Factor
from pointsman.engine.rate_models.factors.learned_interference import LearnedInterference, servers_of

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pointsman.cluster.layout import Layout
    from pointsman.engine.rate_models.named_models import NamedModels
    from pointsman.engine.rate_models.speeds import Speeds
    from pointsman.speed.interference.learned.combinations import Server
    from pointsman.speed.interference.learned.file import LearnedSpec


@runtime_checkable
class Learner(Protocol):
    """What a policy's attribute ``interference`` may be."""

    def begin(
        self, models: "Sequence[str]", servers: "Sequence[Server]", profiles: "Sequence[str | Path]" = ()
    ) -> None:
        """Be told of the models of jobs, the kinds of servers and the files of model profiles of a run, before it."""

    @property
    def begun(self) -> bool:
        """Whether it was told."""
        ...

    @property
    def spec(self) -> "LearnedSpec":
        """What it expects of these at the beginning of the run."""
        ...


@dataclass(frozen=True)
class OnlineInterference(Factor):
    """A table that the policy writes anew as it learns. At first it has what the policy expects."""

    policy: str
    learner: Learner

    name = "online-interference"
    hooks = LearnedInterference.hooks

    @classmethod
    def chosen(cls, options: Mapping[str, Any], policy: object, base: BaseModel) -> Factor | None:
        """None: `ForecastInterference` chooses it."""
        return None

    @cached_property
    def _table(self) -> LearnedInterference:
        """The table of what is expected at the beginning: made once the learner has been told of the run."""
        return LearnedInterference(f"what {self.policy} has seen", self.learner.spec)

    def speeds(self, named: "NamedModels", speeds: "Speeds") -> "Speeds":
        """Adds the models of jobs, and tells the policy of them."""
        models = {named.catalogue.model_name(model) for model, *_ in named.demands if model is not None}
        self.learner.begin(sorted(models), sorted(set(servers_of(named.layout))), named.profiles)
        told = len(named.assumptions)
        speeds = self._table.speeds(named, speeds)
        if models:
            named.assumptions[told:] = [
                f"learnt from the speeds of running jobs of {len(models)} models; others cause and suffer none"
            ]
        return speeds

    def numbers(self, layout: "Layout", speeds: "Speeds") -> "NDArray[np.float64]":
        """Those of the table."""
        return self._table.numbers(layout, speeds)

    def loads(self, layout: "Layout") -> int:
        """Those of the table."""
        return self._table.loads(layout)
