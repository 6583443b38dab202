"""Conservative backfilling (Mu'alem and Feitelson, IEEE TPDS 2001, "Utilization, predictability, workloads, and user
runtime estimates in scheduling the IBM SP2 with backfilling"): each of the first waiting jobs has a reservation.

Ours: reservations of concrete GPUs, as those of `easy`; how many there are; and when they are made anew.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pointsman.policies.classical.easy import on_event as easy_on_event
from pointsman.policies.classical.planning import Planning, note_event, on_run, start_by_plan, wait_planned
from pointsman.policies.parts.plan.reservations import plan_lengths
from pointsman.policies.sdk import PENDING, Int, State, core, parameter

__all__ = ["Conservative", "decide", "on_event", "on_run"]


class Conservative(Planning):
    """FIFO with reservations of concrete GPUs for the first `depth` waiting jobs; a job behind them starts where it
    delays none of these.
    """

    name: ClassVar[str] = "conservative"
    hooks: ClassVar[str] = "pointsman.policies.classical.conservative"
    source: ClassVar[str] = "Mu'alem and Feitelson, Utilization, predictability, workloads, IEEE TPDS 2001"

    depth: int = parameter(100, "how many waiting jobs have reservations, the first ones in order", ge=1, le=10_000)

    def new_memory(self) -> NDArray[np.float64]:
        """Room for the plan."""
        return type(self).memory.zeros(plan_lengths(self.depth))

    backfills_rest: ClassVar[bool] = True


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """As EASY; the plan breaks by what it did not foresee."""
    note_event(S, kind, j)
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        wait_planned(S, j, 0.0)
    else:
        easy_on_event(S, kind, j)


@core
def decide(S: State) -> None:
    """Start jobs by the plan, and behind it."""
    start_by_plan(S)
