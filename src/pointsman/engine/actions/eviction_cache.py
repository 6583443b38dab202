"""Remembering failed evictions, so that in an overloaded cluster they are not tried again and again for naught.

While a waiting job waits, the GPUs that are free or held by strictly worse jobs only become fewer, except for those
that were freed, or whose jobs became worse (they sank a level) or stop. So a class whose eviction failed for some job
fails again for any job that is no better, unless there are enough of such GPUs, which State.freed lists.
"""

import numpy as np

from pointsman.engine.index.bits import count, lowest, without_lowest
from pointsman.engine.jit.compile import core
from pointsman.engine.placement.tightest import takes_any
from pointsman.engine.state.records import Int, State

FREED = 1024
"""How many changes are remembered."""


@core
def note_freed(S: State, n: Int, mask: Int, j: Int) -> None:
    """GPUs `mask` of node `n` were freed or are held by a job that stops, or running job `j` (else -1) on them became
    worse.
    """
    g = S.g[0]
    P = S.freed[g.freed & (FREED - 1)]
    P.node = n
    P.mask = mask
    P.next = j
    g.freed += 1


@core
def note_change(S: State, n: Int, mask: Int, j: Int) -> None:
    """As `note_freed`, of what running jobs may move to as well; they may even if no GPU is left to note."""
    if mask != 0:
        note_freed(S, n, mask, j)
    S.g[0].changes += 1


@core
def note_worse(S: State, j: Int) -> None:
    """Running job `j` became worse than it was, or can be evicted from now on."""
    i = S.jobs[j].part
    while i >= 0:
        note_change(S, S.parts[i].node, S.parts[i].mask, j)
        i = S.parts[i].next


@core
def forget_failures(S: State) -> None:
    """Anything may have become possible."""
    S.g[0].freed += FREED + 1
    S.g[0].changes += 1


@core
def remember_failure(S: State, j: Int, lacking: Int) -> None:
    """The eviction of job `j` failed for lack of `lacking` nodes, or GPUs where any will do (at least one)."""
    J = S.jobs[j]
    C = S.classes[J.cls]
    C.failed_at = S.g[0].freed
    C.failed_key = J.key
    C.failed_neg_priority = J.neg_priority
    C.failed_within = S.g[0].within
    C.lacking = lacking if lacking > 1 else 1
    C.lacks_whole = lacking > 0


@core
def comes_after(S: State, k: Int, j: Int) -> bool:
    """Whether waiting job `k` has a lower priority than waiting job `j`, or an equal one and a greater key."""
    K, J = S.jobs[k], S.jobs[j]
    return bool(K.neg_priority > J.neg_priority or (K.neg_priority == J.neg_priority and K.key > J.key))


@core
def claimed_later(S: State, n: Int, j: Int) -> Int:
    """The GPUs of node `n` that jobs claim which come after job `j`."""
    mask = 0
    for i in range(S.g[0].claims):
        if S.claims[i].node == n and comes_after(S, S.claims[i].next, j):
            mask |= S.claims[i].mask
    return mask


@core
def is_worse(S: State, v: Int, j: Int, bar: float) -> bool:
    """Whether running job `v` is strictly worse than waiting job `j`: lower priority, or its key above `bar`."""
    V = S.jobs[v]
    J = S.jobs[j]
    return V.neg_priority > J.neg_priority or (V.neg_priority == J.neg_priority and V.key > bar)


@core
def _held_by_worse(S: State, j: Int, n: Int, mask: Int, bar: float) -> Int:
    """How many of the GPUs `mask` of node `n`, all held, running jobs hold that are strictly worse than `j`."""
    gpus = np.int64(0)
    last = np.int64(-1)
    worse = False
    while mask != 0:
        v = S.occupants[S.nodes[n].gpu0 + lowest(mask), 0]
        mask = without_lowest(mask)
        if v != last:
            last = v
            worse = is_worse(S, v, j, bar)
        gpus += worse
    return gpus


@core
def _could_get(S: State, j: Int, n: Int, mask: Int, bar: float) -> Int:
    """How many of the GPUs `mask` of node `n` are free, held by jobs that stop, or by running ones strictly worse than
    `j`, and not claimed by a job before it.
    """
    N = S.nodes[n]
    open_to = mask & (N.free_mask | N.stopping) & ~N.claimed
    if N.claimed & mask != 0:
        open_to |= claimed_later(S, n, j) & mask
    return count(open_to) + _held_by_worse(S, j, n, mask & N.held & ~N.stopping, bar)


@core
def _is_new(S: State, n: Int) -> bool:
    """Whether node `n` has not been asked about in State.g.attempt."""
    N = S.nodes[n]
    new = N.tally_attempt != S.g[0].attempt
    N.tally_attempt = S.g[0].attempt
    return new


@core
def _found_since(S: State, j: Int, bar: float, enough: Int) -> Int:
    """How many nodes with `enough` GPUs that job `j` could get, or, if that is 0, how many such GPUs, there may be
    besides those there were when its class failed.
    """
    found = np.int64(0)
    S.g[0].attempt += 1
    for i in range(S.classes[S.jobs[j].cls].failed_at, S.g[0].freed):
        P = S.freed[i & (FREED - 1)]
        if P.next >= 0 and not is_worse(S, P.next, j, bar):
            continue
        if enough == 0:
            found += _could_get(S, j, P.node, P.mask, bar)
        elif _is_new(S, P.node) and _could_get(S, j, P.node, np.int64(-1), bar) >= enough:
            found += 1
    return found


@core
def _enough(S: State, C: np.void) -> Int:
    """How many GPUs make a node one of those that class `C` lacks; 0 if any GPUs would do."""
    if C.per_node > 0:
        return C.per_node
    if takes_any(S):
        return np.int64(0)
    size = S.alts[C.alt].gpus
    return C.gpus if C.gpus <= size else (size if C.lacks_whole else C.gpus % size)


@core
def will_fail(S: State, j: Int, bar: float) -> bool:
    """Whether the eviction for job `j` is known to fail."""
    J = S.jobs[j]
    C = S.classes[J.cls]
    g = S.g[0]
    since = g.freed - C.failed_at
    if C.failed_at < 0 or since > FREED or J.neg_priority < C.failed_neg_priority or g.within > C.failed_within:
        return False
    if J.neg_priority == C.failed_neg_priority and J.key < C.failed_key:
        return False
    if since == 0:
        return True
    enough = _enough(S, C)
    if g.within < C.failed_within and enough > 0:
        return False  # what it lacked was counted in GPUs, not in nodes
    found = _found_since(S, j, bar, enough)
    if found >= C.lacking:
        return False
    C.failed_at = g.freed
    C.failed_key = J.key
    C.failed_neg_priority = J.neg_priority
    C.lacking -= found
    return True
