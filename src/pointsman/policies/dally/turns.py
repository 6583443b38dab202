"""Waits are bounded in this family: a job that has waited longer than its limit goes before all others
(`bounded_waiting`), whatever the policy ranks jobs by.
"""

import numpy as np

from pointsman.policies.dally.delay import loosens_at, settle_for_less, wait
from pointsman.policies.dally.preemption import OVERDUE, PREEMPTS, QUANTUM_MS
from pointsman.policies.parts.bounded_waiting import (
    PATIENCE_MS,
    goes_first,
    join_overdue,
    key_of,
    let_lapse,
    next_grant,
    until_all_may_be_preempted,
    watch_wait,
)
from pointsman.policies.parts.levels import NETWORK
from pointsman.policies.parts.offers import queue_for
from pointsman.policies.sdk import Int, State, core, dequeue, set_alarm


@core
def _bounds_waits(S: State, bound: Int) -> bool:
    """Whether they are, by the parameters that begin at `bound`."""
    return bool(S.params[bound + PATIENCE_MS] > 0.0 and S.params[PREEMPTS] != 0.0)


@core
def _go_first(S: State, j: Int) -> None:
    """Job `j`, which has a grant, waits, until it has been of no use."""
    dequeue(S, j)
    queue_for(S, j, key_of(S, j), NETWORK)
    set_alarm(S, j, until_all_may_be_preempted(S, S.params[QUANTUM_MS]))


@core
def _bound_wait(S: State, j: Int, bound: Int, dearness: float) -> None:
    """Waiting job `j` without a grant is called when it has waited too long."""
    if _bounds_waits(S, bound) and not goes_first(S, j):
        watch_wait(S, j, bound, dearness)


@core
def bound_wait_anew(S: State, j: Int, bound: Int, dearness: float) -> None:
    """The same if the limit of job `j` may have changed since it was counted."""
    if _bounds_waits(S, bound) and not goes_first(S, j):
        set_alarm(S, j, loosens_at(S, j))
        watch_wait(S, j, bound, dearness)


@core
def _take_turn(S: State, j: Int, bound: Int, dearness: float) -> None:
    """Job `j`, which has just queued, goes first, or will after some time."""
    if goes_first(S, j):
        _go_first(S, j)
    _bound_wait(S, j, bound, dearness)


@core
def begin_to_wait(S: State, j: Int, bound: Int, dearness: float) -> None:
    """Job `j`, which is ranked, waits: its timers start."""
    wait(S, j)
    _take_turn(S, j, bound, dearness)


@core
def be_called(S: State, j: Int, bound: Int, dearness: float) -> None:
    """A timer of waiting job `j` has passed; a grant that has not led to a start lapses."""
    dequeue(S, j)
    if goes_first(S, j) and S.jobs[j].claims == 0:
        let_lapse(S, j, bound, np.int64(OVERDUE))
    settle_for_less(S, j)
    if _bounds_waits(S, bound) and not goes_first(S, j):
        join_overdue(S, j, bound, np.int64(OVERDUE), dearness)
    _take_turn(S, j, bound, dearness)


@core
def grant_first_places(S: State, bound: Int) -> None:
    """Jobs that have waited too long go first."""
    while True:
        j = next_grant(S, bound, np.int64(OVERDUE))
        if j < 0:
            return
        _go_first(S, j)
