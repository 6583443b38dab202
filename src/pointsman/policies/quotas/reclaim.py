"""Kueue's classic preemption (https://kueue.sigs.k8s.io/docs/concepts/preemption/#classic-preemption): which running
jobs make room for the first job of a queue.
"""

import numpy as np

from pointsman.policies.quotas.cohorts import ANY, LOWER, NEVER, borrows, has_quota, holds, params, queue
from pointsman.policies.quotas.declared import Kueue
from pointsman.policies.sdk import (
    OK,
    PENDING,
    VICTIMS,
    Int,
    Reason,
    State,
    choice,
    core,
    enqueue,
    fits,
    may_preempt,
    preempt,
    release_tentatively,
    running_index,
    start,
    take_back,
)

NEVER_WITHIN = choice(Kueue, "within_cluster_queue", "Never")
OR_NEWER = choice(Kueue, "within_cluster_queue", "LowerOrNewerEqualPriority")
EVICTED = int(Reason.Evicted)


@core
def _is_candidate(S: State, v: Int, j: Int, others: bool) -> bool:
    """Whether job `j` may preempt running job `v`: of a queue that borrows now if `others`, else of its own queue."""
    V = S.jobs[v]
    J, P = S.jobs[j], params(S)
    if not may_preempt(S, v):
        return False
    lower = V.neg_priority > J.neg_priority
    if others:
        same = queue(S, V.queue).cohort == queue(S, J.queue).cohort
        if V.queue == J.queue or not same or not borrows(S, V.queue, np.int64(0)):
            return False
        return bool(P.reclaim_within_cohort == ANY or (P.reclaim_within_cohort == LOWER and lower))
    if V.queue != J.queue or params(S).within_cluster_queue == NEVER_WITHIN:
        return False
    return bool(lower or (P.within_cluster_queue == OR_NEWER and V.neg_priority == J.neg_priority and V.row > J.row))


@core
def _others_borrow(S: State, q: Int) -> bool:
    """Whether another queue of the cohort of queue `q` holds more than its quota, and may be preempted for it."""
    if params(S).reclaim_within_cohort == NEVER:
        return False
    for other in range(S.queues.shape[0]):
        same = queue(S, other).cohort == queue(S, q).cohort
        if other != q and same and borrows(S, np.int64(other), np.int64(0)):
            return True
    return False


@core
def _fits_now(S: State, j: Int, borrow: bool) -> bool:
    """Whether job `j` has quota, without borrowing unless `borrow`, and a place, with what is released on paper."""
    if not borrow and borrows(S, S.jobs[j].queue, S.jobs[j].asked):
        return False
    return bool(has_quota(S, j) and fits(S, S.jobs[j].cls))


@core
def _release(S: State, v: Int, sign: Int) -> None:
    """Release job `v` on paper, or with `sign` -1 take it back."""
    if sign > 0:
        release_tentatively(S, v)
    else:
        take_back(S, v)
    queue(S, S.jobs[v].queue).released += sign * S.jobs[v].gpus


@core
def _release_some(S: State, j: Int, others: bool, n: Int, borrow: bool) -> Int:
    """Release candidates one by one, lowest priority and latest start first, until job `j` fits; how many there are."""
    if _fits_now(S, j, borrow):
        return n
    v = S.buckets[running_index(S)].last
    while v >= 0:
        if _is_candidate(S, v, j, others):
            _release(S, v, np.int64(1))
            S.lists[VICTIMS, n] = v
            n += 1
            if _fits_now(S, j, borrow):
                return n
        v = S.jobs[v].earlier
    return n


@core
def _targets(S: State, j: Int, others: bool, borrow: bool) -> Int:
    """How many jobs in State.lists[VICTIMS] make room for job `j`, all taken back; 0 if none do."""
    n = np.int64(0)
    if others:
        n = _release_some(S, j, True, n, borrow)
    n = _release_some(S, j, False, n, borrow)
    found = _fits_now(S, j, borrow)
    for i in range(n - 1, -1, -1):  # those that need not go
        v = S.lists[VICTIMS, i]
        _release(S, v, np.int64(-1))
        if found and not _fits_now(S, j, borrow):
            _release(S, v, np.int64(1))
        else:
            S.lists[VICTIMS, i] = -1
    chosen = np.int64(0)
    for i in range(n):
        v = S.lists[VICTIMS, i]
        if v >= 0:
            _release(S, v, np.int64(-1))
            S.lists[VICTIMS, chosen] = v
            chosen += 1
    return chosen


@core
def make_room(S: State, j: Int) -> bool:
    """Preempt jobs for job `j`, the first of its queue, by Kueue's classic rules; whether it has started."""
    q = S.jobs[j].queue
    if S.jobs[j].asked > queue(S, q).nominal:
        return False
    n = np.int64(0)
    others = _others_borrow(S, q)
    if params(S).within_cluster_queue == NEVER_WITHIN and not others:
        return False
    if holds(S, q) < queue(S, q).nominal:
        n = _targets(S, j, others, False)
    if n == 0 and params(S).within_cluster_queue != NEVER_WITHIN:
        n = _targets(S, j, False, True)
    for i in range(n):
        v = S.lists[VICTIMS, i]
        preempt(S, v, EVICTED)
        if S.jobs[v].state == PENDING:
            enqueue(S, v, 0.0, np.inf)
    return bool(n > 0 and S.g[0].stop_ms == 0 and start(S, j, OK) == OK)
