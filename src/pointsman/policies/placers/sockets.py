"""Which of the free GPUs of a node a gang gets: those of as few CPU sockets as there need be (ours)."""

import numpy as np

from pointsman.policies.parts.gpu_marks import add_node, count_marked
from pointsman.policies.sdk import LARGEST, Int, State, bit, core, count, lowest_bits


@core
def gpus_of_socket(S: State, n: Int, socket: Int) -> Int:
    """The GPUs of a socket of node `n`, a bit each."""
    N = S.nodes[n]
    mask = np.int64(0)
    for g in range(N.gpus):
        if g * N.sockets // N.gpus == socket:
            mask |= bit(g)
    return mask


@core
def _best_socket(S: State, n: Int, free: Int, need: Int) -> Int:
    """The socket with the fewest of the GPUs `free` that has `need` of them; else the one with the most."""
    best = np.int64(-1)
    rank = np.int64(LARGEST)
    for socket in range(S.nodes[n].sockets):
        k = count(free & gpus_of_socket(S, n, np.int64(socket)))
        this = k if k >= need else 1000 - k
        if k > 0 and this < rank:
            best = np.int64(socket)
            rank = this
    return best


@core
def gpus_of(S: State, n: Int, k: Int) -> Int:
    """Return a mask of `k` free GPUs of node `n`, which has that many.

    They are of the socket with the fewest free GPUs that has `k`. If none has, they are all of the socket with the
    most, and the rest is chosen in the same way. Among equals, the lowest index is taken.
    """
    free = S.nodes[n].free_mask
    if S.nodes[n].sockets == 1 or k == S.nodes[n].free:
        return lowest_bits(free, k)
    chosen = np.int64(0)
    while k > 0:
        offered = free & gpus_of_socket(S, n, _best_socket(S, n, free, k))
        mask = lowest_bits(offered, min(k, count(offered)))
        chosen |= mask
        free &= ~mask
        k -= count(mask)
    return chosen


@core
def broken_sockets(S: State, n: Int, mask: Int) -> Int:
    """How many sockets of node `n` give some of the GPUs `mask`, which are free, and keep free ones."""
    broken = np.int64(0)
    for socket in range(S.nodes[n].sockets):
        free = S.nodes[n].free_mask & gpus_of_socket(S, n, np.int64(socket))
        if free & mask != 0 and free & ~mask != 0:
            broken += 1
    return broken


@core
def note_marked(S: State) -> None:
    """The GPUs marked (`parts.gpu_marks`) are the place: of each node those that `gpus_of` says."""
    S.g[0].placed = 0
    for n in range(S.nodes.shape[0]):
        k = count_marked(S, np.int64(n))
        if k > 0:
            add_node(S, np.int64(n), gpus_of(S, np.int64(n), k), k)
