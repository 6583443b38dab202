"""What all placers have in common: jobs start in the order of `fifo-backfill` or `sjf-backfill`, each on nodes of its
scheduler, on GPUs that the policy notes.
"""

import numpy as np

from pointsman.policies.parts.reserving.overdue_heads import follow, note_start, predict_end, serves_overdue
from pointsman.policies.placers.schedulers import destination, end_decision, forward_to, goes_first, was_forwarded
from pointsman.policies.placers.waiting.heads import end_cycle, next_around_heads
from pointsman.policies.placers.waiting.patience import begin_to_run, is_patient, takes_what_is_free, wait_patiently
from pointsman.policies.sdk import (
    ACTIVE,
    OK,
    QUOTA,
    Int,
    State,
    alternative_with_room,
    block,
    close_queue,
    cold,
    core,
    next_below,
    over_limit,
    start,
    start_on,
)


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class."""
    if j >= 0:
        follow(S, kind, j)
        wait_patiently(S, j)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate."""
    predict_end(S, j, np.int64(0))


@cold
def _can_start(S: State, j: Int) -> bool:
    """Whether waiting job `j` takes what its scheduler has free, or can be forwarded."""
    return takes_what_is_free(S, j, S.jobs[j].cls) or bool(destination(S, j) >= 0)


@core
def _first_of(S: State, c: Int) -> Int:
    """The first job of class `c` that can start; -1 if there is none."""
    bound = np.inf
    j = S.buckets[c].first
    while j >= 0 and not _can_start(S, j):
        if not was_forwarded(S, j):  # one that was, cannot be again, so another may yet
            if not is_patient(S, j):
                return np.int64(-1)
            bound = np.float64(S.g[0].now)
        j = next_below(S, j, bound)
    return j


@core
def _first_in_order(S: State) -> Int:
    """The first waiting job, in order, that can start; -1 if there is none."""
    best = np.int64(-1)
    if S.g[0].free > 0:
        for i in range(S.g[0].active):
            j = _first_of(S, S.lists[ACTIVE, i])
            if goes_first(S, j, best):
                best = j
    return best


@core
def _closes_a_queue(S: State) -> bool:
    """Close the queue of a job that is first of its class and above its limit; whether there was one."""
    for i in range(S.g[0].active):
        j = _first_of(S, S.lists[ACTIVE, i])
        if j >= 0 and over_limit(S, j):
            close_queue(S, j)
            return True
    return False


@cold
def _next_in_order(S: State) -> Int:
    """The next job, in order, that fits the nodes of its scheduler, perhaps since now; -1 if there is none."""
    if S.g[0].decision_us > 0 and S.g[0].has_queue_limits:
        while _closes_a_queue(S):  # which takes no decision
            pass
    while True:
        j = _first_in_order(S)
        if j < 0:
            return j
        end_decision(S, j)
        if takes_what_is_free(S, j, S.jobs[j].cls):
            return j
        if not over_limit(S, j):
            forward_to(S, j, destination(S, j))
            return j
        close_queue(S, j)


@core
def next_job(S: State) -> Int:
    """The next job to be placed; -1 if there is none."""
    if not serves_overdue(S):
        return _next_in_order(S)
    j = next_around_heads(S)
    if j < 0:
        j = _next_in_order(S)
    if j < 0:
        end_cycle(S)
    return j


@core
def alternative_of(S: State, j: Int) -> Int:
    """The first alternative of job `j` with enough free GPUs; -1 if none has."""
    return alternative_with_room(S, S.jobs[j].cls)


@core
def start_there(S: State, j: Int) -> None:
    """Job `j` starts on the GPUs noted in State.place, or, with a shape, where the configured placement puts it; if it
    may not, no job like it is tried in this cycle.
    """
    c = S.jobs[j].cls
    answer = start(S, j, OK) if S.classes[c].per_node > 0 else start_on(S, j, OK)
    if answer == QUOTA:
        close_queue(S, j)
    elif answer == OK:
        begin_to_run(S, j)
        note_start(S, j)
    else:
        block(S, c)
