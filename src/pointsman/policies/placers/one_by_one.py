"""Gangs placed worker by worker, each where most is free: of GPUs, or of GPUs and cores."""

from typing import Final

import numpy as np

from pointsman.policies.parts.gpu_marks import clear, count_marked, free_on, mark
from pointsman.policies.placers.sockets import note_marked
from pointsman.policies.sdk import Int, State, cold, core, free_core_share

GPUS, SHARES = 0, 1
"""What counts: free GPUs; or the free share of GPUs plus the free share of cores."""
NONE: Final = -np.inf


@core
def _free(S: State, j: Int, a: Int, n: Int, counts: Int) -> float:
    """What node `n` has free for one more worker of job `j`."""
    left = free_on(S, a, n) - count_marked(S, n)
    if left <= 0:
        return NONE
    if counts == GPUS:
        return np.float64(left)
    return left / S.nodes[n].gpus + free_core_share(S, j, n, count_marked(S, n))


@cold
def note_one_by_one(S: State, j: Int, a: Int, counts: Int) -> None:
    """Note in State.place where the workers of job `j`, which fits alternative `a`, go: each onto the node that has
    most left, lowest index among equals.
    """
    clear(S)
    for _ in range(S.classes[S.jobs[j].cls].gpus):
        best = np.int64(-1)
        most = NONE
        for n in range(S.nodes.shape[0]):
            free = _free(S, j, a, np.int64(n), counts)
            if free > most:
                best = np.int64(n)
                most = free
        mark(S, best, count_marked(S, best) + 1)
    note_marked(S)
