"""When a gang first finds GPUs open to it, by the timelines of nodes.

It does so at a release, where a segment of some node begins; so nothing is tried at the releases of other nodes. What
was found to be too early for one gang is noted in a row of lower bounds, one of each node, for all gangs that need as
many GPUs of a node for about as long or longer: GPUs that are not open do not become so while a plan is made.
"""

import numpy as np

from pointsman.policies.parts.plan.reservations import MOST_SIZE, POWERS, Bound, Plan, plan_of
from pointsman.policies.parts.plan.timelines import draw_timelines, first_open, open_at
from pointsman.policies.sdk import Int, State, admits, core, count, lowest_bits
from pointsman.types import Placement

CONSOLIDATED, FIRST_FIT = int(Placement.CONSOLIDATED), int(Placement.FIRST_FIT)


@core
def _power_below(length: float) -> Int:
    """The exponent of the greatest power of two that is at most `length`, which is at least 1."""
    return min((np.float64(length).view(np.int64) >> 52) - 1023, POWERS - 1)


@core
def _bound(S: State, row: Int, n: Int) -> Bound:
    """That of node `n` in a row."""
    return plan_of(S).bounds[row * S.nodes.shape[0] + n]


@core
def _begin_row(S: State, row: Int, like: Int) -> None:
    """The bounds are those of another row; where that is -1, when the first segments begin."""
    for n in range(S.nodes.shape[0]):
        B = _bound(S, row, n)
        if like >= 0:
            B.time, B.segment = _bound(S, like, n).time, _bound(S, like, n).segment
        else:
            s = first_open(S, np.int64(n))
            B.time, B.segment = plan_of(S).segments[s].begin, s


@core
def _row(S: State, gpus: Int, power: Int) -> Int:
    """Return the row of lower bounds for `gpus` GPUs and `2 ** power` ms; begin it if there is none.

    For each node it has a time before which fewer GPUs are open for so long, and the segment that begins then.
    """
    A = plan_of(S)
    if A.row_of[gpus, power] > 0:
        return A.row_of[gpus, power] - 1
    row, like = A.known, power - 1
    while like > 0 and A.row_of[gpus, like] == 0:
        like -= 1
    _begin_row(S, row, A.row_of[gpus, like] - 1 if power > 0 else np.int64(-1))
    if (row + 2) * S.nodes.shape[0] <= A.bounds.shape[0]:  # else the last row is for all that have none
        A.row_of[gpus, power] = row + 1
        A.known += 1
    return row


@core
def _stays_open(A: Plan, s: Int, gpus: Int, end: float) -> bool:
    """Return whether the same `gpus` GPUs or more are open from the begin of segment `s` to `end` (ms)."""
    mask = A.segments[s].gpus
    while count(mask) >= gpus:
        s = A.segments[s].later
        if s < 0 or A.segments[s].begin >= end:
            return True
        mask &= A.segments[s].gpus
    return False


@core
def _next_release(A: Plan, s: Int) -> Int:
    """The next segment behind segment `s` at whose begin a GPU opens; where none does nothing finds a place first."""
    before = A.segments[s].gpus
    s = A.segments[s].later
    while s >= 0 and A.segments[s].gpus & ~before == 0:
        before = A.segments[s].gpus
        s = A.segments[s].later
    return s


@core
def _raise_bound(A: Plan, B: Bound, gpus: Int, length: float, bound: float) -> Int:
    """Raise the bound of a node in a row, if need be up to another; the segment that begins there, or -1."""
    s = B.segment
    while s >= 0 and A.segments[s].begin < bound and not _stays_open(A, s, gpus, A.segments[s].begin + length):
        s = _next_release(A, s)
    if s != B.segment:
        B.segment = s
        B.time = A.segments[s].begin if s >= 0 else np.inf
    return s


@core
def _opening(A: Plan, s: Int, gpus: Int, length: float, time: float, bound: float) -> float:
    """Return when (ms) a node first has `gpus` GPUs open for `length` ms, from segment `s` and `time` on.

    Infinite if that is not before `bound`.
    """
    while s >= 0:
        begin = max(time, A.segments[s].begin)
        if begin >= bound:
            return np.inf
        if _stays_open(A, s, gpus, begin + length):
            return begin
        s = _next_release(A, s)
    return np.inf


@core
def _may_use(S: State, a: Int, n: Int) -> bool:
    return S.nodes[n].state == 0 and admits(S, S.alts[a], S.nodes[n].pool)


@core
def _keep_least(A: Plan, last: Int, time: float) -> None:
    """The least times are in order in `soonest`, up to number `last`; `time` may be one."""
    i = last
    while i > 0 and A.soonest[i - 1] > time:
        A.soonest[i] = A.soonest[i - 1]
        i -= 1
    A.soonest[i] = min(A.soonest[i], time)


@core
def _nodes_open(S: State, a: Int, gpus: Int, many: Int, length: float, time: float) -> float:
    """Return when (ms) the last of `many` nodes first has `gpus` GPUs open for `length` ms, from `time` on.

    This is a lower bound on when all of them have these GPUs open at once.
    """
    if many > S.nodes.shape[0]:
        return np.inf
    A, power, last = plan_of(S), _power_below(length), many - 1
    row, shortest = _row(S, gpus, power), 2.0**power
    for i in range(many):
        A.soonest[i] = np.inf
    for n in range(S.nodes.shape[0]):
        B = _bound(S, row, n)
        if B.time < A.soonest[last] and _may_use(S, a, np.int64(n)):
            s = _raise_bound(A, B, gpus, shortest, A.soonest[last])
            _keep_least(A, last, _opening(A, s, gpus, length, time, A.soonest[last]))
    return A.soonest[last]


@core
def _whole_nodes(gpus: Int, largest: Int) -> Int:
    """How many whole nodes of the largest size a gang takes, before what is left: none if it fits on one."""
    return gpus // largest if gpus > largest else np.int64(0)


@core
def _opening_of(S: State, a: Int, gpus: Int, length: float) -> float:
    """When a gang first finds a place under an alternative: on one node, else on whole nodes and one more."""
    largest = S.alts[a].gpus
    whole = _whole_nodes(gpus, largest)
    rest = gpus - whole * largest
    time = -np.inf
    while True:
        later = _nodes_open(S, a, largest, whole, length, time) if whole > 0 else time
        if rest > 0:
            later = max(later, _nodes_open(S, a, rest, whole + 1, length, time))
        if later == time or later == np.inf or whole == 0:
            return later
        time = later


@core
def _note(S: State, n: Int, mask: Int) -> None:
    i = S.g[0].placed
    S.place[i].node, S.place[i].mask, S.place[i].gpus = n, mask, count(mask)
    S.g[0].placed = i + 1


@core
def _choose(S: State, a: Int, gpus: Int, time: float, length: float) -> None:
    """Note the GPUs of a gang in State.place: the first whole nodes, and of the others the one with the fewest GPUs."""
    largest = S.alts[a].gpus
    whole = _whole_nodes(gpus, largest)
    rest = gpus - whole * largest
    least = rest if rest > 0 else largest
    row = _row(S, least, _power_below(length))
    best, fewest, its = np.int64(-1), np.int64(65), np.int64(0)
    for n in range(S.nodes.shape[0]):
        B = _bound(S, row, n)
        if B.time <= time and _may_use(S, a, np.int64(n)):
            mask = open_at(plan_of(S), B.segment, time, time + length)
            k = count(mask)
            if S.g[0].placed < whole and k == largest:
                _note(S, np.int64(n), mask)
            elif k >= least and k < fewest and (best < 0 or S.g[0].placement == CONSOLIDATED):
                best, fewest, its = np.int64(n), k, mask
    if rest > 0:
        _note(S, best, lowest_bits(its, rest))


@core
def can_find(S: State, c: Int) -> bool:
    """Whether gangs of class `c` are placed by a rule that goes by timelines, and there is room for these."""
    nodes, gpus, placement = S.nodes.shape[0], S.gpus.shape[0], S.g[0].placement
    if S.classes[c].per_node > 0 or 8 * nodes + 4 * gpus >= MOST_SIZE:
        return False
    return placement == CONSOLIDATED or placement == FIRST_FIT


@core
def is_drawn(S: State) -> bool:
    """Whether there are timelines."""
    return bool(plan_of(S).drawn > 0)


@core
def draw(S: State) -> None:
    """Draw the timelines; the index has what is free."""
    draw_timelines(S)
    A = plan_of(S)
    A.known = 0
    for gpus in range(A.row_of.shape[0]):
        for power in range(POWERS):
            A.row_of[gpus, power] = 0


@core
def find_opening(S: State, c: Int, length: float) -> float:
    """When a gang of class `c` first finds GPUs open to it for `length` ms, which are noted in State.place. Never:
    infinite.
    """
    C = S.classes[c]
    best, found = np.inf, np.int64(-1)
    for a in range(C.alt, C.alt_end):
        time = _opening_of(S, np.int64(a), C.gpus, length)
        if time < best:
            best, found = time, np.int64(a)
    S.g[0].placed = 0
    if found >= 0:
        _choose(S, found, C.gpus, best, length)
    return best
