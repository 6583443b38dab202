"""Candidate placements of a whole gang, at most 32, in an order that depends on nothing but the state: what `scorer`
and learned agents choose among (ours; ``docs/papers/marl.md``).

Where a node has room for all: each node with room, the fullest first, of idle ones alike only the first. Else where
`packed` would put it, and each rack with room, the fullest first, filled in two orders. Then where LB and LIF would.
A candidate is kept as one number, from which its place is noted again.
"""

import numpy as np

from pointsman.policies.parts.gpu_marks import free_on
from pointsman.policies.placers.declared import MOST_CANDIDATES, PlacerMemory
from pointsman.policies.placers.filling import (
    clear_scores,
    fill_rack,
    note_compact,
    note_packed,
    set_score,
)
from pointsman.policies.placers.interference import is_idle
from pointsman.policies.placers.lif import note_least_interference
from pointsman.policies.placers.one_by_one import GPUS, note_one_by_one
from pointsman.policies.placers.sockets import gpus_of
from pointsman.policies.sdk import (
    LARGEST,
    Int,
    State,
    cold,
    core,
    free_core_share,
    free_in,
    note_place,
    some_node_with,
    view_of,
)

memory = view_of(PlacerMemory)
PACKED, LB, LIF, SHAPE, OTHERS = 0, 1, 2, 3, 4
"""Numbers of candidates, SHAPE the only one of a job with a shape; from OTHERS on a node, and beyond all nodes a rack,
twice.
"""
BY_GPUS, BY_CORES, ORDERS = 0, 1, 2
"""How a rack is filled: nodes with the most free GPUs first, or among those with room for the rest, and those equally
free, the one with the most idle cores.
"""


@core
def _add(S: State, many: Int, candidate: Int) -> Int:
    memory(S).candidates[many] = candidate
    return many + 1


@core
def _is_like_another(S: State, a: Int, n: Int) -> bool:
    """Whether node `n` is idle, and so is a node of its kind of lower index."""
    if not is_idle(S, n):
        return False
    for m in range(n):
        if S.nodes[m].kind == S.nodes[n].kind and is_idle(S, np.int64(m)) and free_on(S, a, np.int64(m)) > 0:
            return True
    return False


@core
def _add_nodes(S: State, a: Int, need: Int) -> Int:
    """Each node with room, the fullest first, then by index, but for two."""
    many = np.int64(0)
    for free in range(need, S.alts[a].gpus + 1):
        for n in range(S.nodes.shape[0]):
            node = np.int64(n)
            if many < MOST_CANDIDATES - 2 and free_on(S, a, node) == free and not _is_like_another(S, a, node):
                many = _add(S, many, OTHERS + node)
    return many


@core
def _next_rack(S: State, a: Int, need: Int, last: Int) -> Int:
    """Return the next rack with room after rack `last` (-1: none was), by free GPUs, then by index; -1 if none is."""
    least = free_in(S, S.alts[a], last) if last >= 0 else need
    best = np.int64(-1)
    fewest = np.int64(LARGEST)
    for r in range(S.racks.shape[0]):
        free = free_in(S, S.alts[a], np.int64(r))
        if (free > least or (free == least and r > last)) and free < fewest:
            best = np.int64(r)
            fewest = free
    return best


@core
def _add_racks(S: State, a: Int, need: Int) -> Int:
    """`packed`, and each rack with room in each order, but for two."""
    many = _add(S, np.int64(0), np.int64(PACKED))
    r = _next_rack(S, a, need, np.int64(-1))
    while r >= 0 and many + ORDERS <= MOST_CANDIDATES - 2:
        for order in range(ORDERS):
            many = _add(S, many, OTHERS + np.int64(S.nodes.shape[0]) + r * ORDERS + order)
        r = _next_rack(S, a, need, r)
    return many


@cold
def list_candidates(S: State, j: Int, a: Int) -> Int:
    """List the candidate placements of waiting job `j`, which fits alternative `a`; how many."""
    need = S.classes[S.jobs[j].cls].gpus
    if S.classes[S.jobs[j].cls].per_node > 0:
        return _add(S, np.int64(0), np.int64(SHAPE))
    many = _add_nodes(S, a, need) if some_node_with(S, S.alts[a], need) else _add_racks(S, a, need)
    if need > 1 or many == MOST_CANDIDATES - 2:  # else both are in the list
        many = _add(S, _add(S, many, np.int64(LB)), np.int64(LIF))
    return many


@core
def _note_node(S: State, n: Int, need: Int) -> None:
    P = S.place[0]
    P.node = n
    P.mask = gpus_of(S, n, need)
    P.gpus = need
    S.g[0].placed = 1


@core
def _note_rack(S: State, j: Int, a: Int, r: Int, order: Int) -> None:
    for n in range(S.nodes.shape[0]):
        idle = free_core_share(S, j, np.int64(n), np.int64(0)) if order == BY_CORES else 0.0
        set_score(S, np.int64(n), -idle)
    fill_rack(S, a, r, S.classes[S.jobs[j].cls].gpus)


@cold
def note_candidate(S: State, j: Int, a: Int, i: Int) -> None:
    """Note candidate `i` of job `j`, as listed, in State.place."""
    candidate = memory(S).candidates[i]
    need = S.classes[S.jobs[j].cls].gpus
    beyond = candidate - OTHERS - S.nodes.shape[0]
    if candidate == PACKED:
        clear_scores(S)
        if not note_compact(S, a, need):
            note_packed(S, a, need)
    elif candidate == SHAPE:
        note_place(S, S.jobs[j].cls)
    elif candidate == LB:
        note_one_by_one(S, j, a, GPUS)
    elif candidate == LIF:
        note_least_interference(S, j, a)
    elif beyond < 0:
        _note_node(S, candidate - OTHERS, need)
    else:
        _note_rack(S, j, a, beyond // ORDERS, beyond % ORDERS)
