"""One offer of what is free to the waiting jobs, as Dally makes it."""

from pointsman.policies.dally.delay import learn_from_start
from pointsman.policies.dally.preemption import start_or_preempt
from pointsman.policies.parts.offers import next_offered, pass_over
from pointsman.policies.sdk import OK, QUOTA, RESERVED, State, close_queue, core


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
    reason = start_or_preempt(S, j, margin * S.jobs[j].asked)
    if reason == OK:
        learn_from_start(S, j)
    elif reason == QUOTA:
        close_queue(S, j)
    elif reason != RESERVED:
        pass_over(S, j)
    return True
