"""Who sends over which uplink, and what each gets of it (``docs/reference/semantics.md`` §8).

A job on several nodes sends one ring: over the uplink of each of its nodes, over those of its racks if it is in
several, and of its pods; in a BCube over cards of its nodes. When the rings of an uplink change, only jobs that this
can concern are rated again. Bytes per second are whole, and shares whole 1/1024, so that sums are exact in any order.
"""

import numpy as np

from pointsman.engine.jit.compile import core, exported
from pointsman.engine.rate_models.links.filling import FLOWS, fill, gather, slow_by
from pointsman.engine.rate_models.links.rings import join, leave, worst_uplink
from pointsman.engine.state.codes import RUNNING
from pointsman.engine.state.invariants import OVERBOOKED
from pointsman.engine.state.records import DIRTY, LEAVE, SHARE, Int, State
from pointsman.engine.state.state_pointer import open_state
from pointsman.types import Contention

LEVEL, NODE_LINK = int(Contention.LEVEL), int(Contention.NODE_LINK)


@core
def _share(S: State) -> None:
    """Jobs that began to run join; whom the changed uplinks concern gets another share."""
    g = S.g[0]
    for i in range(g.dirty):
        j = S.lists[DIRTY, i]
        J = S.jobs[j]
        if J.state == RUNNING and J.nodes > 1 and S.flows[j].first == 0:
            join(S, j)
    if g.changed_uplinks == 0:
        return
    if g.contention == LEVEL or g.contention == NODE_LINK:
        for i in range(gather(S, False)):
            slow_by(S, S.lists[FLOWS, i], worst_uplink(S, S.lists[FLOWS, i]), 1.0)
    else:
        fill(S, gather(S, True))
    for k in range(g.changed_uplinks):
        S.uplinks[S.changed_uplinks[k]].changed = 0
    g.changed_uplinks = 0


@core
def _audit(S: State) -> Int:
    """OVERBOOKED if rings on an uplink are miscounted, or get more of it together than it has; else 0."""
    for u in range(S.uplinks.shape[0]):
        U = S.uplinks[u]
        rings = np.int64(0)
        load = got = 0.0
        i = U.first
        while i > 0:
            C = S.crossings[i - 1]
            rings += 1
            load += C.wants
            got += S.flows[C.job].share
            if S.jobs[C.job].state != RUNNING:
                return OVERBOOKED
            i = C.after
        if rings != U.rings or load != U.load:
            return OVERBOOKED
        if got > U.capacity and S.g[0].contention != LEVEL and S.g[0].contention != NODE_LINK:
            return OVERBOOKED
    return np.int64(0)


@exported("int64(int64, int64, int64)")
def network(address: Int, what: Int, j: Int) -> Int:
    """See `records.SHARE`. Answers 0, or which fault `audit` knows by that number."""
    S = open_state(address)
    if what == SHARE:
        _share(S)
    elif what == LEAVE:
        leave(S, j)
    else:
        return _audit(S)
    return np.int64(0)
