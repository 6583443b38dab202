"""Rows of queues in a policy's memory: their quotas, and what their cohorts have left."""

import numpy as np

from pointsman.policies.sdk import Int, State, core

QUEUES, NOMINAL, COHORT, TOTAL, HEAD, RELEASED, TRIED, WIDTH = 8, 0, 1, 2, 3, 4, 5, 6
"""Where the rows of queues begin in State.memory. Of a row: its nominal quota, its cohort and what the queues of that
have together; scratch of a pass: its first waiting job, GPUs released on paper, and the pass in which it last tried to
preempt."""


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
def has_quota(S: State, j: Int) -> bool:
    """Whether the queue of job `j` and its cohort have quota left for it."""
    q = S.jobs[j].queue
    asked = S.jobs[j].asked
    if S.queues[q].limit >= 0 and holds(S, q) + asked > S.queues[q].limit:
        return False
    return bool(asked <= unused(S, q))
