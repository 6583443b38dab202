"""Nodes filled one after another, so that a gang is on few of them: what `packed` and the candidates have in common.

Each node has a score, the less the better, which decides between nodes with room, and between nodes equally free.
"""

import numpy as np

from pointsman.policies.parts.gpu_marks import clear, first_of, free_on, is_marked, mark
from pointsman.policies.placers.declared import Scored
from pointsman.policies.placers.sockets import note_marked
from pointsman.policies.sdk import LARGEST, Int, State, cold, core, free_in, some_node_with, view_of

gpu = view_of(Scored)


@core
def set_score(S: State, n: Int, score: float) -> None:
    """Node `n` has this score, which is noted at its first GPU."""
    gpu(S, S.nodes[n].gpu0).score = score


@core
def score_of(S: State, n: Int) -> float:
    """The score of node `n`."""
    return gpu(S, S.nodes[n].gpu0).score


@core
def clear_scores(S: State) -> None:
    """All nodes are equally good."""
    for n in range(S.nodes.shape[0]):
        set_score(S, np.int64(n), 0.0)


@core
def _goes_before(S: State, a: Int, n: Int, m: Int, need: Int) -> bool:
    """Return whether node `n` suits a gang that needs `need` more GPUs better than node `m`.

    First come nodes with enough free GPUs, by the least score, then by the fewest free GPUs. Then come the others, by
    the most free GPUs, then by the least score.
    """
    here, there = free_on(S, a, n), free_on(S, a, m)
    if (here >= need) != (there >= need):
        return bool(here >= need)
    better = bool(score_of(S, n) < score_of(S, m))
    if here >= need:
        return better or bool(score_of(S, n) == score_of(S, m) and here < there)
    return bool(here > there) or (bool(here == there) and better)


@core
def _next_node(S: State, a: Int, first: Int, last: Int, need: Int) -> Int:
    """Return the best node from `first` to before `last` with free GPUs and none marked; the lowest of equals."""
    best = np.int64(-1)
    for n in range(first, last):
        node = np.int64(n)
        if not is_marked(S, node) and free_on(S, a, node) > 0 and (best < 0 or _goes_before(S, a, node, best, need)):
            best = node
    return best


@core
def fill(S: State, a: Int, first: Int, last: Int, need: Int) -> None:
    """Note in State.place `need` GPUs of nodes from `first` to before `last`, which have them free."""
    clear(S)
    while need > 0:
        n = _next_node(S, a, first, last, need)
        k = min(need, free_on(S, a, n))
        mark(S, n, k)
        need -= k
    note_marked(S)


@core
def fill_rack(S: State, a: Int, r: Int, need: Int) -> None:
    """Note in State.place `need` GPUs of the nodes of rack `r`, which has them free."""
    first = first_of(S, r)
    fill(S, a, first, first + S.racks[r].nodes, need)


@core
def is_compact(S: State, a: Int, gpus: Int) -> bool:
    """Return whether the place noted is on as few nodes as can hold `gpus` GPUs, and in one rack if a rack can."""
    A = S.alts[a]
    if S.g[0].placed > (gpus + A.gpus - 1) // A.gpus:
        return False
    rack = S.nodes[S.place[0].node].rack
    for i in range(S.g[0].placed):
        if S.nodes[S.place[i].node].rack != rack:
            return bool(gpus > A.rack_gpus)
    return True


@core
def _is_compact_in(S: State, a: Int, r: Int, need: Int) -> bool:
    """Whether rack `r`, filled, is a compact place."""
    fill_rack(S, a, r, need)
    return is_compact(S, a, need)


@core
def _fullest_rack(S: State, a: Int, need: Int, compactly: bool) -> Int:
    """Return the rack with the fewest free GPUs, but at least `need`: the lowest of equals, -1 if none.

    With `compactly`, only racks count that have these on as few nodes as can hold them.
    """
    best = np.int64(-1)
    least = np.int64(LARGEST)
    for r in range(S.racks.shape[0]):
        free = free_in(S, S.alts[a], np.int64(r))
        if need <= free < least and (not compactly or _is_compact_in(S, a, np.int64(r), need)):
            best = np.int64(r)
            least = free
    return best


@cold
def note_packed(S: State, a: Int, need: Int) -> None:
    """Note in State.place the best node with room; else the nodes of the fullest rack that fills best; else those of
    the cluster.
    """
    r = np.int64(-1) if some_node_with(S, S.alts[a], need) else _fullest_rack(S, a, need, False)
    if r >= 0:
        fill_rack(S, a, r, need)
    else:
        fill(S, a, np.int64(0), np.int64(S.nodes.shape[0]), need)


@cold
def note_compact(S: State, a: Int, need: Int) -> bool:
    """Note in State.place the best node with room, else the nodes of the fullest rack with a compact place, else, of a
    gang wider than any rack, those of the cluster. False if there is no compact place.
    """
    A = S.alts[a]
    if need > A.gpus and need <= A.rack_gpus:
        r = _fullest_rack(S, a, need, True)
        if r >= 0:
            fill_rack(S, a, r, need)
        return bool(r >= 0)
    if need <= A.gpus and not some_node_with(S, A, need):
        return False
    fill(S, a, np.int64(0), np.int64(S.nodes.shape[0]), need)
    return is_compact(S, a, need)
