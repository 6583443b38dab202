"""Which running jobs must make room for a waiting one, worst first: found by counting GPUs on nodes, without the index
of free GPUs.

Running jobs stand in one index ordered from best to worst.
"""

import numpy as np

from pointsman.engine.actions.answers import may_preempt
from pointsman.engine.actions.eviction_cache import is_worse, remember_failure
from pointsman.engine.actions.promised import tentatively_free
from pointsman.engine.index.free_gpus import give, take
from pointsman.engine.index.treap import put_in_order
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.placement.eligible import admits, free_gpus, nodes_with, whole_nodes
from pointsman.engine.placement.few_racks import nodes_in, rack_with
from pointsman.engine.placement.placing import fits
from pointsman.engine.placement.tightest import RACK, free_in, rack_for, takes_any
from pointsman.engine.state.codes import SPREAD
from pointsman.engine.state.records import VICTIMS, Int, State
from pointsman.engine.state.state_pointer import open_state


@core
def release_tentatively(S: State, j: Int) -> None:
    """The GPUs of job `j` count as free."""
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        give(S, P.node, P.mask, P.gpus)
        i = P.next


@core
def take_back(S: State, j: Int) -> None:
    """The GPUs of job `j`, released on paper, are its own again."""
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        take(S, P.node, P.mask, P.gpus)
        i = P.next


@cold
def _find_one_by_one(address: Int, j: Int, bar: float, running: Int) -> Int:
    """As `find_worse`, by releasing them on paper."""
    S = open_state(address)
    n = np.int64(0)
    found = False
    v = S.buckets[running].last
    while v >= 0 and not found and is_worse(S, v, j, bar):
        if may_preempt(S, v):
            release_tentatively(S, v)
            S.lists[VICTIMS, n] = v
            n += 1
            found = fits(S, S.jobs[j].cls)
        v = S.jobs[v].earlier
    for i in range(n):
        take_back(S, S.lists[VICTIMS, i])
    return n if found else np.int64(-1)


@core
def _nodes_needed(C: np.void, size: Int) -> tuple[Int, Int, Int]:
    """What class `C` needs where the largest node has `size` GPUs: whole nodes; the GPUs of a further one, or of each
    node of its shape; and how many nodes must have these, whole ones included.
    """
    if C.per_node > 0:
        return np.int64(0), C.per_node, C.nodes
    whole = C.gpus // size if C.gpus > size else np.int64(0)
    rest = C.gpus - whole * size
    return whole, rest, whole + np.int64(1) if rest > 0 else np.int64(0)


@core
def _count_victims(S: State, j: Int, bar: float, running: Int) -> Int:
    """Which jobs `find_worse` finds, in State.lists[VICTIMS]: found by counting GPUs on nodes, without the
    index.

    A gang within a node needs one node with room: it comes with the last victim, and only victims on nodes of that
    one matter.
    """
    C = S.classes[S.jobs[j].cls]
    A = S.alts[C.alt]
    whole, rest, with_rest = _nodes_needed(C, A.gpus)
    have_whole = whole_nodes(S, A)
    have_rest = nodes_with(S, A, rest) if rest > 0 else np.int64(0)
    n = np.int64(0)
    v = S.buckets[running].last
    while v >= 0 and is_worse(S, v, j, bar):
        if may_preempt(S, v):
            S.lists[VICTIMS, n] = v
            n += 1
            i = S.jobs[v].part
            while i >= 0:
                P = S.parts[i]
                N = S.nodes[P.node]
                if N.state == 0 and admits(S, A, N.pool):
                    before = tentatively_free(S, P.node)
                    N.tally = before + P.gpus
                    have_whole += N.tally == A.gpus
                    have_rest += before < rest and N.tally >= rest
                i = P.next
            if have_whole >= whole and have_rest >= with_rest:
                return _only_beside(S, n) if whole == 0 and with_rest == 1 else n
        v = S.jobs[v].earlier
    remember_failure(S, j, with_rest - have_rest if C.per_node > 0 else whole - have_whole)
    return np.int64(-1)


@core
def _only_beside(S: State, n: Int) -> Int:
    """Keep of n victims those that share a node with the last; the others would be spared."""
    S.g[0].attempt += 1
    i = S.jobs[S.lists[VICTIMS, n - 1]].part
    while i >= 0:
        S.nodes[S.parts[i].node].tally_attempt = S.g[0].attempt
        i = S.parts[i].next
    kept = np.int64(0)
    for k in range(n):
        v = S.lists[VICTIMS, k]
        i = S.jobs[v].part
        while i >= 0 and S.nodes[S.parts[i].node].tally_attempt != S.g[0].attempt:
            i = S.parts[i].next
        if i >= 0:
            S.lists[VICTIMS, kept] = v
            kept += 1
    return kept


@core
def _free_anywhere(S: State, A: np.void, per_node: Int) -> Int:
    """Free GPUs, or nodes with `per_node` of them."""
    return nodes_with(S, A, per_node) if per_node > 0 else free_gpus(S, A)


@core
def _free_in_rack(S: State, A: np.void, rack: Int, per_node: Int) -> Int:
    """Free GPUs in `rack`, or nodes there with `per_node` of them."""
    return nodes_in(S, A, rack, per_node) if per_node > 0 else free_in(S, A, rack)


@core
def _best_rack(S: State, A: np.void, wanted: Int, per_node: Int) -> Int:
    """The rack that suits a wish for `wanted` of them best."""
    return rack_with(S, A, wanted, per_node) if per_node > 0 else rack_for(S, A, wanted)


@core
def _gain(S: State, P: np.void, per_node: Int) -> Int:
    """GPUs that come free with part `P` of a victim, or nodes that come to have `per_node` of them."""
    if per_node == 0:
        return P.gpus
    before = tentatively_free(S, P.node)
    S.nodes[P.node].tally = before + P.gpus
    return np.int64(before < per_node and before + P.gpus >= per_node)


@core
def _count_scattered(S: State, j: Int, bar: float, running: Int) -> Int:
    """As `_count_victims`, for a gang that takes any GPUs, or any nodes for its shape, of one rack or of all."""
    C = S.classes[S.jobs[j].cls]
    A = S.alts[C.alt]
    one_rack = S.g[0].within == RACK
    wanted = C.nodes if C.per_node > 0 else C.gpus
    have = _free_anywhere(S, A, C.per_node)
    if one_rack and have > 0:
        have = _free_in_rack(S, A, _best_rack(S, A, wanted, C.per_node), C.per_node)
    most = have
    n = np.int64(0)
    v = S.buckets[running].last
    while v >= 0 and is_worse(S, v, j, bar):
        if may_preempt(S, v):
            S.lists[VICTIMS, n] = v
            n += 1
            i = S.jobs[v].part
            while i >= 0:
                P = S.parts[i]
                N = S.nodes[P.node]
                if N.state == 0 and admits(S, A, N.pool):
                    more = _gain(S, P, C.per_node)
                    have = _tally_in_rack(S, A, N.rack, C.per_node, more) if one_rack else have + more
                    most = max(most, have)
                i = P.next
            if most >= wanted:
                return n
        v = S.jobs[v].earlier
    remember_failure(S, j, wanted - most)
    return np.int64(-1)


@core
def _tally_in_rack(S: State, A: np.void, rack: Int, per_node: Int, more: Int) -> Int:
    """What of `rack` is free or was counted as released in this attempt, with so much more."""
    R = S.racks[rack]
    if R.tally_attempt != S.g[0].attempt:
        R.tally_attempt = S.g[0].attempt
        R.tally = _free_in_rack(S, A, rack, per_node)
    R.tally += more
    return R.tally


@cold
def find_worse(S: State, j: Int, bar: float, running: Int) -> Int:
    """Which strictly worse jobs must be released, worst first, until job `j` fits: how many, in State.lists; -1 if it
    never fits. What counts as free on nodes besides is counted in State.g.attempt.
    """
    put_in_order(S, running)
    C = S.classes[S.jobs[j].cls]
    if C.alt_end > C.alt + 1 or S.g[0].placement == SPREAD:
        return _find_one_by_one(S.g[0].address, j, bar, running)
    return _count_scattered(S, j, bar, running) if takes_any(S) else _count_victims(S, j, bar, running)
