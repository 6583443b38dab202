"""Which node of an alternative: found in the index of free GPUs."""

import numpy as np

from pointsman.engine.index.bits import bit, lowest
from pointsman.engine.index.free_gpus import first_node
from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State


@core
def best_fit(S: State, A: np.void, k: Int) -> Int:
    """The eligible node with the fewest free GPUs that has k; lowest index among equals."""
    best = np.int64(-1)
    fewest = np.int64(65)
    for i in range(A.pool, A.pool_end):
        p = S.ints[i]
        some = S.pools[p].some & ~(bit(k - 1) - np.int64(1))
        if some != 0:
            free = lowest(some) + 1
            if free <= fewest:
                n = first_node(S, p, free)
                if free < fewest or n < best:
                    best = n
                    fewest = free
    return best


@core
def first_fit(S: State, A: np.void, k: Int) -> Int:
    """The eligible node of lowest index that has k free GPUs."""
    best = np.int64(-1)
    for i in range(A.pool, A.pool_end):
        p = S.ints[i]
        some = S.pools[p].some & ~(bit(k - 1) - np.int64(1))
        while some != 0:
            low = lowest(some)
            n = first_node(S, p, low + 1)
            if best < 0 or n < best:
                best = n
            some &= ~bit(low)
    return best


@core
def most_free(S: State, A: np.void) -> Int:
    """The eligible node with the most free GPUs; lowest index among equals."""
    best = np.int64(-1)
    most = np.int64(0)
    for i in range(A.pool, A.pool_end):
        p = S.ints[i]
        free = S.pools[p].gpus
        while free > 0 and S.counts[p, free] == 0:
            free -= 1
        if free > 0 and free >= most:
            n = first_node(S, p, free)
            if free > most or n < best:
                best = n
                most = free
    return best


@core
def first_whole(S: State, A: np.void) -> Int:
    """The eligible node of lowest index that has the largest size and is wholly free; -1 if there is none."""
    best = np.int64(-1)
    for i in range(A.pool, A.pool_end):
        p = S.ints[i]
        if S.pools[p].gpus == A.gpus:
            n = first_node(S, p, A.gpus)
            if n >= 0 and (best < 0 or n < best):
                best = n
    return best
