"""One offer of what is free to the waiting jobs, as Dally makes it."""

import numpy as np

from pointsman.policies.dally.delay import learn_from_start
from pointsman.policies.dally.preemption import OVERDUE, start_or_preempt
from pointsman.policies.dally.whole_nodes import on_whole_nodes, takes_whole_nodes
from pointsman.policies.parts.bounded_waiting import (
    goes_first,
    has_started,
    hold_back_others,
    start_first,
)
from pointsman.policies.parts.offers import next_offered, pass_over
from pointsman.policies.sdk import FEW_RACKS, OK, QUOTA, RESERVED, TIGHTEST, Int, State, close_queue, core


@core
def _note_start(S: State, j: Int) -> None:
    """Job `j` has taken an offer."""
    has_started(S, j, np.int64(OVERDUE))
    if not goes_first(S, j) and not takes_whole_nodes(S, j):
        learn_from_start(S, j)


@core
def _refuse(S: State, j: Int) -> None:
    """There is no place for job `j`."""
    if goes_first(S, j):
        hold_back_others(S, j)
    else:
        pass_over(S, j)


@core
def _start(S: State, j: Int, margin: float) -> Int:
    """Start job `j`, be it in place of others; where gangs are placed on whole nodes, one that these cannot hold by
    levels.
    """
    by_levels = on_whole_nodes(S) and not takes_whole_nodes(S, j)
    if by_levels:
        S.g[0].placement = TIGHTEST
    reason = start_first(S, j) if goes_first(S, j) else start_or_preempt(S, j, margin * S.jobs[j].asked)
    if by_levels:
        S.g[0].placement = FEW_RACKS
    return reason


@core
def offer(S: State, margin: float) -> bool:
    """Offer to the next waiting job, which may preempt others (`g.victims`) whose key exceeds its own by more than
    `margin` for each GPU that it requests; False if none is left to offer to.
    """
    S.g[0].victims = 0
    if S.g[0].pending == 0:
        return False
    j = next_offered(S)
    if j < 0:
        return False
    reason = _start(S, j, margin)
    if reason == OK:
        _note_start(S, j)
    elif reason == QUOTA:
        close_queue(S, j)
    elif reason != RESERVED:
        _refuse(S, j)
    return True
