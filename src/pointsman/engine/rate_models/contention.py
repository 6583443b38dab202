"""Who sends over which uplink, and what each gets of it (``docs/reference/semantics.md`` §8).

A job on several nodes sends one ring: over the uplink of each of its nodes, over those of its racks if it is in
several, and of its pods. When the rings of an uplink change, only jobs that this can concern are rated again. Bytes
per second are whole, and shares whole 1/1024, so that sums are exact in any order.
"""

import numpy as np

from pointsman.engine.actions.verbs import RUNNING
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import apart, core
from pointsman.engine.rate_models.rates import communication_s, row_of, with_communication_s
from pointsman.engine.state.invariants import OVERBOOKED
from pointsman.engine.state.records import DIRTY, LEAVE, SHARE, VICTIMS, Int, State
from pointsman.engine.state.state_pointer import open_state
from pointsman.types import Contention

LEVEL, DUTY_CYCLE, NODE_LINK = (int(c) for c in (Contention.LEVEL, Contention.DUTY_CYCLE, Contention.NODE_LINK))
FLOWS = VICTIMS  # nobody is evicted while links are shared out
FROZEN = -1  # of FLOW.reached: a ring that rises no more


@core
def _stir(S: State, u: Int) -> None:
    """The rings of uplink `u` must be looked at."""
    if S.uplinks[u].changed == 0:
        S.uplinks[u].changed = 1
        S.changed_uplinks[S.g[0].changed_uplinks] = u
        S.g[0].changed_uplinks += 1


@core
def _cross(S: State, j: Int, u: Int, times: Int) -> None:
    """The ring of job `j` crosses uplink `u`, which may stand for several of one level."""
    g = S.g[0]
    i = g.free_crossing
    C = S.crossings[i - 1]
    U = S.uplinks[u]
    L = S.flows[j]
    g.free_crossing = C.after
    C.job = j
    C.uplink = u
    C.wants = L.demand * times
    C.before = 0
    C.after = U.first
    if U.first > 0:
        S.crossings[U.first - 1].before = i
    U.first = i
    U.rings += 1
    U.load += C.wants
    C.next = L.first
    L.first = i
    _stir(S, u)


@core
def _spans(S: State, j: Int) -> tuple[Int, Int]:
    """Over how many racks and pods job `j` spreads."""
    g = S.g[0]
    g.attempt += 1
    racks = pods = np.int64(0)
    i = S.jobs[j].part
    while i >= 0:
        N = S.nodes[S.parts[i].node]
        if S.racks[N.rack].tally_attempt != g.attempt:
            S.racks[N.rack].tally_attempt = g.attempt
            racks += 1
        if S.pods[N.pod].tally_attempt != g.attempt:
            S.pods[N.pod].tally_attempt = g.attempt
            pods += 1
        i = S.parts[i].next
    return racks, pods


@core
def _cross_levels(S: State, j: Int, racks: Int, pods: Int) -> None:
    """All uplinks of a level stand together as one."""
    _cross(S, j, np.int64(0), S.jobs[j].nodes)
    if racks > 1:
        _cross(S, j, np.int64(1), racks)
    if pods > 1:
        _cross(S, j, np.int64(2), pods)


@core
def _cross_uplinks(S: State, j: Int, racks: Int, pods: Int) -> None:
    g = S.g[0]
    g.attempt += 1
    i = S.jobs[j].part
    while i >= 0:
        n = S.parts[i].node
        N = S.nodes[n]
        _cross(S, j, n, np.int64(1))
        if racks > 1 and S.racks[N.rack].tally_attempt != g.attempt:
            S.racks[N.rack].tally_attempt = g.attempt
            _cross(S, j, S.nodes.shape[0] + N.rack, np.int64(1))
        if pods > 1 and S.pods[N.pod].tally_attempt != g.attempt:
            S.pods[N.pod].tally_attempt = g.attempt
            _cross(S, j, S.nodes.shape[0] + S.racks.shape[0] + N.pod, np.int64(1))
        i = S.parts[i].next


@core
def _join(S: State, j: Int) -> None:
    """Running job `j` sends from now on, if it is on several nodes and its model is known."""
    M = S.models[row_of(S, j)]
    if M.reference <= 0.0 or M.bytes <= 0.0:
        return
    n = S.jobs[j].nodes
    inside, between = communication_s(S, j, M.bytes)
    seconds = between
    if S.g[0].contention == DUTY_CYCLE:
        seconds = with_communication_s(S, j, inside + between, 1.0)
    L = S.flows[j]
    L.demand = max(1.0, np.floor(2.0 * (n - 1) / n * M.bytes / seconds))
    L.share = L.demand
    L.stretch = 1.0
    L.slowdown = 1.0
    racks, pods = _spans(S, j)
    if S.g[0].contention == LEVEL:
        _cross_levels(S, j, racks, pods)
    else:
        _cross_uplinks(S, j, racks, pods)


@core
def _leave(S: State, j: Int) -> None:
    """Job `j` sends no more."""
    L = S.flows[j]
    g = S.g[0]
    i = L.first
    while i > 0:
        C = S.crossings[i - 1]
        U = S.uplinks[C.uplink]
        U.rings -= 1
        U.load -= C.wants
        if C.before > 0:
            S.crossings[C.before - 1].after = C.after
        else:
            U.first = C.after
        if C.after > 0:
            S.crossings[C.after - 1].before = C.before
        _stir(S, C.uplink)
        following = C.next
        C.after = g.free_crossing
        g.free_crossing = i
        i = following
    L.first = 0


@core
def _slow(S: State, j: Int, stretch: float, slowdown: float) -> None:
    """What others do to job `j`; it is rated again if that is new."""
    L = S.flows[j]
    if stretch != L.stretch or slowdown != L.slowdown:
        L.stretch = stretch
        L.slowdown = slowdown
        mark(S, j)


@core
def _gather(S: State, passes_on: bool) -> Int:
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
                        _stir(S, S.crossings[c - 1].uplink)
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
def _fill(S: State, flows: Int) -> None:
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
        _slow(S, j, 1.0, lacks)
    else:
        _slow(S, j, lacks, 1.0)


@core
def _slow_by_its_worst(S: State, j: Int) -> None:
    """The worst of its uplinks decides: by what is wanted of it, or by how many rings cross the node's."""
    worst = 1.0
    i = S.flows[j].first
    while i > 0:
        C = S.crossings[i - 1]
        U = S.uplinks[C.uplink]
        if S.g[0].contention == LEVEL:
            worst = max(worst, U.load / U.capacity)
        elif C.uplink < S.nodes.shape[0]:
            worst = max(worst, U.rings + (U.rings - 1) * S.g[0].penalty)
        i = C.next
    _slow(S, j, worst, 1.0)


@core
def _share(S: State) -> None:
    """Jobs that began to run join; whom the changed uplinks concern gets another share."""
    g = S.g[0]
    for i in range(g.dirty):
        j = S.lists[DIRTY, i]
        J = S.jobs[j]
        if J.state == RUNNING and J.nodes > 1 and S.flows[j].first == 0:
            _join(S, j)
    if g.changed_uplinks == 0:
        return
    if g.contention == LEVEL or g.contention == NODE_LINK:
        for i in range(_gather(S, False)):
            _slow_by_its_worst(S, S.lists[FLOWS, i])
    else:
        _fill(S, _gather(S, True))
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


@apart("int64(int64, int64, int64)")
def network(address: Int, what: Int, j: Int) -> Int:
    """See `records.SHARE`. Answers 0, or which fault `audit` knows by that number."""
    S = open_state(address)
    if what == SHARE:
        _share(S)
    elif what == LEAVE:
        _leave(S, j)
    else:
        return _audit(S)
    return np.int64(0)
