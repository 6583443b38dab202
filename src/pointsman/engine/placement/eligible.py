"""What an alternative of a demand class admits, and what of it is free."""

import numpy as np

from pointsman.engine.index.bits import bit, lowest, without_lowest
from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State


@core
def whole_nodes(S: State, A: np.void) -> Int:
    """Eligible nodes of the largest size that are wholly free."""
    n = np.int64(0)
    for i in range(A.pool, A.pool_end):
        p = S.ints[i]
        if S.pools[p].gpus == A.gpus:
            n += S.counts[p, A.gpus]
    return n


@core
def nodes_with(S: State, A: np.void, k: Int) -> Int:
    """Eligible nodes with at least k free GPUs, k >= 1."""
    n = np.int64(0)
    if k > A.gpus:  # and perhaps beyond the bits of a word
        return n
    for i in range(A.pool, A.pool_end):
        p = S.ints[i]
        some = S.pools[p].some & ~(bit(k - 1) - np.int64(1))
        while some != 0:
            n += S.counts[p, lowest(some) + 1]
            some = without_lowest(some)
    return n


@core
def admits(S: State, A: np.void, pool: Int) -> bool:
    """Whether the nodes of `pool` are eligible under alternative `A`."""
    for i in range(A.pool, A.pool_end):
        if S.ints[i] == pool:
            return True
    return False


@core
def free_gpus(S: State, A: np.void) -> Int:
    """Free GPUs of eligible nodes."""
    n = np.int64(0)
    for i in range(A.pool, A.pool_end):
        n += S.pools[S.ints[i]].free
    return n


@core
def has_enough(S: State, a: Int, C: np.void) -> bool:
    """Whether alternative `a` has enough free GPUs for class `C`, wherever they are; of a shape, enough nodes with
    room.
    """
    if C.per_node > 0:
        return bool(nodes_with(S, S.alts[a], C.per_node) >= C.nodes)
    return bool(free_gpus(S, S.alts[a]) >= C.gpus)


@core
def alternative_with_room(S: State, c: Int) -> Int:
    """The first alternative of class `c` that has enough (`has_enough`); -1 if none has."""
    C = S.classes[c]
    for a in range(C.alt, C.alt_end):
        if has_enough(S, np.int64(a), C):
            return np.int64(a)
    return np.int64(-1)


@core
def some_node_with(S: State, A: np.void, k: Int) -> bool:
    """Whether an eligible node has at least k free GPUs, k >= 1."""
    if k > A.gpus:  # and perhaps beyond the bits of a word
        return False
    for i in range(A.pool, A.pool_end):
        if S.pools[S.ints[i]].some >> (k - 1) != 0:
            return True
    return False
