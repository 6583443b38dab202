"""Dally's delay scheduling: a waiting job holds out for its best level until its timer passes, then for the next.

Levels are node, rack and network (``Locality.CLUSTER``). A level is held out for only if the next one is slower for
this very job, so insensitive jobs and flat networks wait for nothing (ours; in the paper consolidation follows
sensitivity).
"""

import numpy as np

from pointsman.policies.dally.declared import DelayKept, DelayScheduling
from pointsman.policies.dally.tuner import learn, timer_ms
from pointsman.policies.dally.whole_nodes import takes_whole_nodes
from pointsman.policies.parts.levels import NETWORK, NODE, RACK, best_level, is_slower_beyond, looser
from pointsman.policies.parts.offers import accepted, queue_for
from pointsman.policies.parts.preemption.bounded_waiting import key_of
from pointsman.policies.sdk import NEVER, Int, State, core, set_alarm, view_of

params, kept = view_of(DelayScheduling), view_of(DelayKept)


@core
def holds_out(S: State, j: Int, level: Int) -> bool:
    """Whether `level` is worth waiting for: the next one is slower for job `j`."""
    if level >= NETWORK:
        return False
    return is_slower_beyond(S, j, level, params(S).epsilon)


@core
def _timer(S: State, j: Int, level: Int) -> float:
    return kept(S, j).node_timer_ms if level == NODE else kept(S, j).rack_timer_ms


@core
def loosens_at(S: State, j: Int) -> Int:
    """When waiting job `j` accepts a looser level, `NEVER` if not by a timer."""
    level = accepted(S, j)
    if level >= NETWORK or _timer(S, j, level) >= NEVER:
        return np.int64(NEVER)
    return S.jobs[j].pend_since + np.int64(_timer(S, j, level))


@core
def wait(S: State, j: Int) -> None:
    """Job `j` begins to wait: its timers start."""
    J = S.jobs[j]
    K = kept(S, j)
    K.node_timer_ms = timer_ms(S, NODE, J.asked)
    K.rack_timer_ms = timer_ms(S, RACK, J.asked)
    K.level = best_level(S, j)
    settle_for_less(S, j)


@core
def settle_for_less(S: State, j: Int) -> None:
    """Job `j` lets go of the levels that are not worth waiting for any longer, and queues."""
    J = S.jobs[j]
    waited = S.g[0].now - J.pend_since
    level = NETWORK if takes_whole_nodes(S, j) else accepted(S, j)
    while level < NETWORK and (waited >= _timer(S, j, level) or not holds_out(S, j, level)):
        level = looser(level)
    queue_for(S, j, key_of(S, j, np.float64(J.level)), level)
    if loosens_at(S, j) < NEVER:
        set_alarm(S, j, loosens_at(S, j))


@core
def learn_from_start(S: State, j: Int) -> None:
    """Job `j` has just taken an offer: its wait goes to the timers of the levels it held out for."""
    J = S.jobs[j]
    waited = S.g[0].now - J.pend_since
    taken = max(J.locality, np.int64(NODE))
    level = best_level(S, j)
    while level < NETWORK and level <= taken:
        if holds_out(S, j, level):
            timer = _timer(S, j, level)
            censored = level < taken
            learn(S, level, J.asked, np.int64(timer) if censored and timer < waited else waited, 1 if censored else 0)
        level = looser(level)
