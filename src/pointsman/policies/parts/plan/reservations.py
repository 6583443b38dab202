"""A plan of reservations for waiting jobs, in order, as rows at the end of a policy's memory.

A reservation is a job, when it begins and ends, and the GPUs of each node; of a job that no GPUs are planned for it
begins never. Two lists have the reservations by their begin and by their end.
"""

from typing import Any, NamedTuple

import numpy as np

from pointsman.policies.sdk import Int, State, core

DEPTH = 2
"""Of State.params: how many reservations there may be."""
COUNT, USED, BROKEN, LEFT, RIGHT, HOLDER, ENTERED, ENDED, SEGMENTS, ROWS, HEADER = range(11)
"""Before the rows: how many reservations there are, and rows of parts in use; whether what was planned has not come
true; five of the window (`windows`); where the next segment goes, 0 if there are none (`timelines`), and the next row
(`openings`)."""
JOB, BEGIN, END, FIRST, PARTS, WIDTH = range(6)
NODE, LOW, HIGH, PART_WIDTH = range(4)
HALF = 32
"""Bits of a mask in one number: float64 has no room for 64."""
PARTS_PER_JOB, MORE_PARTS = 32, 4096
"""Room for parts: a plan that has no more counts as full."""
SEGMENT_WIDTH, MOST_GPUS, POWERS, MORE_NUMBERS = 3, 64, 32, 131_072
"""Room for segments: two of each part, and one of each node and GPU; for the names of rows; for these, and others."""

WIDTHS, NAMES = PART_WIDTH + 2 * SEGMENT_WIDTH, (MOST_GPUS + 1) * POWERS


def plan_size(depth: int) -> int:
    """Numbers of a policy's memory that a plan of so many reservations takes."""
    return HEADER + depth * (WIDTH + 2) + (depth * PARTS_PER_JOB + MORE_PARTS) * WIDTHS + NAMES + MORE_NUMBERS


class Reserved(NamedTuple):
    """A reservation of the plan."""

    slot: int
    """Of the job."""
    begin_ms: float
    """Infinite if no GPUs are planned for it."""
    gpus: dict[int, int]
    """Mask of the GPUs on each node."""


def reservations_of(state: Any, depth: int) -> list[Reserved]:
    """The plan in a policy's memory, in order."""
    plan = state.memory[len(state.memory) - plan_size(depth) :]
    rows = plan[HEADER : HEADER + WIDTH * depth].reshape(-1, WIDTH)[: int(plan[COUNT])]
    parts = plan[HEADER + (WIDTH + 2) * depth :][: (depth * PARTS_PER_JOB + MORE_PARTS) * PART_WIDTH]
    parts = parts.reshape(-1, PART_WIDTH)
    return [
        Reserved(int(row[JOB]), float(row[BEGIN]), _gpus_of(parts[int(row[FIRST]) :][: int(row[PARTS])]))
        for row in rows
    ]


def _gpus_of(parts: Any) -> dict[int, int]:
    return {int(node): int(low) | (int(high) & ((1 << HALF) - 1)) << HALF for node, low, high in parts}


@core
def _depth(S: State) -> Int:
    return np.int64(S.params[DEPTH])


@core
def _parts_there_may_be(S: State) -> Int:
    return _depth(S) * PARTS_PER_JOB + MORE_PARTS


@core
def plan_at(S: State) -> Int:
    """Where the plan begins in State.memory."""
    parts = _parts_there_may_be(S)
    return np.int64(S.memory.shape[0]) - (HEADER + _depth(S) * (WIDTH + 2) + parts * WIDTHS + NAMES + MORE_NUMBERS)


@core
def planned(S: State) -> Int:
    """How many reservations there are."""
    return np.int64(S.memory[plan_at(S) + COUNT])


@core
def reservation(S: State, k: Int) -> Int:
    """Where the row of reservation k, in order, begins in State.memory."""
    return plan_at(S) + HEADER + WIDTH * k


@core
def by_begin(S: State, i: Int) -> Int:
    """Where State.memory has the i-th reservation by its begin."""
    return reservation(S, _depth(S)) + i


@core
def by_end(S: State, i: Int) -> Int:
    """Where State.memory has the i-th reservation by its end."""
    return by_begin(S, _depth(S)) + i


@core
def part(S: State, i: Int) -> Int:
    """Where the row of part i begins in State.memory."""
    return by_end(S, _depth(S)) + PART_WIDTH * i


@core
def names_at(S: State) -> Int:
    """Where the places of rows begin in State.memory."""
    return part(S, _parts_there_may_be(S))


@core
def segments_at(S: State) -> Int:
    """Where the segments begin in State.memory."""
    return names_at(S) + NAMES


@core
def rows_at(S: State) -> Int:
    """Where the rows begin in State.memory."""
    segments = S.nodes.shape[0] + S.gpus.shape[0] + 2 * _parts_there_may_be(S)
    return segments_at(S) + segments * SEGMENT_WIDTH


@core
def node_of(S: State, i: Int) -> Int:
    """The node of part i."""
    return np.int64(S.memory[part(S, i) + NODE])


@core
def mask_of(S: State, i: Int) -> Int:
    """The GPUs of part i."""
    at = part(S, i)
    return np.int64(S.memory[at + LOW]) | (np.int64(S.memory[at + HIGH]) << HALF)


@core
def is_full(S: State) -> bool:
    """Whether the plan has no room for one more reservation on any nodes."""
    used = S.memory[plan_at(S) + USED]
    return bool(planned(S) >= _depth(S) or used + S.nodes.shape[0] > max(S.nodes.shape[0], _parts_there_may_be(S)))


@core
def last_planned(S: State) -> Int:
    """The job of the last reservation; -1 if there is none."""
    n = planned(S)
    return np.int64(S.memory[reservation(S, n - 1) + JOB]) if n > 0 else np.int64(-1)


@core
def drop_plan(S: State) -> None:
    """There are no reservations, and nothing that did not come true."""
    at = plan_at(S)
    for i in range(HEADER):
        S.memory[at + i] = 0.0


@core
def break_plan(S: State) -> None:
    """What was planned has not come true: the next cycle plans anew."""
    S.memory[plan_at(S) + BROKEN] = 1.0


@core
def is_broken(S: State) -> bool:
    """Whether the plan holds no longer: something did not come true, or its first begin was missed."""
    if S.memory[plan_at(S) + BROKEN] != 0.0:
        return True
    return bool(planned(S) > 0 and first_begin(S) < S.g[0].now)


@core
def first_begin(S: State) -> float:
    """When the first reservation begins; there is one."""
    return S.memory[reservation(S, np.int64(S.memory[by_begin(S, np.int64(0))])) + BEGIN]


@core
def _insert(S: State, k: Int, begins: bool) -> None:
    """Put reservation k, the last, into a list behind all that are not later."""
    field = BEGIN if begins else END
    i, end = np.int64(0), k
    while i < end:
        middle = (i + end) // 2
        other = S.memory[by_begin(S, middle) if begins else by_end(S, middle)]
        if S.memory[reservation(S, np.int64(other)) + field] <= S.memory[reservation(S, k) + field]:
            i = middle + 1
        else:
            end = middle
    at = by_begin(S, i) if begins else by_end(S, i)
    for to in range(at + k - i, at, -1):
        S.memory[to] = S.memory[to - 1]
    S.memory[at] = np.float64(k)


@core
def add_reservation(S: State, j: Int, begin: float, end: float) -> Int:
    """Reserve the GPUs in State.place for job `j`, behind all others in order; the number of the reservation."""
    at = plan_at(S)
    k = planned(S)
    row = reservation(S, k)
    used = np.int64(S.memory[at + USED])
    S.memory[row + JOB] = np.float64(j)
    S.memory[row + BEGIN], S.memory[row + END] = begin, end
    S.memory[row + FIRST], S.memory[row + PARTS] = np.float64(used), np.float64(S.g[0].placed)
    for i in range(S.g[0].placed):
        to = part(S, used + i)
        S.memory[to + NODE] = np.float64(S.place[i].node)
        S.memory[to + LOW] = np.float64(S.place[i].mask & ((np.int64(1) << HALF) - 1))
        S.memory[to + HIGH] = np.float64(S.place[i].mask >> HALF)
    S.memory[at + USED] += S.g[0].placed
    S.memory[at + COUNT] += 1.0
    _insert(S, k, True)
    _insert(S, k, False)
    return k


@core
def note_place(S: State, k: Int) -> None:
    """The GPUs of reservation k are in State.place, not taken."""
    row = reservation(S, k)
    first = np.int64(S.memory[row + FIRST])
    S.g[0].placed = np.int64(S.memory[row + PARTS])
    for i in range(S.g[0].placed):
        S.place[i].node = node_of(S, first + i)
        S.place[i].mask = mask_of(S, first + i)


@core
def _renumber(S: State, begins: bool, number: Int) -> None:
    """Keep in a list the reservations that have a new number in State.lists[number]."""
    kept = np.int64(0)
    for i in range(planned(S)):
        old = by_begin(S, i) if begins else by_end(S, i)
        new = S.lists[number, np.int64(S.memory[old])]
        if new >= 0:
            S.memory[by_begin(S, kept) if begins else by_end(S, kept)] = np.float64(new)
            kept += 1


@core
def _move(S: State, k: Int, to: Int, used: Int) -> Int:
    """Reservation k becomes number `to`, its parts from `used` on; how many parts are in use then."""
    row, new = reservation(S, k), reservation(S, to)
    first, many = np.int64(S.memory[row + FIRST]), np.int64(S.memory[row + PARTS])
    for i in range(many * PART_WIDTH):
        S.memory[part(S, used) + i] = S.memory[part(S, first) + i]
    for i in range(WIDTH):
        S.memory[new + i] = S.memory[row + i]
    S.memory[new + FIRST] = np.float64(used)
    return used + many


@core
def forget_started(S: State, scratch: Int) -> None:
    """Take the reservations of jobs that hold GPUs out of the plan; `scratch` is a row of State.lists for its use."""
    kept = used = np.int64(0)
    for k in range(planned(S)):
        S.lists[scratch, k] = -1
        if S.jobs[np.int64(S.memory[reservation(S, k) + JOB])].gpus == 0:
            S.lists[scratch, k] = kept
            used = _move(S, np.int64(k), kept, used)
            kept += 1
    _renumber(S, True, scratch)
    _renumber(S, False, scratch)
    S.memory[plan_at(S) + COUNT] = np.float64(kept)
    S.memory[plan_at(S) + USED] = np.float64(used)
