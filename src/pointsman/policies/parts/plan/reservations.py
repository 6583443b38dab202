"""A plan of reservations for waiting jobs, in order.

A reservation is a job, when it begins and ends, and the GPUs of each node; of a job that no GPUs are planned for it
begins never. Two lists have the reservations by their begin and by their end.
"""

from typing import Any, NamedTuple

import numpy as np

from pointsman.policies.sdk import (
    OPEN,
    Int,
    Record,
    State,
    bits,
    core,
    flag,
    number,
    numbers,
    part,
    rows,
    view_of,
    whole,
    wholes,
)

PARTS_PER_JOB, MORE_PARTS = 32, 4096
"""Room for parts: a plan that has no more counts as full."""
MOST_GPUS, POWERS = 64, 32
MOST_SIZE = 131_072
"""Bound on the size of a cluster whose nodes have timelines: eight times its nodes plus four times its GPUs."""


class Reservation(Record):
    """GPUs for a job that waits."""

    job = whole("its slot")
    begin = number("when it begins; infinite if no GPUs are planned for it", unit="ms")
    end = number("when it ends", unit="ms")
    first = whole("the first of its parts")
    parts = whole("how many it has")


class Part(Record):
    """GPUs of a node."""

    node = whole("the node")
    gpus = bits("its GPUs")


class Segment(Record):
    """A time of a node throughout which the same GPUs are open (`timelines`)."""

    begin = number("when it begins", unit="ms")
    gpus = bits("GPUs that are open")
    later = bits("the segment behind it, of the same node; -1")


class Bound(Record):
    """A lower bound on when a node has a number of GPUs open for a length of time (`openings`)."""

    time = number("not before", unit="ms")
    segment = bits("that begins then; -1")


class Plan(Record):
    """Reservations, and what it takes to make them."""

    count = whole("reservations")
    used = whole("parts in use")
    broken = flag("what was planned has not come true")
    left = number("where the window begins (`windows`)", unit="ms")
    right = number("where it ends", unit="ms")
    holder = whole("the first running job whose GPUs are not released at its begin; -1")
    entered = whole("reservations that begin before its end")
    ended = whole("reservations that end by its begin")
    drawn = whole("segments in use; 0: no timelines are drawn")
    known = whole("rows of bounds in use")
    row_of = wholes((MOST_GPUS + 1, POWERS), "1 + the row of bounds, by GPUs of a node and power of two of a time; 0")
    reservations = rows(Reservation, OPEN, "in order of the jobs")
    by_begin = wholes(OPEN, "numbers of the reservations, by their begin")
    by_end = wholes(OPEN, "numbers of the reservations, by their end")
    parts = rows(Part, OPEN, "of all reservations")
    segments = rows(Segment, OPEN, "of all nodes: two of each part, and one of each node and GPU")
    bounds = rows(Bound, OPEN, "a row of the nodes, then another")
    soonest = numbers(OPEN, "scratch of a search: the least times of nodes")


class PlanningMemory(Record):
    """What a policy with a plan keeps."""

    plan = part(Plan, "its plan")


memory = view_of(PlanningMemory)


def plan_lengths(depth: int) -> dict[str, int]:
    """Return the lengths of the open arrays of a memory whose plan has room for `depth` reservations."""
    parts = depth * PARTS_PER_JOB + MORE_PARTS
    lengths = {"reservations": depth, "by_begin": depth, "by_end": depth, "parts": parts}
    search = {"segments": 2 * parts + MOST_SIZE // 4, "bounds": 3 * MOST_SIZE // 8, "soonest": MOST_SIZE // 8}
    return {f"plan.{name}": length for name, length in {**lengths, **search}.items()}


class Reserved(NamedTuple):
    """A reservation of the plan."""

    slot: int
    """Slot of the job."""
    begin_ms: float
    """Infinite if no GPUs are planned for it."""
    gpus: dict[int, int]
    """Mask of the GPUs on each node."""


def reservations_of(memory: Any) -> list[Reserved]:
    """The plan in a policy's memory, in order."""
    plan = PlanningMemory(memory).plan
    return [_reserved(plan, plan.reservations[k]) for k in range(plan.count)]


def _reserved(plan: Plan, reservation: Reservation) -> Reserved:
    parts = [plan.parts[reservation.first + i] for i in range(reservation.parts)]
    return Reserved(int(reservation.job), float(reservation.begin), {int(P.node): int(P.gpus) for P in parts})


@core
def plan_of(S: State) -> Plan:
    """The policy's plan."""
    return memory(S).plan


@core
def planned(S: State) -> Int:
    """How many reservations there are."""
    return plan_of(S).count


@core
def reservation(S: State, k: Int) -> Reservation:
    """Reservation k, in order."""
    return plan_of(S).reservations[k]


@core
def is_full(S: State) -> bool:
    """Whether the plan has no room for one more reservation on any nodes."""
    A = plan_of(S)
    if A.count >= A.reservations.shape[0]:
        return True
    return bool(A.used + S.nodes.shape[0] > max(S.nodes.shape[0], A.parts.shape[0]))


@core
def last_planned(S: State) -> Int:
    """The job of the last reservation; -1 if there is none."""
    n = planned(S)
    return reservation(S, n - 1).job if n > 0 else np.int64(-1)


@core
def drop_plan(S: State) -> None:
    """There are no reservations, and nothing that did not come true."""
    A = plan_of(S)
    A.count = A.used = 0
    A.broken = False
    A.left = A.right = 0.0
    A.holder = A.entered = A.ended = A.drawn = A.known = 0


@core
def break_plan(S: State) -> None:
    """What was planned has not come true: the next cycle plans anew."""
    plan_of(S).broken = True


@core
def is_broken(S: State) -> bool:
    """Whether the plan holds no longer: something did not come true, or its first begin was missed."""
    if plan_of(S).broken:
        return True
    return bool(planned(S) > 0 and first_begin(S) < S.g[0].now)


@core
def first_begin(S: State) -> float:
    """When the first reservation begins; there is one."""
    A = plan_of(S)
    return A.reservations[A.by_begin[0]].begin


@core
def _time(A: Plan, k: Int, begins: bool) -> float:
    """When reservation k begins, or ends."""
    return A.reservations[k].begin if begins else A.reservations[k].end


@core
def _insert(A: Plan, order: Any, k: Int, begins: bool) -> None:
    """Put reservation k, the last, into a list behind all that do not begin, or end, later."""
    i, end = np.int64(0), k
    while i < end:
        middle = (i + end) // 2
        if _time(A, order[middle], begins) <= _time(A, k, begins):
            i = middle + 1
        else:
            end = middle
    for to in range(k, i, -1):
        order[to] = order[to - 1]
    order[i] = k


@core
def add_reservation(S: State, j: Int, begin: float, end: float) -> Int:
    """Reserve the GPUs in State.place for job `j`, behind all others in order; the number of the reservation."""
    A = plan_of(S)
    k = A.count
    R = A.reservations[k]
    R.job, R.begin, R.end = j, begin, end
    R.first, R.parts = A.used, S.g[0].placed
    for i in range(S.g[0].placed):
        P = A.parts[A.used + i]
        P.node, P.gpus = S.place[i].node, S.place[i].mask
    A.used += S.g[0].placed
    A.count += 1
    _insert(A, A.by_begin, k, True)
    _insert(A, A.by_end, k, False)
    return k


@core
def note_place(S: State, k: Int) -> None:
    """The GPUs of reservation k are in State.place, not taken."""
    A, R = plan_of(S), reservation(S, k)
    S.g[0].placed = R.parts
    for i in range(R.parts):
        S.place[i].node = A.parts[R.first + i].node
        S.place[i].mask = A.parts[R.first + i].gpus


@core
def _renumber(S: State, order: Any, number: Int) -> None:
    """Keep in a list the reservations that have a new number in State.lists[number]."""
    kept = np.int64(0)
    for i in range(planned(S)):
        new = S.lists[number, order[i]]
        if new >= 0:
            order[kept] = new
            kept += 1


@core
def _move(A: Plan, k: Int, to: Int, used: Int) -> Int:
    """Reservation k becomes number `to`, its parts from `used` on; how many parts are in use then."""
    R, N = A.reservations[k], A.reservations[to]
    first, many = R.first, R.parts
    for i in range(many):
        A.parts[used + i].node = A.parts[first + i].node
        A.parts[used + i].gpus = A.parts[first + i].gpus
    N.job, N.begin, N.end = R.job, R.begin, R.end
    N.first, N.parts = used, many
    return used + many


@core
def forget_started(S: State, scratch: Int) -> None:
    """Take the reservations of jobs that hold GPUs out of the plan; `scratch` is a row of State.lists for its use."""
    A = plan_of(S)
    kept = used = np.int64(0)
    for k in range(A.count):
        S.lists[scratch, k] = -1
        if S.jobs[A.reservations[k].job].gpus == 0:
            S.lists[scratch, k] = kept
            used = _move(A, np.int64(k), kept, used)
            kept += 1
    _renumber(S, A.by_begin, scratch)
    _renumber(S, A.by_end, scratch)
    A.count = kept
    A.used = used
