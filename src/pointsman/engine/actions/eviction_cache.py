"""Remembering failed evictions, so that in an overloaded cluster they are not tried again and again for naught.

While a waiting job waits, the GPUs that are free or held by strictly worse jobs only become fewer, except on nodes
where GPUs were freed, jobs became worse (they sank a level) or stop. So a class whose eviction failed for some job
fails again for any job that is no better, unless enough has changed on such nodes, which State.freed lists.
"""

import numpy as np

from pointsman.engine.index.bits import bit
from pointsman.engine.jit.compile import core
from pointsman.engine.placement.tightest import takes_any
from pointsman.engine.state.records import Int, State
from pointsman.types import JobState

STOPPING = int(JobState.STOPPING)
FREED = 1024
"""How many changes are remembered."""


@core
def note_freed(S: State, n: Int) -> None:
    """GPUs of node `n` were freed, or a job on it became worse or stops."""
    g = S.g[0]
    S.freed[g.freed & (FREED - 1)] = n
    g.freed += 1


@core
def note_change(S: State, n: Int) -> None:
    """As `note_freed`, of what running jobs may move to as well."""
    note_freed(S, n)
    S.g[0].changes += 1


@core
def note_worse(S: State, j: Int) -> None:
    """Running job `j` became worse than it was, or can be evicted from now on."""
    i = S.jobs[j].part
    while i >= 0:
        note_change(S, S.parts[i].node)
        i = S.parts[i].next


@core
def forget_failures(S: State) -> None:
    """Anything may have become possible."""
    S.g[0].freed += FREED + 1
    S.g[0].changes += 1


@core
def remember_failure(S: State, j: Int, lacking: Int) -> None:
    """The eviction of job `j` failed for lack of so many nodes, or GPUs where any will do (at least one)."""
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
def _could_get(S: State, j: Int, v: Int, bar: float) -> bool:
    """Whether job `j` could get a GPU from its occupant `v` (-1: it is free), if no other claims it."""
    if v < 0 or S.jobs[v].state == STOPPING:
        return True
    V, J = S.jobs[v], S.jobs[j]
    return bool(V.neg_priority > J.neg_priority or (V.neg_priority == J.neg_priority and V.key > bar))


@core
def _could_free(S: State, j: Int, n: Int, bar: float) -> Int:
    """GPUs of node `n` that are free, held by jobs that stop, or by running ones strictly worse than `j`."""
    N = S.nodes[n]
    claimed = N.claimed & ~claimed_later(S, n, j) if N.claimed != 0 else np.int64(0)
    gpus = np.int64(0)
    for b in range(N.gpus):
        if claimed & bit(b) == 0 and _could_get(S, j, S.occupants[N.gpu0 + b, 0], bar):
            gpus += 1
    return gpus


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
    scattered = takes_any(S) and C.per_node == 0
    if g.within < C.failed_within and not scattered:
        return False  # what it lacked was counted in GPUs, not in nodes
    size = S.alts[C.alt].gpus
    enough = C.gpus if C.gpus <= size else (size if C.lacks_whole else C.gpus % size)
    if C.per_node > 0:
        enough = C.per_node
    found = np.int64(0)
    for i in range(C.failed_at, g.freed):
        gpus = _could_free(S, j, S.freed[i & (FREED - 1)], bar)
        if scattered:
            found += gpus
        elif gpus >= enough:
            found += 1
    if found >= C.lacking:
        return False
    C.failed_at = g.freed
    C.failed_key = J.key
    C.failed_neg_priority = J.neg_priority
    C.lacking -= found
    return True
