"""Admission by quotas, first of jobs that have waited too long, for which GPUs are reserved (`overdue_heads`)."""

import numpy as np

from pointsman.policies.parts.reserving.overdue_heads import (
    become_head,
    first_overdue,
    longest_in_time,
    next_overdue,
    note_start,
    ratio_to_come,
    serves_overdue,
)
from pointsman.policies.parts.reserving.reserved_gpus import hide_reserved, unhide_reserved
from pointsman.policies.quotas.cohorts import STRICT, borrows, has_quota, params, queue
from pointsman.policies.sdk import (
    ACTIVE,
    OK,
    Int,
    State,
    before,
    block,
    blocked,
    core,
    first_below,
    over_limit,
    start,
)


@core
def find_heads(S: State) -> None:
    """Note the first waiting job of each queue."""
    for q in range(S.queues.shape[0]):
        queue(S, q).head = -1
    for i in range(S.g[0].active):
        j = S.buckets[S.lists[ACTIVE, i]].first
        Q = queue(S, S.jobs[j].queue)
        if Q.head < 0 or before(S, j, Q.head):
            Q.head = j


@core
def _has_turn(S: State, j: Int) -> bool:
    """Whether job `j` may be admitted before others of its queue: under StrictFIFO the queue's first alone."""
    return bool(params(S).queueing_strategy != STRICT or queue(S, S.jobs[j].queue).head == j)


@core
def _first_of(S: State, c: Int, ratio: float) -> Int:
    """The first job of class `c`; with a `ratio` above 0, that is predicted to end by the shadow times of heads."""
    if ratio == 0.0:
        return S.buckets[c].first
    longest = longest_in_time(S, c, ratio)
    return first_below(S, c, longest) if longest >= 0.0 else np.int64(-1)


@core
def _next(S: State, ratio: float) -> Int:
    """The next job to admit: those that do not borrow first, then in order; -1 if there is none."""
    best = np.int64(-1)
    best_borrows = True
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        j = _first_of(S, c, ratio)
        if j >= 0 and not blocked(S, c) and has_quota(S, j) and _has_turn(S, j):
            would_borrow = borrows(S, S.jobs[j].queue, S.jobs[j].asked)
            sooner = before(S, j, best) if best >= 0 and would_borrow == best_borrows else not would_borrow
            if best < 0 or sooner:
                best = j
                best_borrows = would_borrow
    return best


@core
def _starts(S: State, j: Int) -> bool:
    """Start job `j`, which has quota; whether it found a place."""
    if start(S, j, OK) != OK:
        return False
    note_start(S, j)
    return True


@core
def admit_all(S: State, ratio: float) -> None:
    """Start jobs until none has quota and a place; with a `ratio`, that are predicted to end in time."""
    while True:
        find_heads(S)
        j = _next(S, ratio)
        if j < 0:
            return
        if not _starts(S, j):
            block(S, S.jobs[j].cls)


@core
def _may_lack_quota(S: State, j: Int) -> bool:
    """Whether GPUs that are reserved for job `j` bring it quota, too: it lacks only what its cohort holds, whose quotas
    are as many as GPUs.
    """
    total = queue(S, S.jobs[j].queue).total
    return not over_limit(S, j) and bool(total >= S.gpus.shape[0])


@core
def _serve_overdue(S: State) -> None:
    """Start the jobs that have waited too long, or reserve GPUs for them."""
    find_heads(S)
    j = first_overdue(S)
    while j >= 0:
        behind = np.int64(S.jobs[j].behind)
        if _has_turn(S, j):
            with_quota = has_quota(S, j)
            if with_quota and _starts(S, j):
                find_heads(S)
            elif with_quota or _may_lack_quota(S, j):
                become_head(S, j)
        j = next_overdue(S, behind)


@core
def admit_around_heads(S: State) -> None:
    """Admit jobs within quotas, those that have waited too long first."""
    S.g[0].reserved = 0
    if serves_overdue(S) and S.g[0].free > 0:
        _serve_overdue(S)
    if S.g[0].reserved > 0:
        admit_all(S, ratio_to_come(S))
        hide_reserved(S)
    admit_all(S, 0.0)
    unhide_reserved(S)
