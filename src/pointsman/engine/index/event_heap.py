"""The event heap: an indexed heap with at most one entry for each job, ordered by time, kind and row.

Each entry has up to four below it: half as many levels as with two, and the four fill one line of the memory's cache.
Behind the last entry stand some that are later than any, so that four can always be compared, and without a branch:
which of four is the first is anyone's guess.
"""

import numpy as np

from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, World

TOP = 3
"""Where the first entry stands, for the four below entry i to be those from 4 (i - 2) on."""
BEHIND = 4
"""Entries behind the last, in the place of more."""
AROUND = TOP + BEHIND
"""Rows of World.heap besides the entries."""
LATEST = (1 << 63) - 1
"""ms; later than a job that never ends."""
ROW_BITS, SLOT_BITS, FIRST_KIND = 32, 28, 7
"""An entry's order is its kind, above its row, above its slot."""
SLOTS, ROWS = (1 << SLOT_BITS) - 1, (1 << ROW_BITS) - 1


@core
def top_kind(W: World) -> Int:
    """The kind of the next event of a job."""
    return (W.heap[TOP].order >> (ROW_BITS + SLOT_BITS)) + FIRST_KIND


@core
def top_slot(W: World) -> Int:
    """The slot of the job whose event is next."""
    return W.heap[TOP].order & SLOTS


@core
def top_row(W: World) -> Int:
    """The row of the job whose event is next."""
    return W.heap[TOP].order >> SLOT_BITS & ROWS


@core
def empty_heap(W: World) -> None:
    """Nothing is due."""
    W.clock[0].heap = 0
    for i in range(TOP, TOP + BEHIND):
        W.heap[i].time = LATEST


@core
def _put(W: World, i: Int, time: Int, order: Int) -> None:
    W.heap[i].time = time
    W.heap[i].order = order
    W.truth[order & SLOTS].pos = i


@core
def _is_before(W: World, a: Int, b: Int) -> bool:
    """Whether entry `a` is due before entry `b`."""
    A = W.heap[a]
    B = W.heap[b]
    return A.time < B.time or (A.time == B.time and A.order < B.order)


@core
def _first_of_four(W: World, c: Int) -> Int:
    """The entry due first of the four from `c` on."""
    t0 = W.heap[c].time
    t1 = W.heap[c + 1].time
    t2 = W.heap[c + 2].time
    t3 = W.heap[c + 3].time
    low = min(t0, t1)
    high = min(t2, t3)
    first = c + (2 + np.int64(t3 < t2) if high < low else np.int64(t1 < t0))
    if np.int64(t0 == t1) | np.int64(t2 == t3) | np.int64(low == high) != 0:
        first = c
        for k in range(c + 1, c + 4):
            if _is_before(W, k, first):
                first = np.int64(k)
    return first


@core
def _sift_up(W: World, i: Int, time: Int, order: Int) -> None:
    while i > TOP:
        p = (i >> 2) + 2
        P = W.heap[p]
        if time < P.time or (time == P.time and order < P.order):
            _put(W, i, P.time, P.order)
            i = p
        else:
            break
    _put(W, i, time, order)


@core
def _sift_down(W: World, i: Int, time: Int, order: Int) -> None:
    end = W.clock[0].heap + TOP
    while True:
        c = 4 * (i - 2)
        if c >= end:
            break
        c = _first_of_four(W, c)
        C = W.heap[c]
        if C.time < time or (C.time == time and C.order < order):
            _put(W, i, C.time, C.order)
            i = c
        else:
            break
    _put(W, i, time, order)


@core
def heap_set(W: World, slot: Int, time: Int, kind: Int, row: Int) -> None:
    """Make (time, kind) the next event of the job in `slot`."""
    order = ((kind - FIRST_KIND) << (ROW_BITS + SLOT_BITS)) + (row << SLOT_BITS) + slot
    i = W.truth[slot].pos
    if i < 0:
        i = W.clock[0].heap + TOP
        W.clock[0].heap += 1
        W.heap[i + BEHIND].time = LATEST
        _sift_up(W, i, time, order)
    else:
        H = W.heap[i]
        if time < H.time or (time == H.time and order < H.order):
            _sift_up(W, i, time, order)
        else:
            _sift_down(W, i, time, order)


@core
def heap_remove(W: World, slot: Int) -> None:
    """The job in `slot` has no next event."""
    i = W.truth[slot].pos
    if i < 0:
        return
    W.truth[slot].pos = -1
    W.clock[0].heap -= 1
    n = W.clock[0].heap + TOP
    L = W.heap[n]
    time = L.time
    order = L.order
    L.time = LATEST
    if i < n:
        P = W.heap[(i >> 2) + 2 if i > TOP else TOP]
        if i > TOP and (time < P.time or (time == P.time and order < P.order)):
            _sift_up(W, i, time, order)
        else:
            _sift_down(W, i, time, order)
