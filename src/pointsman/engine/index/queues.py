"""Waiting jobs, indexed by demand class: only class heads are ever looked at."""

import numpy as np

from pointsman.engine.index.treap import before, insert, remove
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.state.records import ACTIVE, CLAIMING, Int, State


@core
def queue_index(S: State, j: Int) -> Int:
    """The index of waiting jobs of the queue of job `j` that are eligible on the same nodes as it, for policies that do
    not order by class.
    """
    return S.g[0].classes + S.classes[S.jobs[j].cls].reach * S.g[0].queues + S.jobs[j].queue


@core
def running_index(S: State) -> Int:
    """The index of running jobs, for policies that order them."""
    return S.g[0].classes + S.g[0].queues * S.reaches.shape[0]


@core
def stopping_index(S: State) -> Int:
    """The index of STOPPING jobs."""
    return running_index(S) + 1


@cold
def enqueue(S: State, j: Int, key: float, aux: float) -> None:
    """Job `j` waits in the index of its class at `key`; `aux` is what `first_below` looks for. One that
    claims a place only has another key.
    """
    J = S.jobs[j]
    c = J.cls
    C = S.classes[c]
    J.key = key
    J.aux = aux
    if J.claims == CLAIMING:
        return
    if C.active < 0:
        C.active = S.g[0].active
        S.lists[ACTIVE, C.active] = c
        S.g[0].active += 1
    insert(S, c, j)


@cold
def dequeue(S: State, j: Int) -> None:
    """Take job `j` out of whatever index it stands in."""
    J = S.jobs[j]
    b = J.bucket
    if b < 0:
        return
    remove(S, j)
    if b < S.g[0].classes and S.buckets[b].count == 0:
        C = S.classes[b]
        last = S.lists[ACTIVE, S.g[0].active - 1]
        S.lists[ACTIVE, C.active] = last
        S.classes[last].active = C.active
        C.active = -1
        S.g[0].active -= 1


@core
def block(S: State, c: Int) -> None:
    """No job of class `c`, nor of a wider class of its group, fits for the rest of this cycle."""
    C = S.classes[c]
    C.blocked = S.g[0].pass_id
    G = S.groups[C.group]
    if G.failed_pass != S.g[0].pass_id or C.gpus < G.failed_gpus:
        G.failed_pass = S.g[0].pass_id
        G.failed_gpus = C.gpus


@core
def blocked(S: State, c: Int) -> bool:
    """Whether class `c` need not be tried again in this cycle."""
    C = S.classes[c]
    if C.blocked == S.g[0].pass_id:
        return True
    G = S.groups[C.group]
    if G.failed_pass == S.g[0].pass_id and C.gpus >= G.failed_gpus:
        return True
    return C.queue >= 0 and S.queues[C.queue].closed == S.g[0].pass_id


@core
def first_waiting(S: State) -> Int:
    """The first waiting job, in order, of the classes not blocked in this cycle; -1 if none."""
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if not blocked(S, c):
            j = S.buckets[c].first
            if best < 0 or before(S, j, best):
                best = j
    return best


@core
def over_limit(S: State, j: Int) -> bool:
    """Whether starting job `j` would take its queue above its limit."""
    J = S.jobs[j]
    Q = S.queues[J.queue]
    more = np.int64(0) if J.claims else J.asked
    return Q.limit >= 0 and Q.held + more > Q.limit


@core
def close_queue(S: State, j: Int) -> None:
    """The queue of job `j` is closed for the rest of this cycle (``semantics.md`` §4)."""
    S.queues[S.jobs[j].queue].closed = S.g[0].pass_id


@core
def reach_of(S: State, j: Int) -> Int:
    """The set of nodes on which job `j` is eligible: a row of State.reaches."""
    return S.classes[S.jobs[j].cls].reach


@core
def block_nodes(S: State, j: Int, until: float) -> None:
    """Job `j` found no place: for the rest of this cycle its eligible nodes are blocked for jobs behind it. It is
    expected to start at `until`.
    """
    R = S.reaches[reach_of(S, j)]
    for i in range(R.pool, R.pool_end):
        P = S.pools[S.ints[i]]
        if P.blocked != S.g[0].pass_id:
            P.blocked = S.g[0].pass_id
            P.blocker = j
            P.until = until


@core
def nodes_blocked(S: State, r: Int) -> Int:
    """How many pools of reach `r` are blocked in this cycle; it notes until when at the earliest."""
    R = S.reaches[r]
    n = np.int64(0)
    R.until = np.inf
    for i in range(R.pool, R.pool_end):
        P = S.pools[S.ints[i]]
        if P.blocked == S.g[0].pass_id:
            n += 1
            R.until = min(R.until, P.until)
    return n
