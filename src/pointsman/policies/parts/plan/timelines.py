"""When each node has which GPUs open: its segments of time, each with the GPUs that throughout it no job holds and no
reservation has. The first segment of every node begins at the first release of all.
"""

import numpy as np

from pointsman.policies.parts.plan.reservations import Plan, plan_of
from pointsman.policies.sdk import Int, OfNode, State, core, running_index, view_of, whole


class Timeline(OfNode):
    """What is kept of a node."""

    first = whole("its first segment")


node = view_of(Timeline)


@core
def _note(A: Plan, s: Int, begin: float, gpus: Int, later: Int) -> None:
    """Segment `s` begins at `begin`; segment `later` is behind it."""
    G = A.segments[s]
    G.begin, G.gpus, G.later = begin, gpus, later


@core
def _add(A: Plan, s: Int, time: float) -> Int:
    """Segment `s` ends at `time`, and another begins."""
    new = A.drawn
    A.drawn += 1
    _note(A, new, time, A.segments[s].gpus, A.segments[s].later)
    A.segments[s].later = new
    return new


@core
def _at(A: Plan, s: Int, time: float) -> Int:
    """The segment of `time`, from segment `s` on; `s` if that begins later."""
    later = A.segments[s].later
    while later >= 0 and A.segments[later].begin <= time:
        s = later
        later = A.segments[s].later
    return s


@core
def _cut(A: Plan, s: Int, time: float) -> Int:
    """The segment that begins at `time`, from segment `s` on; `s` if that begins later."""
    s = _at(A, s, time)
    return _add(A, s, time) if A.segments[s].begin < time else s


@core
def close_reserved(S: State, k: Int) -> None:
    """The GPUs of reservation k are not open from its begin to its end, if timelines are drawn."""
    A = plan_of(S)
    if A.drawn == 0:
        return
    R = A.reservations[k]
    for i in range(R.first, R.first + R.parts):
        P = A.parts[i]
        s = _cut(A, node(S, P.node).first, R.begin)
        end = _cut(A, s, R.end)
        while s != end:
            A.segments[s].gpus &= ~P.gpus
            s = A.segments[s].later


@core
def _first_release(S: State) -> float:
    A = plan_of(S)
    holder = S.buckets[running_index(S)].first
    time = S.jobs[holder].key if holder >= 0 else np.inf
    for k in range(A.count):
        time = min(time, A.reservations[k].end)
    return time


@core
def _begin_segments(S: State) -> None:
    """Every node has one segment, from the first release on, with what the index has."""
    A, time = plan_of(S), _first_release(S)
    for n in range(S.nodes.shape[0]):
        node(S, n).first = n
        _note(A, np.int64(n), time, S.nodes[n].free_mask, np.int64(-1))
    A.drawn = S.nodes.shape[0]


@core
def _open_released(S: State) -> None:
    """What jobs hold is open from their estimated ends on."""
    A = plan_of(S)
    j = S.buckets[running_index(S)].first
    while j >= 0:
        i = S.jobs[j].part
        while i >= 0:
            P = S.parts[i]
            s = node(S, P.node).first
            if A.segments[s].begin < S.jobs[j].key:
                s = _add(A, s, S.jobs[j].key)
                node(S, P.node).first = s  # the last, for now
            A.segments[s].gpus |= P.mask
            i = P.next
        j = S.jobs[j].later


@core
def draw_timelines(S: State) -> None:
    """Draw the timelines; the index has what is free."""
    _begin_segments(S)
    _open_released(S)
    for n in range(S.nodes.shape[0]):
        node(S, n).first = n
    for k in range(plan_of(S).count):
        close_reserved(S, np.int64(k))


@core
def first_open(S: State, n: Int) -> Int:
    """The first segment of node `n` with an open GPU, which is the first from now on: no GPU will be open before."""
    A, s = plan_of(S), node(S, n).first
    while A.segments[s].gpus == 0 and A.segments[s].later >= 0:
        s = A.segments[s].later
    node(S, n).first = s
    return s


@core
def open_at(A: Plan, s: Int, time: float, end: float) -> Int:
    """The GPUs that are open from `time` to `end`, of the node of segment `s`, which begins no later."""
    s = _at(A, s, time)
    mask = A.segments[s].gpus
    s = A.segments[s].later
    while mask != 0 and s >= 0 and A.segments[s].begin < end:
        mask &= A.segments[s].gpus
        s = A.segments[s].later
    return mask
