"""The event heap: an indexed heap with at most one entry for each job, ordered by time, kind and row.

Each entry has up to four below it: half as many levels as with two, and four lie side by side in memory.
"""

import numpy as np

from pointsman.engine.compile import core
from pointsman.engine.records import Int, World

ROW_BITS = 40
"""An entry's order is its kind above its row."""


@core
def _put(W: World, i: Int, time: Int, order: Int, slot: Int) -> None:
    H = W.heap[i]
    H.time = time
    H.order = order
    H.slot = slot
    W.truth[slot].pos = i


@core
def _sift_up(W: World, i: Int, time: Int, order: Int, slot: Int) -> None:
    while i > 0:
        p = (i - 1) >> 2
        P = W.heap[p]
        if time < P.time or (time == P.time and order < P.order):
            _put(W, i, P.time, P.order, P.slot)
            i = p
        else:
            break
    _put(W, i, time, order, slot)


@core
def _sift_down(W: World, i: Int, time: Int, order: Int, slot: Int) -> None:
    n = W.clock[0].heap
    while True:
        c = 4 * i + 1
        if c >= n:
            break
        C = W.heap[c]
        for k in range(c + 1, min(c + 4, n)):
            D = W.heap[k]
            if D.time < C.time or (D.time == C.time and D.order < C.order):
                c = np.int64(k)
                C = D
        if C.time < time or (C.time == time and C.order < order):
            _put(W, i, C.time, C.order, C.slot)
            i = c
        else:
            break
    _put(W, i, time, order, slot)


@core
def heap_set(W: World, slot: Int, time: Int, kind: Int, row: Int) -> None:
    """Make (time, kind) the next event of the job in `slot`."""
    order = (kind << ROW_BITS) | row
    i = W.truth[slot].pos
    if i < 0:
        i = W.clock[0].heap
        W.clock[0].heap = i + 1
        _sift_up(W, i, time, order, slot)
    else:
        H = W.heap[i]
        if time < H.time or (time == H.time and order < H.order):
            _sift_up(W, i, time, order, slot)
        else:
            _sift_down(W, i, time, order, slot)


@core
def heap_remove(W: World, slot: Int) -> None:
    """The job in `slot` has no next event."""
    i = W.truth[slot].pos
    if i < 0:
        return
    W.truth[slot].pos = -1
    n = W.clock[0].heap - 1
    W.clock[0].heap = n
    if i < n:
        L = W.heap[n]
        time = L.time
        order = L.order
        last = L.slot
        P = W.heap[(i - 1) >> 2 if i > 0 else 0]
        if i > 0 and (time < P.time or (time == P.time and order < P.order)):
            _sift_up(W, i, time, order, last)
        else:
            _sift_down(W, i, time, order, last)
