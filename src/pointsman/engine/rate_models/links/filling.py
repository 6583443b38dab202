"""Max-min fair shares of uplinks, by progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2)."""

import numpy as np

from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import core
from pointsman.engine.rate_models.links.rings import stir
from pointsman.engine.state.records import VICTIMS, Int, State
from pointsman.types import Contention

DUTY_CYCLE = int(Contention.DUTY_CYCLE)
FLOWS = VICTIMS  # none is evicted while links are shared out
FROZEN = -1  # of FLOW.reached: a ring that rises no more


@core
def slow_by(S: State, j: Int, stretch: float, slowdown: float) -> None:
    """What others do to job `j`; it is rated again if that is new."""
    L = S.flows[j]
    if stretch != L.stretch or slowdown != L.slowdown:
        L.stretch = stretch
        L.slowdown = slowdown
        mark(S, j)


@core
def gather(S: State, passes_on: bool) -> Int:
    """List the jobs that the changed uplinks concern; how many. If a change `passes_on`, their uplinks count as
    changed in turn, except those with room for all that their rings want.
    """
    g = S.g[0]
    g.attempt += 1
    flows = np.int64(0)
    k = np.int64(0)
    while k < g.changed_uplinks:
        i = S.uplinks[S.changed_uplinks[k]].first
        while i > 0:
            j = S.crossings[i - 1].job
            if S.flows[j].reached != g.attempt:
                S.flows[j].reached = g.attempt
                S.lists[FLOWS, flows] = j
                flows += 1
                c = S.flows[j].first if passes_on else np.int64(0)
                while c > 0:
                    U = S.uplinks[S.crossings[c - 1].uplink]
                    if U.load > U.capacity:
                        stir(S, S.crossings[c - 1].uplink)
                    c = S.crossings[c - 1].next
            i = S.crossings[i - 1].after
        k += 1
    return flows


@core
def _share_of_full(S: State, u: Int) -> float:
    """The common share of the rings still rising at which they fill uplink `u`."""
    U = S.uplinks[u]
    return np.floor(U.left / U.rising * 1024.0) / 1024.0


@core
def _places(S: State) -> tuple[Int, Int]:
    """Where the items of the heap stand in State.changed_uplinks, behind the changed uplinks, and where their keys do:
    the share at which an item stops rings, as far as known, times 1,024, which is whole. An item is an uplink, which is
    full then, or, as -1 - j, job `j`, whose ring has what it wants.
    """
    items = S.uplinks.shape[0]
    return np.int64(items), np.int64(items + (S.changed_uplinks.shape[0] - items) // 2)


@core
def _push(S: State, size: Int, item: Int, share: float) -> None:
    items, keys = _places(S)
    S.changed_uplinks[items + size] = item
    S.changed_uplinks[keys + size] = np.int64(share * 1024.0)


@core
def _sift_down(S: State, top: Int, size: Int) -> None:
    """Let the item at `top` of the heap sink to its place."""
    items, keys = _places(S)
    item = S.changed_uplinks[items + top]
    key = S.changed_uplinks[keys + top]
    child = 2 * top + 1
    while child < size:
        least = S.changed_uplinks[keys + child]
        if child + 1 < size and S.changed_uplinks[keys + child + 1] < least:
            child += 1
            least = S.changed_uplinks[keys + child]
        if least >= key:
            break
        S.changed_uplinks[items + top] = S.changed_uplinks[items + child]
        S.changed_uplinks[keys + top] = least
        top = child
        child = 2 * top + 1
    S.changed_uplinks[items + top] = item
    S.changed_uplinks[keys + top] = key


@core
def _heap(S: State, flows: Int) -> Int:
    """Make the heap of what can stop the rings of the jobs listed: the uplinks too narrow for what is wanted of them,
    and what each wants. Its size.
    """
    size = np.int64(0)
    for k in range(S.g[0].changed_uplinks):
        u = S.changed_uplinks[k]
        U = S.uplinks[u]
        U.rising = 0
        if U.load > U.capacity:
            U.left = U.capacity
            U.rising = U.rings
            U.full = _share_of_full(S, u)
            _push(S, size, u, U.full)
            size += 1
    for i in range(flows):
        j = S.lists[FLOWS, i]
        _push(S, size, -1 - j, S.flows[j].demand)
        size += 1
    for top in range(size // 2 - 1, -1, -1):
        _sift_down(S, np.int64(top), size)
    return size


@core
def _freeze(S: State, j: Int, share: float) -> Int:
    """The ring of job `j`, if it still rises, stops at `share`; how many that are."""
    L = S.flows[j]
    if L.reached == FROZEN:
        return np.int64(0)
    L.reached = FROZEN
    L.share = share
    i = L.first
    while i > 0:
        U = S.uplinks[S.crossings[i - 1].uplink]
        if U.rising > 0:
            U.left -= share
            U.rising -= 1
        i = S.crossings[i - 1].next
    return np.int64(1)


@core
def _is_over(S: State, item: Int) -> bool:
    """Whether no ring rises any more that this item of the heap could stop."""
    if item >= 0:
        return S.uplinks[item].rising == 0
    return S.flows[-1 - item].reached == FROZEN


@core
def _freeze_all(S: State, item: Int, share: float) -> Int:
    """The rings that this item of the heap stops, stop; how many that are."""
    if item < 0:
        return _freeze(S, -1 - item, share)
    stopped = np.int64(0)
    i = S.uplinks[item].first
    while i > 0:
        stopped += _freeze(S, S.crossings[i - 1].job, share)
        i = S.crossings[i - 1].after
    return stopped


@core
def fill(S: State, flows: Int) -> None:
    """Max-min fair shares of the jobs listed, by progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2):
    all rise together, and a ring stops where it has what it wants or an uplink of it is full.
    """
    items, keys = _places(S)
    size = np.int64(_heap(S, flows))
    rising = flows
    while rising > 0:
        end = size
        level = np.int64(-1)
        while size > 0 and (level < 0 or S.changed_uplinks[keys] <= level):
            item = S.changed_uplinks[items]
            if not _is_over(S, item):
                if item >= 0 and _share_of_full(S, item) > S.uplinks[item].full:  # rings of it have stopped since
                    S.uplinks[item].full = _share_of_full(S, item)
                    S.changed_uplinks[keys] = np.int64(S.uplinks[item].full * 1024.0)
                    _sift_down(S, np.int64(0), size)
                    continue
                level = S.changed_uplinks[keys]
            size -= 1
            S.changed_uplinks[items] = S.changed_uplinks[items + size]
            S.changed_uplinks[keys] = S.changed_uplinks[keys + size]
            S.changed_uplinks[items + size] = item
            _sift_down(S, np.int64(0), size)
        for i in range(size, end):
            rising -= _freeze_all(S, S.changed_uplinks[items + i], level / 1024.0)
    for i in range(flows):
        _slow_by_share(S, S.lists[FLOWS, i])


@core
def _slow_by_share(S: State, j: Int) -> None:
    L = S.flows[j]
    lacks = L.demand / max(L.share, 1.0 / 1024.0)
    if S.g[0].contention == DUTY_CYCLE:
        slow_by(S, j, 1.0, lacks)
    else:
        slow_by(S, j, lacks, 1.0)
