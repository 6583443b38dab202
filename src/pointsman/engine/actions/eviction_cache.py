"""Remembering failed evictions, so that in an overloaded cluster they are not tried again and again for naught.

While a waiting job waits, the GPUs that are free or held by strictly worse jobs only become fewer, except on nodes
where GPUs were freed or
jobs became worse (they sank a level). So a class whose eviction failed for some job fails again for any job that is
no better, unless
enough has changed on such nodes, which State.freed lists.
"""

import numpy as np

from pointsman.engine.jit.compile import core
from pointsman.engine.placement.tightest import takes_any
from pointsman.engine.state.records import Int, State

FREED = 1024
"""How many changes are remembered."""


@core
def note_freed(S: State, n: Int) -> None:
    """GPUs of node `n` were freed, or a job on it became worse."""
    g = S.g[0]
    S.freed[g.freed & (FREED - 1)] = n
    g.freed += 1


@core
def note_worse(S: State, j: Int) -> None:
    """Running job `j` became worse than it was, or can be evicted from now on."""
    i = S.jobs[j].part
    while i >= 0:
        note_freed(S, S.parts[i].node)
        i = S.parts[i].next


@core
def forget_failures(S: State) -> None:
    """Anything may have become possible."""
    S.g[0].freed += FREED + 1


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
def _could_free(S: State, j: Int, n: Int, bar: float) -> Int:
    """GPUs of node `n` that are free or held by running jobs strictly worse than `j`."""
    N = S.nodes[n]
    J = S.jobs[j]
    gpus = np.int64(0)
    for x in range(N.gpu0, N.gpu0 + N.gpus):
        v = S.occupants[x, 0]
        if v < 0:
            gpus += 1
        else:
            V = S.jobs[v]
            if V.neg_priority > J.neg_priority or (V.neg_priority == J.neg_priority and V.key > bar):
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
