"""The free GPUs closest to each other: those whose tree costs a gang's communication least
(``docs/papers/topdrl.md`` §6, generalised; ``docs/reference/semantics.md`` §12).

What a place costs depends only on how many racks and nodes it is on, so GPUs are not tried one by one. On one rack the
fullest nodes are the fewest. Where that may not be the cheapest the fullest nodes anywhere are compared with it, and
the first GPUs available, than which the choice is never dearer.
"""

import numpy as np

from pointsman.policies.parts.gpu_marks import (
    add_node,
    clear,
    cost_of_marked,
    first_of,
    free_on,
    is_marked,
    mark,
    mark_in_order,
    note_marked,
)
from pointsman.policies.sdk import LARGEST, Int, State, best_fit, core, free_in, lowest_bits, some_node_with

BY_RACK, BY_NODE, IN_ORDER = 0, 1, 2
"""How nodes may be found: on as few racks as there need be; few, wherever they are; the first."""


@core
def _in_use(S: State, r: Int) -> bool:
    """Whether rack `r` gives GPUs already."""
    return bool(S.racks[r].tally_attempt == S.g[0].attempt)


@core
def _rank(S: State, a: Int, n: Int, need: Int) -> Int:
    """Return the rank of node `n` for a gang that still needs `need` GPUs; the lowest rank is the best.

    First come nodes with enough free GPUs: those on a rack in use, then the fewest free. Then come the others: the most
    free, then those on a rack in use.
    """
    free = free_on(S, a, n)
    elsewhere = np.int64(0) if _in_use(S, S.nodes[n].rack) else np.int64(1)
    return 64 * elsewhere + free if free >= need else 256 - 2 * free + elsewhere


@core
def _mark_fewest(S: State, a: Int, first: Int, last: Int, need: Int) -> tuple[Int, Int]:
    """The fewest nodes from `first` to before `last` give `need` GPUs, or all they have: how many nodes, and how many
    GPUs the last has left.
    """
    nodes = left = np.int64(0)
    while need > 0:
        best = np.int64(-1)
        least = np.int64(256)
        for n in range(first, last):
            if not is_marked(S, np.int64(n)):
                rank = _rank(S, a, np.int64(n), need)
                if rank < least:
                    best = np.int64(n)
                    least = rank
        if best < 0:
            break
        k = min(need, free_on(S, a, best))
        left = free_on(S, a, best) - k
        need -= k
        nodes += 1
        mark(S, best, k)
        S.racks[S.nodes[best].rack].tally_attempt = S.g[0].attempt
    return nodes, left


@core
def _unmark(S: State, first: Int, last: Int) -> None:
    for n in range(first, last):
        mark(S, np.int64(n), np.int64(0))


@core
def _best_rack(S: State, a: Int, need: Int) -> Int:
    """Return the best rack not yet in use, the lowest index among equals; -1 if none has a free GPU.

    A rack with `need` free GPUs is best: the one that has them on the fewest nodes, then with the fewest left on the
    last of these, then with the fewest free. If none has, it is the rack with the most free GPUs.
    """
    best = np.int64(-1)
    least = np.int64(LARGEST)
    for r in range(S.racks.shape[0]):
        free = free_in(S, S.alts[a], np.int64(r))
        if free == 0 or _in_use(S, np.int64(r)):
            continue
        rank = (np.int64(1) << 40) - free
        if free >= need:
            first = first_of(S, np.int64(r))
            nodes, left = _mark_fewest(S, a, first, first + S.racks[r].nodes, need)
            _unmark(S, first, first + S.racks[r].nodes)
            S.racks[r].tally_attempt = -1
            rank = ((nodes << 6) + left << 20) + free - (np.int64(1) << 60)
        if rank < least:
            best = np.int64(r)
            least = rank
    return best


@core
def _mark_by_rack(S: State, a: Int, need: Int) -> None:
    """As few racks as there need be give `need` GPUs, the fullest first, the last as few nodes as it can."""
    while need > 0:
        r = _best_rack(S, a, need)
        first = first_of(S, r)
        _mark_fewest(S, a, first, first + S.racks[r].nodes, need)
        need -= min(need, free_in(S, S.alts[a], r))


@core
def _mark(S: State, a: Int, need: Int, plan: Int) -> float:
    """`need` GPUs are marked by this plan; what they cost."""
    S.g[0].attempt += 1
    clear(S)
    last = np.int64(S.nodes.shape[0])
    if plan == BY_RACK:
        _mark_by_rack(S, a, need)
    elif plan == BY_NODE:
        _mark_fewest(S, a, np.int64(0), last, need)
    else:
        mark_in_order(S, a, np.int64(0), last, need)
    return cost_of_marked(S)


@core
def note_nearest(S: State, a: Int, gpus: Int) -> None:
    """Note the free GPUs closest to each other, of those of alternative `a`, which are enough, in State.place."""
    A = S.alts[a]
    if some_node_with(S, A, gpus):
        n = best_fit(S, A, gpus)
        S.g[0].placed = 0
        add_node(S, n, lowest_bits(S.nodes[n].free_mask, gpus), gpus)
        return
    plan = np.int64(BY_RACK)
    least = _mark(S, a, gpus, plan)
    nodes = max(np.int64(2), (gpus + A.gpus - 1) // A.gpus)  # it is on at least
    if least > S.g[0].rack_cost + nodes * S.g[0].node_cost:
        for other in range(BY_NODE, IN_ORDER + 1):
            cost = _mark(S, a, gpus, np.int64(other))
            if cost < least:
                plan = np.int64(other)
                least = cost
        if plan != IN_ORDER:
            _mark(S, a, gpus, plan)
    note_marked(S)
