"""When each node has which GPUs open: its segments of time, each with the GPUs that throughout it no job holds and no
reservation has. The first segment of every node begins at the first release of all.
"""

import numpy as np

from pointsman.policies.parts.plan.reservations import (
    BEGIN,
    END,
    FIRST,
    PARTS,
    SEGMENT_WIDTH,
    SEGMENTS,
    mask_of,
    node_of,
    plan_at,
    planned,
    reservation,
    segments_at,
)
from pointsman.policies.sdk import Int, State, core, running_index

TIME, OPEN, NEXT = range(SEGMENT_WIDTH)
"""Of a segment, which is named by where it begins in State.memory; all but its time are bits of int64. `NODE.s0` is
the first of a node."""


@core
def next_segment(S: State, s: Int) -> Int:
    """The segment behind segment `s`, of the same node; -1 if there is none."""
    return np.float64(S.memory[s + NEXT]).view(np.int64)


@core
def open_in(S: State, s: Int) -> Int:
    """The GPUs that are open throughout segment `s`."""
    return np.float64(S.memory[s + OPEN]).view(np.int64)


@core
def _bits(number: Int) -> float:
    return np.int64(number).view(np.float64)


@core
def _note(S: State, s: Int, time: float, mask: Int, later: Int) -> None:
    """Segment `s` begins at `time`; segment `later` is behind it."""
    S.memory[s + TIME] = time
    S.memory[s + OPEN], S.memory[s + NEXT] = _bits(mask), _bits(later)


@core
def _add(S: State, s: Int, time: float) -> Int:
    """Segment `s` ends at `time`, and another begins."""
    new = np.int64(S.memory[plan_at(S) + SEGMENTS])
    S.memory[plan_at(S) + SEGMENTS] += SEGMENT_WIDTH
    _note(S, new, time, open_in(S, s), next_segment(S, s))
    S.memory[s + NEXT] = _bits(new)
    return new


@core
def _at(S: State, s: Int, time: float) -> Int:
    """The segment of `time`, from segment `s` on; `s` if that begins later."""
    later = next_segment(S, s)
    while later >= 0 and S.memory[later + TIME] <= time:
        s = later
        later = next_segment(S, s)
    return s


@core
def _cut(S: State, s: Int, time: float) -> Int:
    """The segment that begins at `time`, from segment `s` on; `s` if that begins later."""
    s = _at(S, s, time)
    return _add(S, s, time) if S.memory[s + TIME] < time else s


@core
def _first(S: State, n: Int) -> Int:
    return np.int64(S.nodes[n].s0)


@core
def close_reserved(S: State, k: Int) -> None:
    """The GPUs of reservation k are not open from its begin to its end, if timelines are drawn."""
    if S.memory[plan_at(S) + SEGMENTS] == 0.0:
        return
    row = reservation(S, k)
    first = np.int64(S.memory[row + FIRST])
    for i in range(first, first + np.int64(S.memory[row + PARTS])):
        s = _cut(S, _first(S, node_of(S, i)), S.memory[row + BEGIN])
        end = _cut(S, s, S.memory[row + END])
        while s != end:
            S.memory[s + OPEN] = _bits(open_in(S, s) & ~mask_of(S, i))
            s = next_segment(S, s)


@core
def _first_release(S: State) -> float:
    holder = S.buckets[running_index(S)].first
    time = S.jobs[holder].key if holder >= 0 else np.inf
    for k in range(planned(S)):
        time = min(time, S.memory[reservation(S, np.int64(k)) + END])
    return time


@core
def _begin_segments(S: State) -> None:
    """Every node has one segment, from the first release on, with what the index has."""
    at, time = segments_at(S), _first_release(S)
    for n in range(S.nodes.shape[0]):
        s = at + n * SEGMENT_WIDTH
        S.nodes[n].s0 = np.float64(s)
        _note(S, s, time, S.nodes[n].free_mask, np.int64(-1))
    S.memory[plan_at(S) + SEGMENTS] = np.float64(at + S.nodes.shape[0] * SEGMENT_WIDTH)


@core
def _open_released(S: State) -> None:
    """What jobs hold is open from their estimated ends on."""
    j = S.buckets[running_index(S)].first
    while j >= 0:
        i = S.jobs[j].part
        while i >= 0:
            P = S.parts[i]
            s = _first(S, P.node)
            if S.memory[s + TIME] < S.jobs[j].key:
                s = _add(S, s, S.jobs[j].key)
                S.nodes[P.node].s0 = np.float64(s)  # the last, for now
            S.memory[s + OPEN] = _bits(open_in(S, s) | P.mask)
            i = P.next
        j = S.jobs[j].later


@core
def draw_timelines(S: State) -> None:
    """Draw the timelines; the index has what is free."""
    _begin_segments(S)
    _open_released(S)
    for n in range(S.nodes.shape[0]):
        S.nodes[n].s0 = np.float64(segments_at(S) + n * SEGMENT_WIDTH)
    for k in range(planned(S)):
        close_reserved(S, np.int64(k))


@core
def first_open(S: State, n: Int) -> Int:
    """The first segment of node `n` with an open GPU, which is the first from now on: no GPU will be open before."""
    s = _first(S, n)
    while open_in(S, s) == 0 and next_segment(S, s) >= 0:
        s = next_segment(S, s)
    S.nodes[n].s0 = np.float64(s)
    return s


@core
def open_at(S: State, s: Int, time: float, end: float) -> Int:
    """The GPUs that are open from `time` to `end`, of the node of segment `s`, which begins no later."""
    s = _at(S, s, time)
    mask = open_in(S, s)
    s = next_segment(S, s)
    while mask != 0 and s >= 0 and S.memory[s + TIME] < end:
        mask &= open_in(S, s)
        s = next_segment(S, s)
    return mask
