"""Rows of queues in a policy's memory: their quotas, and what their cohorts have left."""

import numpy as np

from pointsman.policies.sdk import Int, State, before, core

QUEUES, NOMINAL, COHORT, TOTAL, HEAD, RELEASED, TRIED, WIDTH = 8, 0, 1, 2, 3, 4, 5, 6
"""Where the rows of queues begin in State.memory. Of a row: its nominal quota, its cohort and what the queues of that
have together; scratch of a pass: its first waiting job, GPUs released on paper, and the pass in which it last tried to
preempt."""
STRICT, RECLAIM = 0, 1
"""Params: whether the first job of a queue blocks it; position in RECLAIMS."""
RECLAIMS = ("Never", "LowerPriority", "Any")
ANY = 2.0


@core
def row_of_queue(queue: Int) -> Int:
    """Where the row of a queue begins in State.memory."""
    return QUEUES + WIDTH * queue


@core
def unused(S: State, q: Int) -> float:
    """GPUs of the cohort of queue `q` that no job holds, or that are released on paper."""
    held = np.int64(0)
    released = 0.0
    for other in range(S.queues.shape[0]):
        if S.memory[row_of_queue(other) + COHORT] == S.memory[row_of_queue(q) + COHORT]:
            held += S.queues[other].held
            released += S.memory[row_of_queue(other) + RELEASED]
    return S.memory[row_of_queue(q) + TOTAL] - held + released


@core
def holds(S: State, q: Int) -> float:
    """GPUs that queue `q` holds, less those released on paper."""
    return S.queues[q].held - S.memory[row_of_queue(q) + RELEASED]


@core
def borrows(S: State, q: Int, gpus: Int) -> bool:
    """Whether queue `q` would borrow with so many GPUs more."""
    return bool(holds(S, q) + gpus > S.memory[row_of_queue(q) + NOMINAL])


@core
def _goes_first(S: State, h: Int, j: Int) -> bool:
    """Whether job `h` goes before job `j` of another queue: jobs that do not borrow are first."""
    h_borrows, j_borrows = borrows(S, S.jobs[h].queue, S.jobs[h].asked), borrows(S, S.jobs[j].queue, S.jobs[j].asked)
    return before(S, h, j) if h_borrows == j_borrows else bool(j_borrows)


@core
def kept_from(S: State, j: Int) -> float:
    """GPUs of its cohort's quotas that the first jobs of other queues, which wait, keep from job `j`."""
    kept = 0.0
    if S.params[STRICT] == 0.0 or S.params[RECLAIM] == ANY:
        return kept
    for q in range(S.queues.shape[0]):
        row = row_of_queue(np.int64(q))
        h = np.int64(S.memory[row + HEAD])
        near = S.memory[row + COHORT] == S.memory[row_of_queue(S.jobs[j].queue) + COHORT]
        if not near or h < 0 or S.jobs[h].queue == S.jobs[j].queue:
            continue
        if S.jobs[h].asked <= S.memory[row + NOMINAL] and _goes_first(S, h, j):
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
