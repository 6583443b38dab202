"""LB, load balancing: each worker goes to the server with the most free GPUs."""

from typing import ClassVar

from pointsman.policies.placers.declared import Placer
from pointsman.policies.placers.one_by_one import GPUS, note_one_by_one
from pointsman.policies.placers.placer import alternative_of, next_job, on_event, on_run, start_there
from pointsman.policies.sdk import State, core

__all__ = ["Lb", "decide", "on_event", "on_run"]


class Lb(Placer):
    """Worker by worker onto the node with the most free GPUs, whatever its rack."""

    name: ClassVar[str] = "lb"
    hooks: ClassVar[str] = "pointsman.policies.placers.lb"


@core
def decide(S: State) -> None:
    """Start every job that fits, in order."""
    j = next_job(S)
    while j >= 0:
        note_one_by_one(S, j, alternative_of(S, j), GPUS)
        start_there(S, j)
        j = next_job(S)
