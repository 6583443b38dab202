"""Packed by least interference: as `packed`, but among servers with room the calmest, not the fullest."""

from typing import ClassVar

import numpy as np

from pointsman.policies.parts.gpu_marks import free_on
from pointsman.policies.placers.declared import Placer
from pointsman.policies.placers.filling import note_packed, set_score
from pointsman.policies.placers.interference import FORECASTS_BY, slowdown_on
from pointsman.policies.placers.placer import alternative_of, next_job, on_event, on_run, start_there
from pointsman.policies.sdk import Int, Profile, State, core, parameter

__all__ = ["PackedLif", "decide", "on_event", "on_run"]


class PackedLif(Placer):
    """As packed, but on the node with room where the job would be slowed least by others there; the fewest free GPUs
    among equals. Where nodes are filled, those with the most free GPUs go first, the calmest among equals.
    """

    name: ClassVar[str] = "packed-lif"
    hooks: ClassVar[str] = "pointsman.policies.placers.packed_lif"
    profiles: ClassVar[tuple[Profile, ...]] = ("nodes",)
    source: ClassVar[str] = "ours (docs/papers/marl.md)"

    interference: str | None = parameter(None, FORECASTS_BY)


@core
def _weigh(S: State, j: Int, a: Int, need: Int) -> None:
    """Score each node by what job `j` would suffer with as many of its workers as fit there."""
    for n in range(S.nodes.shape[0]):
        free = free_on(S, a, np.int64(n))
        if free > 0:
            set_score(S, np.int64(n), slowdown_on(S, j, np.int64(n), min(need, free)))


@core
def decide(S: State) -> None:
    """Start every job that fits, in order."""
    j = next_job(S)
    while j >= 0:
        a = alternative_of(S, j)
        need = S.classes[S.jobs[j].cls].gpus
        _weigh(S, j, a, need)
        note_packed(S, a, need)
        start_there(S, j)
        j = next_job(S)
