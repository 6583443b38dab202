"""The place of a job beside others: free GPUs, and such as its partners have to themselves (``semantics.md`` §10)."""

import numpy as np

from pointsman.policies.parts.partners import CHOSEN, fitting, partner, singles_on, usable
from pointsman.policies.sdk import Int, State, bit, cold, core, count, lowest, lowest_bits, open_state, without_lowest


@cold
def add_to_place(S: State, n: Int, mask: Int) -> None:
    """GPUs `mask` of node `n` are part of the place in State.place, which is in the order of nodes."""
    g = S.g[0]
    i = g.placed
    while i > 0 and S.place[i - 1].node > n:
        i -= 1
    if i > 0 and S.place[i - 1].node == n:
        S.place[i - 1].mask |= mask
        return
    for k in range(g.placed, i, -1):
        S.place[k] = S.place[k - 1]
    S.place[i].node = n
    S.place[i].mask = mask
    g.placed += 1


@core
def _add_free(S: State, a: Int, only: Int) -> None:
    """All free GPUs of alternative `a`, on node `only` or anywhere, are part of the place."""
    first = only if only >= 0 else np.int64(0)
    last = only + 1 if only >= 0 else S.nodes.shape[0]
    for n in range(first, last):
        if S.nodes[n].free_mask != 0 and usable(S, a, np.int64(n)):
            add_to_place(S, np.int64(n), S.nodes[n].free_mask)


@core
def _part_after(S: State, b: Int, n: Int) -> Int:
    """The part of job `b` on its lowest node above `n`; -1 if none."""
    found = np.int64(-1)
    i = S.jobs[b].part
    while i >= 0:
        node = S.parts[i].node
        if node > n and (found < 0 or node < S.parts[found].node):
            found = i
        i = S.parts[i].next
    return found


@core
def add_singles(S: State, a: Int, only: Int, b: Int, need: Int) -> Int:
    """Single GPUs of partner `b`, `need` at most, the lowest first, are part of the place; how many are needed then."""
    i = _part_after(S, b, np.int64(-1))
    while i >= 0 and need > 0:
        P = S.parts[i]
        if (only < 0 or P.node == only) and usable(S, a, P.node):
            mask = singles_on(S, P.node, P.mask)
            if count(mask) > need:
                mask = lowest_bits(mask, need)
            if mask != 0:
                add_to_place(S, P.node, mask)
                need -= count(mask)
        i = _part_after(S, b, P.node)
    return need


@core
def place_beside(S: State, j: Int, a: Int, only: Int, chosen: Int, need: Int) -> None:
    """Note the place of job `j` under alternative `a` (on node `only`, or anywhere) in State.place: all that is free,
    and `need` GPUs of the partners chosen; it accumulates as the most crowded of them wants.
    """
    S.g[0].placed = 0
    if need < S.jobs[j].asked:
        _add_free(S, a, only)
    power = np.int64(0)
    for i in range(chosen):
        b = S.lists[CHOSEN, i]
        need = add_singles(S, a, only, b, need)
        power = max(power, partner(S, b).power)
    S.jobs[j].accumulation = np.int64(1) << power


@cold
def place_on_any(address: int, j: Int, a: Int, need: Int) -> Int:
    """Note a place of job `j` under alternative `a`: what is free, and `need` GPUs with one job each, the lowest first.

    These have room for job `j` at some accumulation; it accumulates as the most crowded wants. Return how many there
    are, at most `need`; if fewer, the place is incomplete.
    """
    S = open_state(address)
    S.g[0].placed = 0
    found = power = np.int64(0)
    for n in range(S.nodes.shape[0]):
        N = S.nodes[n]
        held = lowest_bits(np.int64(-1), N.gpus) & ~N.free_mask if usable(S, a, np.int64(n)) else np.int64(0)
        mask = singles_on(S, np.int64(n), held)
        while mask != 0 and found < need:
            b = lowest(mask)
            mask = without_lowest(mask)
            k = fitting(S, j, np.int64(n), S.gpus[N.gpu0 + b].free_bytes)
            if k >= 0 and S.gpus[N.gpu0 + b].used == 1:
                found += 1
                add_to_place(S, np.int64(n), bit(b))
                power = max(power, k)
        if found == need:
            break
    if found == need:
        if need < S.jobs[j].asked:
            _add_free(S, a, np.int64(-1))
        S.jobs[j].accumulation = np.int64(1) << power
    return found
