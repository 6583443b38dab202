"""Placement at the tightest level that has room (``docs/reference/semantics.md`` §3): one node, else few nodes of one
rack, else few racks; not beyond the level State.g.within.
"""

import numpy as np

from pointsman.engine.index.free_gpus import put_on
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.placement.eligible import admits, free_gpus, some_node_with
from pointsman.engine.placement.one_node import best_fit, most_free
from pointsman.engine.state.codes import TIGHTEST
from pointsman.engine.state.records import Int, State
from pointsman.engine.state.state_pointer import open_state
from pointsman.types import Locality

RACK = int(Locality.RACK)


@core
def suits_better(free: Int, best: Int, k: Int) -> bool:
    """Whether `free` GPUs suit a wish for k better than `best`: enough before too few, then the closest."""
    if free >= k:
        return best < k or free < best
    return best < k and free > best


@core
def takes_any(S: State) -> bool:
    """Whether any GPUs will do that are free in one rack, or at all."""
    return S.g[0].placement == TIGHTEST and S.g[0].within >= RACK


@core
def free_in(S: State, A: np.void, rack: Int) -> Int:
    """Free GPUs of eligible nodes in `rack`."""
    n = np.int64(0)
    for i in range(A.pool, A.pool_end):
        n += S.rack_free[S.ints[i], rack]
    return n


@core
def rack_for(S: State, A: np.void, k: Int) -> Int:
    """The rack that suits k GPUs best; lowest index among equals, -1 if none has a free one."""
    found = np.int64(-1)
    best = np.int64(0)
    for r in range(S.racks.shape[0]):
        free = free_in(S, A, r)
        if free > 0 and suits_better(free, best, k):
            found = np.int64(r)
            best = free
    return found


@core
def _node_for(S: State, A: np.void, rack: Int, k: Int) -> Int:
    """The node of `rack` that suits k GPUs best; lowest index among equals, -1 if none has a free one."""
    if S.racks.shape[0] == 1:  # of all nodes, the index finds it at once
        return best_fit(S, A, k) if some_node_with(S, A, k) else most_free(S, A)
    R = S.racks[rack]
    found = np.int64(-1)
    best = np.int64(0)
    for i in range(R.members, R.members + R.nodes):
        N = S.nodes[S.ints[i]]
        if N.state == 0 and N.free > 0 and suits_better(N.free, best, k) and admits(S, A, N.pool):
            found = S.ints[i]
            best = N.free
    return found


@cold
def fits_tightly(address: Int, a: Int, gpus: Int) -> bool:
    """Whether a gang fits alternative `a` at State.g.within or tighter."""
    S = open_state(address)
    A = S.alts[a]
    if some_node_with(S, A, gpus):
        return True
    if S.g[0].within < RACK:
        return False
    if S.g[0].within > RACK:
        return gpus <= free_gpus(S, A)
    r = rack_for(S, A, gpus)
    return r >= 0 and free_in(S, A, r) >= gpus


@cold
def place_tightly(address: Int, a: Int, gpus: Int) -> None:
    """Take GPUs for a gang that fits alternative `a`."""
    S = open_state(address)
    A = S.alts[a]
    left = gpus
    while left > 0:
        r = rack_for(S, A, left)
        here = min(left, free_in(S, A, r))
        left -= here
        while here > 0:
            n = _node_for(S, A, r, here)
            k = min(here, S.nodes[n].free)
            put_on(S, n, k)
            here -= k
