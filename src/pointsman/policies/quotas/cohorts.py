"""Rows of queues in a policy's memory: their quotas, and what their cohorts have left."""

import numpy as np

from pointsman.policies.quotas.declared import Kueue, KueueMemory, Queue
from pointsman.policies.sdk import Int, State, before, choice, core, view_of

params, memory = view_of(Kueue), view_of(KueueMemory)
STRICT = choice(Kueue, "queueing_strategy", "StrictFIFO")
NEVER, LOWER, ANY = (choice(Kueue, "reclaim_within_cohort", word) for word in ("Never", "LowerPriority", "Any"))


@core
def queue(S: State, q: Int) -> Queue:
    """What is kept of a queue."""
    return memory(S).queues[q]


@core
def unused(S: State, q: Int) -> float:
    """GPUs of the cohort of queue `q` that no job holds, or that are released on paper."""
    held = np.int64(0)
    released = 0.0
    for other in range(S.queues.shape[0]):
        if queue(S, other).cohort == queue(S, q).cohort:
            held += S.queues[other].held
            released += queue(S, other).released
    return np.float64(queue(S, q).total - held + released)


@core
def holds(S: State, q: Int) -> float:
    """GPUs that queue `q` holds, less those released on paper."""
    return S.queues[q].held - queue(S, q).released


@core
def borrows(S: State, q: Int, gpus: Int) -> bool:
    """Return whether queue `q` would borrow if it held `gpus` more GPUs."""
    return bool(holds(S, q) + gpus > queue(S, q).nominal)


@core
def _goes_first(S: State, h: Int, j: Int) -> bool:
    """Whether job `h` goes before job `j` of another queue: jobs that do not borrow are first."""
    h_borrows, j_borrows = borrows(S, S.jobs[h].queue, S.jobs[h].asked), borrows(S, S.jobs[j].queue, S.jobs[j].asked)
    return before(S, h, j) if h_borrows == j_borrows else bool(j_borrows)


@core
def kept_from(S: State, j: Int) -> float:
    """GPUs of its cohort's quotas that the first jobs of other queues, which wait, keep from job `j`."""
    kept = 0.0
    if params(S).queueing_strategy != STRICT or params(S).reclaim_within_cohort == ANY:
        return kept
    for q in range(S.queues.shape[0]):
        Q = queue(S, np.int64(q))
        h = Q.head
        near = Q.cohort == queue(S, S.jobs[j].queue).cohort
        if not near or h < 0 or S.jobs[h].queue == S.jobs[j].queue:
            continue
        if S.jobs[h].asked <= Q.nominal and _goes_first(S, h, j):
            kept += max(0.0, min(np.float64(S.jobs[h].asked), S.queues[q].limit - holds(S, np.int64(q))))
    return kept


@core
def has_quota(S: State, j: Int) -> bool:
    """Whether the queue of job `j` and its cohort have quota left for it."""
    q = S.jobs[j].queue
    asked = S.jobs[j].asked
    if S.queues[q].limit >= 0 and holds(S, q) + asked > S.queues[q].limit:
        return False
    return bool(asked <= unused(S, q) - kept_from(S, j))
