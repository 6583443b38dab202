"""The interference on nodes that a policy forecasts by, where jobs are slowed by another."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pointsman.engine.rate_models.contract import BaseModel, Factor
from pointsman.engine.rate_models.factors.learned_interference import LearnedInterference
from pointsman.engine.rate_models.factors.node_interference import NodeInterference
from pointsman.engine.rate_models.factors.online_interference import Learner, OnlineInterference
from pointsman.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pointsman.cluster.layout import Layout
    from pointsman.engine.rate_models.named_models import NamedModels
    from pointsman.engine.rate_models.speeds import Speeds


@dataclass(frozen=True)
class ForecastInterference(Factor):
    """What the parameter ``interference`` of a policy says: it counts what runs, and slows nothing."""

    policy: str
    forecast: Factor

    name = "forecast-interference"
    hooks = LearnedInterference.hooks
    instead_of = (NodeInterference.name, LearnedInterference.name)

    @classmethod
    def chosen(cls, options: Mapping[str, Any], policy: object, base: BaseModel) -> Factor | None:
        """Unless the policy forecasts by what slows jobs.

        Raises:
            UsageError: there is no such source.
        """
        source, name = getattr(policy, "interference", None), getattr(policy, "name", "")
        if isinstance(source, Learner):
            return cls(str(name), OnlineInterference(str(name), source))
        if not isinstance(source, str):
            return None
        forecast = NodeInterference.chosen({**options, "node_interference": source}, policy, base)
        if forecast is None:
            raise UsageError(f"{name}.interference = {source!r}: give table or a file, or leave it out")
        return cls(str(name), forecast)

    def unit(self) -> str:
        """That of the factor that it forecasts by."""
        return self.forecast.unit()

    def speeds(self, named: "NamedModels", speeds: "Speeds") -> "Speeds":
        """Adds the tables that it forecasts by.

        Raises:
            UsageError: as the factor that it forecasts by.
        """
        told = len(named.assumptions)
        forecast = self.forecast.speeds(named, speeds)
        named.assumptions[told:] = [f"forecasts of {self.policy}: {said}" for said in named.assumptions[told:]]
        return replace(speeds, forecast=forecast)

    def numbers(self, layout: "Layout", speeds: "Speeds") -> "NDArray[np.float64]":
        """Those of the factor that it forecasts by."""
        return self.forecast.numbers(layout, speeds.forecast or speeds)

    def loads(self, layout: "Layout") -> int:
        """Those of the factor that it forecasts by."""
        return self.forecast.loads(layout)
