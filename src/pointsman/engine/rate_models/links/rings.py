"""Which rings cross which uplinks: a job joins with its ring, and leaves."""

import numpy as np

from pointsman.engine.jit.compile import core
from pointsman.engine.rate_models.rates import communication_s, row_of, with_communication_s
from pointsman.engine.state.records import Int, State
from pointsman.types import Contention

LEVEL, DUTY_CYCLE, NODE_LINK = (int(c) for c in (Contention.LEVEL, Contention.DUTY_CYCLE, Contention.NODE_LINK))


@core
def stir(S: State, u: Int) -> None:
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
    stir(S, u)


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
def _uses_cards(S: State, j: Int) -> tuple[bool, bool]:
    """Whether job `j`, on several nodes of a BCube, uses their first cards, and whether their second ones.

    Two nodes of a rack meet on first cards, two of one number on second cards, and any others on both. So among all
    pairs of its nodes none needs the first cards only if all have one number, and none the second if all are in one
    rack.
    """
    i = S.jobs[j].part
    rack = S.nodes[S.parts[i].node].rack
    number = S.parts[i].node % S.g[0].bcube
    first = second = False
    while i >= 0:
        n = S.parts[i].node
        first = first or n % S.g[0].bcube != number
        second = second or S.nodes[n].rack != rack
        i = S.parts[i].next
    return first, second


@core
def _cross_cards(S: State, j: Int) -> None:
    """Uplinks are the first cards of all nodes, then the second; or both kinds stand together, as one each."""
    first, second = _uses_cards(S, j)
    if S.g[0].contention == LEVEL:
        if first:
            _cross(S, j, np.int64(0), S.jobs[j].nodes)
        if second:
            _cross(S, j, np.int64(1), S.jobs[j].nodes)
        return
    i = S.jobs[j].part
    while i >= 0:
        n = S.parts[i].node
        if first:
            _cross(S, j, n, np.int64(1))
        if second:
            _cross(S, j, S.nodes.shape[0] + n, np.int64(1))
        i = S.parts[i].next


@core
def _cross_tree(S: State, j: Int) -> None:
    racks, pods = _spans(S, j)
    if S.g[0].contention == LEVEL:
        _cross_levels(S, j, racks, pods)
    else:
        _cross_uplinks(S, j, racks, pods)


@core
def join(S: State, j: Int) -> None:
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
    if S.g[0].bcube > 0:
        _cross_cards(S, j)
    else:
        _cross_tree(S, j)


@core
def leave(S: State, j: Int) -> None:
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
        stir(S, C.uplink)
        following = C.next
        C.after = g.free_crossing
        g.free_crossing = i
        i = following
    L.first = 0


@core
def worst_uplink(S: State, j: Int) -> float:
    """How many times as long the ring of job `j` takes by the worst of its uplinks: by how many rings cross a card
    under NODE_LINK, else by what is wanted of it.
    """
    worst = 1.0
    i = S.flows[j].first
    while i > 0:
        C = S.crossings[i - 1]
        U = S.uplinks[C.uplink]
        if S.g[0].contention != NODE_LINK:
            worst = max(worst, U.load / U.capacity)
        elif C.uplink < S.nodes.shape[0] or S.g[0].bcube > 0:
            worst = max(worst, U.rings + (U.rings - 1) * S.g[0].penalty)
        i = C.next
    return worst
