"""One offer of what is free to the waiting jobs, as Dally makes it."""

from pointsman.policies.dally.delay import learn_from_start
from pointsman.policies.dally.preemption import start_or_preempt
from pointsman.policies.dally.whole_nodes import on_whole_nodes, takes_whole_nodes
from pointsman.policies.parts.offers import pass_over
from pointsman.policies.parts.preemption.bounded_waiting import goes_first
from pointsman.policies.parts.preemption.turns import note_answer, start_first
from pointsman.policies.sdk import FEW_RACKS, OK, TIGHTEST, Int, State, core


@core
def _start(S: State, j: Int, bar: float) -> Int:
    """Start job `j`, be it in place of others; where gangs are placed on whole nodes, one that these cannot hold by
    levels.
    """
    by_levels = on_whole_nodes(S) and not takes_whole_nodes(S, j)
    if by_levels:
        S.g[0].placement = TIGHTEST
    reason = start_first(S, j) if goes_first(S, j) else start_or_preempt(S, j, bar)
    if by_levels:
        S.g[0].placement = FEW_RACKS
    return reason


@core
def offer(S: State, j: Int, bar: float) -> None:
    """Offer to waiting job `j`, which may preempt others (`g.victims`) whose key is above `bar`."""
    S.g[0].victims = 0
    reason = _start(S, j, bar)
    if reason == OK and not goes_first(S, j) and not takes_whole_nodes(S, j):
        learn_from_start(S, j)
    if note_answer(S, j, reason):
        pass_over(S, j)
