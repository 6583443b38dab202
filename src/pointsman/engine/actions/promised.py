"""What counts as free for an eviction though it is not (``docs/reference/semantics.md`` §7, Eviction), step by step:
what no job holds of the claims of later jobs, what stopping jobs hold that no job claims, and the rest of these claims.

A gang that must have all its GPUs on one node is found the node by counting, and only on that one they are released in
the index of free GPUs; for others all of them are. There, GPUs that are claimed or held are free on paper only, and so
are easily found again.
"""

import numpy as np

from pointsman.engine.actions.claims import end_claim_taken_from
from pointsman.engine.actions.eviction_cache import claimed_later, comes_after
from pointsman.engine.index.bits import count
from pointsman.engine.index.free_gpus import give, take
from pointsman.engine.index.queues import stopping_index
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.placement.eligible import admits
from pointsman.engine.placement.placing import fits
from pointsman.engine.placement.tightest import takes_any
from pointsman.engine.state.codes import FIRST_FIT, SPREAD
from pointsman.engine.state.records import VICTIMS, Int, State
from pointsman.engine.state.state_pointer import open_state

IDLE, STOPS, ALL, TOO_LITTLE = 0, 1, 2, 3
"""The steps, and that they are not enough."""


@core
def of_one_node(S: State, j: Int) -> Int:
    """How many GPUs job `j` must have on one node, if it fits wherever as many are free; else 0."""
    C = S.classes[S.jobs[j].cls]
    if C.alt_end > C.alt + 1 or S.g[0].placement == SPREAD or S.g[0].jobs_per_gpu > 1 or takes_any(S):
        return np.int64(0)
    if C.per_node > 0:
        return C.per_node if C.nodes == 1 else np.int64(0)
    return C.gpus if C.gpus <= S.alts[C.alt].gpus else np.int64(0)


@core
def tentatively_free(S: State, n: Int) -> Int:
    """GPUs of node `n` that are free, or were counted as released in this attempt."""
    N = S.nodes[n]
    if N.tally_attempt != S.g[0].attempt:
        N.tally_attempt = S.g[0].attempt
        N.tally = N.free
    return N.tally


@core
def _count(S: State, A: np.void, n: Int, gpus: Int) -> Int:
    """Count `gpus` more GPUs of node `n`, if it is eligible, and note it in State.place: how many it has now."""
    N = S.nodes[n]
    if N.state != 0 or not admits(S, A, N.pool):
        return np.int64(0)
    if N.tally_attempt != S.g[0].attempt:
        S.place[S.g[0].placed].node = n
        S.g[0].placed += 1
    N.tally = tentatively_free(S, n) + gpus
    return N.tally


@core
def _count_claims(S: State, A: np.void, j: Int, held: bool) -> Int:
    """Count what later jobs claim, either what other jobs hold of it or the rest: the most GPUs of a node."""
    most = np.int64(0)
    for i in range(S.g[0].claims):
        C = S.claims[i]
        mask = C.mask & S.nodes[C.node].held
        if not held:
            mask ^= C.mask
        if mask != 0 and comes_after(S, C.next, j):
            most = max(most, _count(S, A, C.node, count(mask)))
    return most


@core
def _count_stopping(S: State, A: np.void) -> Int:
    """Count what stopping jobs hold that no job claims: the most GPUs of a node."""
    most = np.int64(0)
    v = S.buckets[stopping_index(S)].first
    while v >= 0:
        i = S.jobs[v].part
        while i >= 0:
            P = S.parts[i]
            mask = P.mask & ~S.nodes[P.node].claimed
            if mask != 0:
                most = max(most, _count(S, A, P.node, count(mask)))
            i = P.next
        v = S.jobs[v].later
    return most


@core
def step_on_a_node(S: State, j: Int, k: Int) -> Int:
    """With which step a node has k GPUs for job `j`."""
    A = S.alts[S.classes[S.jobs[j].cls].alt]
    S.g[0].attempt += 1
    S.g[0].placed = 0
    if S.g[0].idle_claimed > 0 and _count_claims(S, A, j, False) >= k:
        return IDLE
    if S.g[0].unclaimed > 0 and _count_stopping(S, A) >= k:
        return STOPS
    return ALL if _count_claims(S, A, j, True) >= k else TOO_LITTLE


@core
def _goes_before(S: State, a: Int, b: Int) -> bool:
    """Whether gangs that fit on both go to node `a` rather than to node `b`."""
    if S.g[0].placement == FIRST_FIT or S.nodes[a].tally == S.nodes[b].tally:
        return a < b
    return S.nodes[a].tally < S.nodes[b].tally


@core
def _best_node(S: State, k: Int) -> Int:
    """The node in State.place to which a gang of k GPUs goes."""
    best = np.int64(-1)
    for i in range(S.g[0].placed):
        n = S.place[i].node
        if S.nodes[n].tally >= k and (best < 0 or _goes_before(S, n, best)):
            best = n
    return best


@core
def _release_on(S: State, n: Int, j: Int, step: Int) -> None:
    """Release on node `n` what counts as free for job `j` with `step`."""
    N = S.nodes[n]
    later = claimed_later(S, n, j) if N.claimed != 0 else np.int64(0)
    mask = later if step >= ALL else later & ~N.held
    if step >= STOPS:
        mask |= N.stopping & ~N.claimed
    if mask != 0:
        give(S, n, mask, count(mask))


@core
def release_on_nodes(S: State, j: Int, k: Int, step: Int, victims: Int) -> None:
    """Release it where `place` will look: on the node found for k GPUs, or on those of the last victim."""
    if victims == 0:
        _release_on(S, _best_node(S, k), j, step)
        return
    i = S.jobs[S.lists[VICTIMS, victims - 1]].part
    while i >= 0:
        _release_on(S, S.parts[i].node, j, step)
        i = S.parts[i].next


@core
def _release_later_claims(S: State, j: Int, held: bool) -> None:
    """What later jobs claim counts as free: without `held`, only what no job holds of it."""
    for i in range(S.g[0].claims):
        C = S.claims[i]
        mask = C.mask & ~S.nodes[C.node].free_mask
        if not held:
            mask &= ~S.nodes[C.node].held
        if mask != 0 and comes_after(S, C.next, j):
            give(S, C.node, mask, count(mask))


@core
def _release_stopping(S: State) -> None:
    """The GPUs of stopping jobs that no job claims count as free."""
    v = S.buckets[stopping_index(S)].first
    while v >= 0:
        i = S.jobs[v].part
        while i >= 0:
            P = S.parts[i]
            mask = P.mask & ~S.nodes[P.node].claimed
            if mask != 0:
                give(S, P.node, mask, count(mask))
            i = P.next
        v = S.jobs[v].later


@cold
def release_all(address: Int, j: Int) -> Int:
    """Release step after step, until job `j` fits: with which it does."""
    S = open_state(address)
    c = S.jobs[j].cls
    S.g[0].attempt += 1
    if S.g[0].idle_claimed > 0:
        _release_later_claims(S, j, False)
        if fits(S, c):
            return IDLE
    if S.g[0].unclaimed > 0:
        _release_stopping(S)
        if fits(S, c):
            return STOPS
    _release_later_claims(S, j, True)
    return ALL if fits(S, c) else TOO_LITTLE


@core
def _take_back_on(S: State, n: Int) -> None:
    """What is free of node `n` on paper only is free no more."""
    N = S.nodes[n]
    mask = N.free_mask & (N.held | N.claimed)
    if mask != 0:
        take(S, n, mask, count(mask))


@core
def _take_back_of(S: State, j: Int) -> None:
    """Take back what was released on the nodes of job `j`."""
    i = S.jobs[j].part
    while i >= 0:
        _take_back_on(S, S.parts[i].node)
        i = S.parts[i].next


@core
def take_back_on_nodes(S: State, victims: Int) -> None:
    """Take back what `release_on_nodes` released, and the victims, but for what is in State.place."""
    for i in range(S.g[0].placed):
        _take_back_on(S, S.place[i].node)
    for i in range(victims):
        if S.lists[VICTIMS, i] >= 0:
            _take_back_of(S, S.lists[VICTIMS, i])


@cold
def take_back_all(address: Int) -> None:
    """What `release_all` released, and victims, who stop by now, but for what is in State.place."""
    S = open_state(address)
    for i in range(S.g[0].claims):
        _take_back_on(S, S.claims[i].node)
    v = S.buckets[stopping_index(S)].first
    while v >= 0:
        _take_back_of(S, v)
        v = S.jobs[v].later


@core
def end_claims_taken_from(S: State) -> None:
    """Claims end of which State.place has a GPU."""
    for k in range(S.g[0].placed):
        P = S.place[k]
        while P.mask & S.nodes[P.node].claimed != 0:
            end_claim_taken_from(S, P.node, P.mask)
