"""The rate model ``rates``: a job runs at the rate that its place decides (``docs/reference/semantics.md`` §8, §10)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pointsman.engine.rate_models.contract import BaseModel

if TYPE_CHECKING:
    from pointsman.engine.rate_models.named_models import NamedModels
    from pointsman.engine.rate_models.speeds import Speeds


@dataclass(frozen=True)
class Rates(BaseModel):
    """A job's rate is an iteration where its duration was recorded, over an iteration where it is."""

    name = "rates"
    meaning = "rate depends on the job's placement and on co-located jobs"
    form = "rates"
    shares_links = True

    def speeds(self, named: "NamedModels") -> "Speeds":
        """Iterations by all-reduces over the network."""
        from pointsman.engine.rate_models.speeds import speeds_of_rates

        return speeds_of_rates(named)

    def described(self, text: str) -> str:
        """The sentence of a report."""
        return "a job's rate depends on its place"
