"""What a policy does so that no job waits for ever: its jobs take turns by the grants of `bounded_waiting`.

It calls `grant_first_places` at the beginning of each pass, `take_turn` when a job begins to wait, `be_called` when one
that waits is called, and `has_ended` when one ends. A job with a grant is offered places first, and may preempt all
others that have none.
"""

import numpy as np

from pointsman.policies.parts.levels import NETWORK, NODE, best_level
from pointsman.policies.parts.offers import queue_for
from pointsman.policies.parts.preemption.bounded_waiting import (
    FIRST_KEY,
    goes_first,
    has_started,
    join_overdue,
    let_lapse,
    next_grant,
    watch_wait,
)
from pointsman.policies.parts.preemption.evicting_policy import EvictingPolicy
from pointsman.policies.sdk import (
    OK,
    QUOTA,
    RESERVED,
    RESOURCES,
    Int,
    State,
    block_nodes,
    close_queue,
    core,
    dequeue,
    nodes_blocked,
    running_index,
    set_alarm,
    start_or_evict,
    view_of,
)

LEAST_TRY_MS = 60_000
params = view_of(EvictingPolicy)


@core
def bounds_waits(S: State) -> bool:
    """Whether waits are bounded."""
    return bool(params(S).patience_ms > 0)


@core
def _until_all_may_be_preempted(S: State, quantum_ms: Int) -> Int:
    """When all jobs that run or start now may be preempted, and have stopped, with time to spare."""
    g = S.g[0]
    return g.now + max(LEAST_TRY_MS, 2 * (quantum_ms + g.start_ms + g.restore_ms + g.stop_ms))


@core
def _go_first(S: State, j: Int, quantum_ms: Int) -> None:
    """Job `j`, which has a grant, waits, until it has been of no use."""
    dequeue(S, j)
    queue_for(S, j, FIRST_KEY, NETWORK)
    set_alarm(S, j, _until_all_may_be_preempted(S, quantum_ms))


@core
def take_turn(S: State, j: Int, quantum_ms: Int, dearness: float) -> None:
    """Job `j`, which has just queued, goes first, or is called when it has waited too long."""
    if goes_first(S, j):
        _go_first(S, j, quantum_ms)
    elif bounds_waits(S):
        watch_wait(S, j, dearness)


@core
def be_called(S: State, j: Int, dearness: float) -> None:
    """A timer of waiting job `j` has passed: a grant that has not led to a start lapses; a job that has waited too long
    is overdue.
    """
    if goes_first(S, j) and S.jobs[j].claims == 0:
        let_lapse(S, j)
    if bounds_waits(S) and not goes_first(S, j):
        join_overdue(S, j, dearness)


@core
def grant_first_places(S: State, quantum_ms: Int) -> None:
    """Jobs that have waited too long go first."""
    while True:
        j = next_grant(S)
        if j < 0:
            return
        _go_first(S, j, quantum_ms)


@core
def key_as_victim(S: State, j: Int, key: float) -> float:
    """By how much running job `j` is a victim: not at all while it goes first."""
    return -np.inf if goes_first(S, j) else key


@core
def start_first(S: State, j: Int) -> Int:
    """Start job `j`, which has a grant, in place of whatever running jobs may be preempted and have none; within a node
    if that can be.
    """
    S.g[0].within = best_level(S, j)
    if S.g[0].within == NODE:
        answer = start_or_evict(S, j, -np.inf, running_index(S))
        if answer != RESOURCES:
            return answer
    S.g[0].within = NETWORK
    return start_or_evict(S, j, -np.inf, running_index(S))


@core
def hold_back_others(S: State, j: Int) -> None:
    """No other job starts in this pass where job `j` could, which has a grant and no place."""
    block_nodes(S, j, np.inf)
    for c in range(S.g[0].classes):
        if nodes_blocked(S, S.classes[c].reach) > 0:
            S.classes[c].blocked = S.g[0].pass_id
            S.classes[c].fits = NETWORK


@core
def others_are_held_back(S: State) -> bool:
    """Whether that is so in this pass."""
    for p in range(S.pools.shape[0]):
        if S.pools[p].blocked == S.g[0].pass_id:
            return True
    return False


@core
def note_answer(S: State, j: Int, reason: Int) -> bool:
    """Job `j` was offered a place, and this was the answer: whether the policy is to pass it over."""
    if reason == OK:
        has_started(S, j)
    elif reason == QUOTA:
        close_queue(S, j)
    elif reason != RESERVED and goes_first(S, j):
        hold_back_others(S, j)
    elif reason != RESERVED:
        return True
    return False
