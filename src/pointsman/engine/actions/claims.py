"""Claims (``docs/reference/semantics.md`` §7, Eviction): a waiting job has been promised a place, some of whose GPUs
are held by jobs that are stopping.

State.claims has the parts of all claims, one claim after another; `PART.next` is the job. A claimant is in no index of
waiting jobs while it is not TRIED, but keeps its key and its timers. What is free of its place is not in the index of
free GPUs.
"""

import numpy as np

from pointsman.engine.actions.eviction_cache import note_change
from pointsman.engine.index.bits import count
from pointsman.engine.index.free_gpus import give
from pointsman.engine.index.queues import dequeue, enqueue
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.placement.placing import fits
from pointsman.engine.state.records import CLAIMING, TRIED, Int, State
from pointsman.engine.state.state_pointer import open_state
from pointsman.types import Locality

CLUSTER = int(Locality.CLUSTER)
CLAIMED, UNCLAIMED = 1, 2
"""Kinds of GPUs that came free."""


@core
def place_is_occupied(S: State) -> bool:
    """Whether some job still holds a GPU in State.place."""
    for i in range(S.g[0].placed):
        if S.nodes[S.place[i].node].held & S.place[i].mask != 0:
            return True
    return False


@core
def _count_claimed(S: State, P: np.void, sign: Int) -> None:
    """The GPUs of part `P` count as claimed, or with `sign` -1 no more."""
    held = count(P.mask & S.nodes[P.node].held)
    S.g[0].unclaimed -= sign * held
    S.g[0].idle_claimed += sign * (P.gpus - held)


@core
def claim_place(S: State, j: Int) -> None:
    """Job `j` claims the GPUs in State.place, which are not in the index of free GPUs."""
    g = S.g[0]
    dequeue(S, j)
    S.jobs[j].claims = CLAIMING
    S.queues[S.jobs[j].queue].held += S.jobs[j].asked
    for i in range(g.placed):
        P = S.place[i]
        S.nodes[P.node].claimed |= P.mask
        _count_claimed(S, P, np.int64(1))
        C = S.claims[g.claims]
        C.node = P.node
        C.mask = P.mask
        C.gpus = P.gpus
        C.next = j
        g.claims += 1
    g.placed = 0


@core
def _end_of(S: State, first: Int) -> Int:
    """Where the parts of the claim end that begin at `first`."""
    end = first
    while end < S.g[0].claims and S.claims[end].next == S.claims[first].next:
        end += 1
    return end


@core
def _forget(S: State, first: Int, end: Int) -> None:
    """These parts are no more."""
    for i in range(end, S.g[0].claims):
        to = first + i - end
        S.claims[to].node = S.claims[i].node
        S.claims[to].mask = S.claims[i].mask
        S.claims[to].gpus = S.claims[i].gpus
        S.claims[to].next = S.claims[i].next
    S.g[0].claims -= end - first


@core
def _end_claim(S: State, first: Int, end: Int) -> None:
    """The claim with these parts ends: its job waits as before."""
    j = S.claims[first].next
    for i in range(first, end):
        C = S.claims[i]
        S.nodes[C.node].claimed &= ~C.mask
        _count_claimed(S, C, np.int64(-1))
    S.g[0].came_free |= UNCLAIMED
    _forget(S, first, end)
    S.queues[S.jobs[j].queue].held -= S.jobs[j].asked
    tried = S.jobs[j].claims == TRIED
    S.jobs[j].claims = 0
    if not tried:
        enqueue(S, j, S.jobs[j].key, S.jobs[j].aux)


@core
def _give_back(S: State, first: Int, end: Int) -> None:
    """The claim with these parts ends, and what no job holds of its place is free."""
    for i in range(first, end):
        C = S.claims[i]
        free = C.mask & ~S.nodes[C.node].held
        if free != 0:
            give(S, C.node, free, count(free))
        note_change(S, C.node, C.mask, np.int64(-1))
    _end_claim(S, first, end)


@core
def _is_free(S: State, first: Int, end: Int) -> bool:
    """Whether no job holds any GPU of these parts."""
    for i in range(first, end):
        if S.nodes[S.claims[i].node].held & S.claims[i].mask != 0:
            return False
    return True


@core
def _end_free_claims(S: State) -> None:
    """Claims on GPUs that are all free end, and their jobs can start there in turn."""
    first = 0
    while first < S.g[0].claims:
        end = _end_of(S, first)
        if _is_free(S, first, end):
            _give_back(S, first, end)
        else:
            first = end


@core
def _try_claimants(S: State) -> None:
    """Jobs with a claim that have a place on GPUs that are free now are tried in turn."""
    within = S.g[0].within
    S.g[0].within = CLUSTER
    first = 0
    fitting = np.int64(-1)
    while first < S.g[0].claims:
        j = S.claims[first].next
        J = S.jobs[j]
        if J.claims == CLAIMING and J.asked <= S.g[0].free and (J.cls == fitting or fits(S, J.cls)):
            fitting = J.cls
            J.claims = TRIED
            enqueue(S, j, J.key, J.aux)
        first = _end_of(S, first)
    S.g[0].within = within


@core
def try_for_more(S: State, j: Int) -> None:
    """Job `j` is about to queue for places that it has not taken so far: if it has a claim, and there is a place on
    GPUs that are free now, it is tried.
    """
    J = S.jobs[j]
    within = S.g[0].within
    S.g[0].within = CLUSTER
    if J.claims == CLAIMING and J.asked <= S.g[0].free and fits(S, J.cls):
        J.claims = TRIED
    S.g[0].within = within


@cold
def review_claims(address: Int) -> None:
    """A cycle begins, and GPUs came free since the last one."""
    S = open_state(address)
    if S.g[0].came_free & CLAIMED != 0:
        _end_free_claims(S)
    if S.g[0].came_free & UNCLAIMED != 0:
        _try_claimants(S)
    S.g[0].came_free = 0


@core
def keep_claim(S: State, j: Int) -> None:
    """Job `j`, which was tried, goes on waiting for what it claims."""
    dequeue(S, j)
    S.jobs[j].claims = CLAIMING


@cold
def end_claim_of(address: Int, j: Int) -> None:
    """The claim of job `j` ends."""
    S = open_state(address)
    first = 0
    while S.claims[first].next != j:
        first += 1
    _give_back(S, first, _end_of(S, first))


@core
def end_claims_on(S: State, n: Int) -> None:
    """Claims on GPUs of node `n` end."""
    i = 0
    while S.nodes[n].claimed != 0:
        if S.claims[i].node == n:
            end_claim_of(S.g[0].address, S.claims[i].next)
            i = 0
        else:
            i += 1


@core
def end_all_claims(S: State) -> None:
    """No job claims anything any more."""
    while S.g[0].claims > 0:
        _give_back(S, 0, _end_of(S, 0))


@core
def _in_place(S: State, n: Int) -> Int:
    """The GPUs of node `n` in State.place."""
    mask = np.int64(0)
    for k in range(S.g[0].placed):
        if S.place[k].node == n:
            mask |= S.place[k].mask
    return mask


@core
def end_claim_taken_from(S: State, n: Int, mask: Int) -> None:
    """The claim ends that has some of these GPUs of node `n`, in State.place now; what no job holds of the others is
    free.
    """
    first = 0
    while S.claims[first].node != n or S.claims[first].mask & mask == 0:
        first += 1
    while first > 0 and S.claims[first - 1].next == S.claims[first].next:
        first -= 1
    end = _end_of(S, first)
    for i in range(first, end):
        C = S.claims[i]
        left = C.mask & ~_in_place(S, C.node)
        free = left & ~(S.nodes[C.node].held | S.nodes[C.node].free_mask)
        if free != 0:
            give(S, C.node, free, count(free))
        note_change(S, C.node, left, np.int64(-1))
    _end_claim(S, first, end)
