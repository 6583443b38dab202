"""The level that a waiting job holds out for, and until when, as policies with levels keep it in its scratch fields."""

from dataclasses import dataclass
from typing import Any

from pointsman.policies.classical.tiresias_skew import TiresiasSkew
from pointsman.policies.dally.dally import Dally
from pointsman.policies.parts.levels import NETWORK, NEVER, NODE
from pointsman.types import Locality


@dataclass(frozen=True)
class HoldingOut:
    """A job takes no place looser than a level."""

    level: Locality
    """NODE or RACK."""
    until_ms: int | None
    """When it takes the next looser level instead; None: never."""

    @property
    def place(self) -> str:
        """In words."""
        return "one node" if self.level == Locality.NODE else "one rack"


def holding_out(policy: Any, job: Any) -> HoldingOut | None:
    """What waiting `job`, a record of the state, holds out for under `policy`; None if it takes any place."""
    if not isinstance(policy, Dally | TiresiasSkew) or job["s2"] >= NETWORK:
        return None
    level = Locality(int(job["s2"]))
    timer_ms = NEVER if isinstance(policy, TiresiasSkew) else job["s0"] if level == NODE else job["s1"]
    return HoldingOut(level, None if timer_ms >= NEVER else int(job["pend_since"]) + int(timer_ms))
