"""A toy base model: a job on several nodes runs at half its nominal rate. Its compiled code is `half_speed_code`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pointsman.engine.rate_models.contract import BaseModel

if TYPE_CHECKING:
    from pointsman.engine.rate_models.named_models import NamedModels
    from pointsman.engine.rate_models.speeds import Speeds
    from pointsman.engine.state.records import State


@dataclass(frozen=True)
class HalfSpeed(BaseModel):
    """Half the nominal rate on several nodes."""

    name = "half-speed"
    meaning = "half speed on several nodes"
    form = "half-speed"

    def speeds(self, named: "NamedModels") -> "Speeds":
        """No tables: the compiled code needs none."""
        from pointsman.engine.rate_models.speeds import speeds_without_models

        return speeds_without_models(named.layout)

    def install(self, state: "State", *, admits: bool) -> None:
        """The address of the compiled code."""
        from pointsman.engine.jit.loaded import address_of

        state.g["rating"] = address_of(f"{__package__}.half_speed_code.rating")

    def described(self, text: str) -> str:
        """The sentence of a report."""
        return f"a job on several nodes runs at half speed ({text})"
