"""LB, load balancing: each worker goes to the server with the most free GPUs."""

from typing import ClassVar

import numpy as np

from pointsman.policies.parts.gpu_marks import clear, free_on, given, mark
from pointsman.policies.placers.placer import Placer, alternative_of, next_gang, on_event, on_run, start_there
from pointsman.policies.placers.sockets import note_marked
from pointsman.policies.sdk import Int, State, cold, core

__all__ = ["Lb", "decide", "note_balanced", "on_event", "on_run"]


class Lb(Placer):
    """Worker by worker onto the node with the most free GPUs, whatever its rack; jobs in the order of fifo-backfill."""

    name: ClassVar[str] = "lb"
    hooks: ClassVar[str] = "pointsman.policies.placers.lb"


@core
def _freest(S: State, a: Int) -> Int:
    """The node with the most free GPUs that are not marked; lowest index among equals."""
    best = np.int64(-1)
    most = np.int64(0)
    for n in range(S.nodes.shape[0]):
        left = free_on(S, a, np.int64(n)) - given(S, np.int64(n))
        if left > most:
            best = np.int64(n)
            most = left
    return best


@cold
def note_balanced(S: State, j: Int) -> None:
    """Note in State.place where LB puts job `j`, which fits."""
    a = alternative_of(S, j)
    clear(S)
    for _ in range(S.classes[S.jobs[j].cls].gpus):
        n = _freest(S, a)
        mark(S, n, given(S, n) + 1)
    note_marked(S)


@core
def decide(S: State) -> None:
    """Start every job that fits, in order."""
    j = next_gang(S)
    while j >= 0:
        note_balanced(S, j)
        start_there(S, j)
        j = next_gang(S)
