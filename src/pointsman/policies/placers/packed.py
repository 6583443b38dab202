"""Packed: few servers for each gang, and large holes left for the next."""

from typing import ClassVar

from pointsman.policies.placers.declared import Placer
from pointsman.policies.placers.filling import clear_scores, note_packed
from pointsman.policies.placers.placer import alternative_of, next_job, on_event, on_run, start_there
from pointsman.policies.sdk import State, core

__all__ = ["Packed", "decide", "on_event", "on_run"]


class Packed(Placer):
    """On the node with the fewest free GPUs that has room; else on the fewest nodes of the fullest rack that has room,
    or of the cluster. Unlike ``--placement consolidated``, it does not wait for whole nodes.
    """

    name: ClassVar[str] = "packed"
    hooks: ClassVar[str] = "pointsman.policies.placers.packed"
    source: ClassVar[str] = "ours (docs/papers/marl.md)"


@core
def decide(S: State) -> None:
    """Start every job that fits, in order."""
    clear_scores(S)
    j = next_job(S)
    while j >= 0:
        note_packed(S, alternative_of(S, j), S.classes[S.jobs[j].cls].gpus)
        start_there(S, j)
        j = next_job(S)
