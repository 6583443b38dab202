"""Packing jobs in pairs on the same GPUs (Gandiva, OSDI 2018, §3.2), as an oracle.

Gandiva tries pairs, measures them, and separates those that are not beneficial. Here the true slowdown of each pair is
looked up before, so no bad pair is ever tried; a pair stays together until one of the two ends.
"""

import numpy as np

from pointsman.policies.parts.partners import may_share, type_of, usable
from pointsman.policies.sdk import (
    OK,
    RUNNING,
    SOLE_OCCUPANTS,
    Int,
    State,
    bytes_of,
    cold,
    core,
    open_state,
    slow_down,
    start_on,
)


@core
def _has_room(S: State, j: Int, a: Int, b: Int) -> bool:
    """Whether job `j` can go on the very GPUs of running job `b`, which no other job shares, under alternative `a`."""
    B = S.jobs[b]
    if B.state != RUNNING or B.gpus != S.jobs[j].asked or B.alone != B.gpus or not may_share(S, b):
        return False
    i = B.part
    while i >= 0:
        n = S.parts[i].node
        if not usable(S, a, n) or S.nodes[n].bytes - bytes_of(S, b, n) < bytes_of(S, j, n):
            return False
        i = S.parts[i].next
    return True


@core
def _gain(S: State, a: Int, b: Int, kind: Int) -> float:
    """What jobs `a` and `b` get done together on a GPU, of what each would alone."""
    return 1.0 / slow_down(S, a, b, kind) + 1.0 / slow_down(S, b, a, kind)


@core
def _best(S: State, j: Int, a: Int, least: float) -> Int:
    """The job with which job `j` gets most done, more than `least`; -1 if there is none."""
    best = np.int64(-1)
    most = least
    for i in range(S.g[0].sole_occupants):
        b = S.lists[SOLE_OCCUPANTS, i]
        if _has_room(S, j, a, b):
            gain = _gain(S, j, b, type_of(S, a))
            if gain > most or (gain == most and best >= 0 and S.jobs[b].row < S.jobs[best].row):
                best = b
                most = gain
    return best


@cold
def pack(address: int, j: Int, least: float) -> bool:
    """Start waiting job `j` on the GPUs of a running job of as many, if they get more than `least` done together."""
    S = open_state(address)
    C = S.classes[S.jobs[j].cls]
    if not may_share(S, j) or C.per_node > 0:
        return False
    for a in range(C.alt, C.alt_end):
        b = _best(S, j, np.int64(a), least)
        if b >= 0:
            S.g[0].placed = 0
            i = S.jobs[b].part
            while i >= 0:
                S.place[S.g[0].placed] = S.parts[i]
                S.g[0].placed += 1
                i = S.parts[i].next
            return bool(start_on(S, j, OK) == OK)
    return False
