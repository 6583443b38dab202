"""The index of free GPUs.

Nodes of one size, GPU type and set of partitions form a *pool*. For each pool and each number k of free GPUs a
two-level
bitmap holds the UP nodes with exactly k free, so the best-fitting node of lowest index is found in O(1). The index is a
function of what is free, not of how it came to be.
"""

import numpy as np

from pointsman.engine.index.bits import bit, lowest, without_lowest
from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State


@core
def _enter(S: State, p: Int, k: Int, rank: Int) -> None:
    """Node `rank` of pool `p` has k free GPUs from now on."""
    P = S.pools[p]
    base = P.bits + k * (P.leaves + P.tops)
    leaf = rank >> 6
    S.words[base + P.tops + leaf] |= bit(rank & 63)
    S.words[base + (leaf >> 6)] |= bit(leaf & 63)
    S.counts[p, k] += 1
    if k > 0:
        P.some |= bit(k - 1)


@core
def _leave(S: State, p: Int, k: Int, rank: Int) -> None:
    P = S.pools[p]
    base = P.bits + k * (P.leaves + P.tops)
    leaf = rank >> 6
    left = S.words[base + P.tops + leaf] & ~bit(rank & 63)
    S.words[base + P.tops + leaf] = left
    if left == 0:
        S.words[base + (leaf >> 6)] &= ~bit(leaf & 63)
    S.counts[p, k] -= 1
    if S.counts[p, k] == 0 and k > 0:
        P.some &= ~bit(k - 1)


@core
def first_node(S: State, p: Int, k: Int) -> Int:
    """The lowest node of pool `p` with exactly k free GPUs, -1 if none."""
    if S.counts[p, k] == 0:
        return np.int64(-1)
    P = S.pools[p]
    base = P.bits + k * (P.leaves + P.tops)
    t = base
    while S.words[t] == 0:
        t += 1
    leaf = ((t - base) << 6) + lowest(S.words[t])
    rank = (leaf << 6) + lowest(S.words[base + P.tops + leaf])
    return S.ints[P.members + rank]


@core
def _reindex(S: State, n: Int, k: Int) -> None:
    """Node `n` has k free GPUs instead of those it is indexed by."""
    N = S.nodes[n]
    if N.state == 0:
        _leave(S, N.pool, N.free, N.rank)
        _enter(S, N.pool, k, N.rank)
        S.pools[N.pool].free += k - N.free
        S.rack_free[N.pool, N.rack] += k - N.free
        S.g[0].free += k - N.free
    N.free = k


@core
def take(S: State, n: Int, mask: Int, k: Int) -> None:
    """The k free GPUs `mask` of node `n` are free no more."""
    N = S.nodes[n]
    N.free_mask &= ~mask
    _reindex(S, n, N.free - k)


@core
def give(S: State, n: Int, mask: Int, k: Int) -> None:
    """The k GPUs `mask` of node `n` are free again."""
    N = S.nodes[n]
    N.free_mask |= mask
    _reindex(S, n, N.free + k)


@core
def set_node_state(S: State, n: Int, state: Int) -> None:
    """Put node `n` UP, in DRAIN or DOWN; only UP nodes are in the index."""
    N = S.nodes[n]
    if N.state == 0 and state != 0:
        _leave(S, N.pool, N.free, N.rank)
        S.pools[N.pool].free -= N.free
        S.rack_free[N.pool, N.rack] -= N.free
        S.g[0].free -= N.free
    elif N.state != 0 and state == 0:
        _enter(S, N.pool, N.free, N.rank)
        S.pools[N.pool].free += N.free
        S.rack_free[N.pool, N.rack] += N.free
        S.g[0].free += N.free
    N.state = state


@core
def lowest_bits(mask: Int, k: Int) -> Int:
    """The k lowest set bits of `mask`."""
    left = mask
    for _ in range(k):
        left = without_lowest(left)
    return mask & ~left


@core
def put_on(S: State, n: Int, k: Int) -> None:
    """Take the k lowest free GPUs of node `n` and note them in State.place."""
    mask = lowest_bits(S.nodes[n].free_mask, k)
    take(S, n, mask, k)
    i = S.g[0].placed
    S.place[i].node = n
    S.place[i].mask = mask
    S.place[i].gpus = k
    S.g[0].placed = i + 1
