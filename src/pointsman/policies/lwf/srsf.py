"""SRSF(t): LWF-κ's placement, and at most t transfers at a time on any node, least remaining service first (the
baselines of Ada-SRSF). t = 1 avoids all contention; t = 2 and 3 accept some blindly.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.lwf.lwf import Lwf, on_event, on_run
from pointsman.policies.lwf.placement import place_waiting
from pointsman.policies.sdk import State, admit, core, most_under_way, next_transfer, parameter, service_left, view_of

__all__ = ["Srsf", "decide", "on_event", "on_run"]


class Srsf(Lwf):
    """LWF-κ's placement; a transfer begins if fewer than `transfers` are under way on each of its nodes."""

    name: ClassVar[str] = "srsf"
    hooks: ClassVar[str] = "pointsman.policies.lwf.srsf"
    admits: ClassVar[bool] = True

    transfers: int = parameter(1, "transfers at a time on a node", source="paper", ge=1)


params = view_of(Srsf)


@core
def decide(S: State) -> None:
    """Place who waits, then admit transfers."""
    place_waiting(S)
    j = next_transfer(S, -1.0, np.int64(-1))
    while j >= 0:
        if most_under_way(S, j) < params(S).transfers:
            admit(S, j)
        j = next_transfer(S, service_left(S, j), S.jobs[j].row)
