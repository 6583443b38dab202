"""Reserving GPUs that are not free yet."""

import numpy as np

from pointsman.engine.actions.worse import release_tentatively, take_back
from pointsman.engine.index.queues import running_index
from pointsman.engine.jit.compile import exported
from pointsman.engine.placement.placing import fits, place, unplace
from pointsman.engine.state.records import Int, State


@exported("float64(State, int64)")
def reserve(S: State, head: Int) -> float:
    """Add to State.reserve, and count in State.g.reserved, the GPUs that waiting job `head` would get if running jobs
    ended in the order of the running index, by whose keys the policy says when they will: the key at which it would
    start, which is infinite if it never fits. What is reserved before must be on other nodes.
    """
    c = S.jobs[head].cls
    first = S.g[0].reserved
    shadow = np.inf
    v = S.buckets[running_index(S)].first
    while v >= 0:
        release_tentatively(S, v)
        end = S.jobs[v].key
        v = S.jobs[v].later
        if (v < 0 or S.jobs[v].key > end) and fits(S, c):
            shadow = end
            place(S, c)
            for i in range(S.g[0].placed):
                S.reserve[first + i].node = S.place[i].node
                S.reserve[first + i].mask = S.place[i].mask
            S.g[0].reserved += S.g[0].placed
            unplace(S)
            break
    w = S.buckets[running_index(S)].first
    while w != v:
        take_back(S, w)
        w = S.jobs[w].later
    return shadow
