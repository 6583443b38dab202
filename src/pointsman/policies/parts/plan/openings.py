"""When a gang first finds GPUs open to it, by the timelines of nodes.

It does so at a release, where a segment of some node begins; so nothing is tried at the releases of other nodes. What
was found to be too early for one gang is noted in a row of lower bounds, one of each node, for all gangs that need as
many GPUs of a node for about as long or longer: GPUs that are not open do not become so while a plan is made.
"""

import numpy as np

from pointsman.policies.parts.plan.reservations import (
    MORE_NUMBERS,
    NAMES,
    POWERS,
    ROWS,
    SEGMENTS,
    names_at,
    plan_at,
    rows_at,
)
from pointsman.policies.parts.plan.timelines import TIME, draw_timelines, first_open, next_segment, open_at, open_in
from pointsman.policies.sdk import Int, State, admits, core, count, lowest_bits
from pointsman.types import Placement

CONSOLIDATED, FIRST_FIT = int(Placement.CONSOLIDATED), int(Placement.FIRST_FIT)


@core
def _power_below(length: float) -> Int:
    """The exponent of the greatest power of two that is at most `length`, which is at least 1."""
    return min((np.float64(length).view(np.int64) >> 52) - 1023, POWERS - 1)


@core
def _begin_row(S: State, row: Int, like: Int) -> None:
    """The bounds are those of another row, or when the first segments begin."""
    nodes = np.int64(S.nodes.shape[0])
    if like > 0:
        for i in range(2 * nodes):
            S.memory[row + i] = S.memory[like + i]
        return
    for n in range(nodes):
        s = first_open(S, np.int64(n))
        S.memory[row + n], S.memory[row + nodes + n] = S.memory[s + TIME], np.float64(s)


@core
def _row(S: State, gpus: Int, power: Int) -> Int:
    """Where State.memory has, of each node, a time before which it has not so many GPUs open for `2 ** power` ms, and
    then the segment that begins there.
    """
    at, named = plan_at(S), names_at(S) + gpus * POWERS + power
    if S.memory[named] > 0.0:
        return np.int64(S.memory[named])
    row, size = np.int64(S.memory[at + ROWS]), 2 * S.nodes.shape[0]
    like = named - 1
    while like > named - power and S.memory[like] == 0.0:
        like -= 1
    _begin_row(S, row, np.int64(S.memory[like]) if power > 0 else np.int64(0))
    if row + 3 * size <= S.memory.shape[0]:  # else the last row is for all that have none
        S.memory[named] = np.float64(row)
        S.memory[at + ROWS] += size
    return row


@core
def _stays_open(S: State, s: Int, gpus: Int, end: float) -> bool:
    """Whether so many GPUs are open from segment `s` on up to `end`."""
    mask = open_in(S, s)
    while count(mask) >= gpus:
        s = next_segment(S, s)
        if s < 0 or S.memory[s + TIME] >= end:
            return True
        mask &= open_in(S, s)
    return False


@core
def _next_release(S: State, s: Int) -> Int:
    """The next segment behind segment `s` at whose begin a GPU opens; where none does nothing finds a place first."""
    before = open_in(S, s)
    s = next_segment(S, s)
    while s >= 0 and open_in(S, s) & ~before == 0:
        before = open_in(S, s)
        s = next_segment(S, s)
    return s


@core
def _raise_bound(S: State, row: Int, n: Int, gpus: Int, length: float, bound: float) -> Int:
    """Raise the bound of node `n` in a row, if need be up to another; the segment that begins there, or -1."""
    its = row + S.nodes.shape[0] + n
    first = s = np.int64(S.memory[its])
    while s >= 0 and S.memory[s + TIME] < bound and not _stays_open(S, s, gpus, S.memory[s + TIME] + length):
        s = _next_release(S, s)
    if s != first:
        S.memory[its] = np.float64(s)
        S.memory[row + n] = S.memory[s + TIME] if s >= 0 else np.inf
    return s


@core
def _opening(S: State, s: Int, gpus: Int, length: float, time: float, bound: float) -> float:
    """When a node first has so many GPUs open for `length` ms, from segment `s` and `time` on; infinite if not before
    `bound`.
    """
    while s >= 0:
        begin = max(time, S.memory[s + TIME])
        if begin >= bound:
            return np.inf
        if _stays_open(S, s, gpus, begin + length):
            return begin
        s = _next_release(S, s)
    return np.inf


@core
def _may_use(S: State, a: Int, n: Int) -> bool:
    return S.nodes[n].state == 0 and admits(S, S.alts[a], S.nodes[n].pool)


@core
def _keep_least(S: State, first: Int, last: Int, time: float) -> None:
    """The least times are in order in State.memory[first : last + 1]; `time` may be one."""
    i = last
    while i > first and S.memory[i - 1] > time:
        S.memory[i] = S.memory[i - 1]
        i -= 1
    S.memory[i] = min(S.memory[i], time)


@core
def _nodes_open(S: State, a: Int, gpus: Int, many: Int, length: float, time: float) -> float:
    """When the last of so many nodes first has so many GPUs open for `length` ms, from `time` on: a lower bound on when
    all have.
    """
    if many > S.nodes.shape[0]:
        return np.inf
    power, last = _power_below(length), np.int64(S.memory.shape[0]) - 1
    row, first, shortest = _row(S, gpus, power), last - many + 1, 2.0**power
    for i in range(first, last + 1):
        S.memory[i] = np.inf
    for n in range(S.nodes.shape[0]):
        if S.memory[row + n] < S.memory[last] and _may_use(S, a, np.int64(n)):
            s = _raise_bound(S, row, np.int64(n), gpus, shortest, S.memory[last])
            _keep_least(S, first, last, _opening(S, s, gpus, length, time, S.memory[last]))
    return S.memory[last]


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
        if S.memory[row + n] <= time and _may_use(S, a, np.int64(n)):
            mask = open_at(S, np.int64(S.memory[row + S.nodes.shape[0] + n]), time, time + length)
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
    if S.classes[c].per_node > 0 or 8 * nodes + 4 * gpus >= MORE_NUMBERS:
        return False
    return placement == CONSOLIDATED or placement == FIRST_FIT


@core
def is_drawn(S: State) -> bool:
    """Whether there are timelines."""
    return S.memory[plan_at(S) + SEGMENTS] > 0.0


@core
def draw(S: State) -> None:
    """Draw the timelines; the index has what is free."""
    draw_timelines(S)
    S.memory[plan_at(S) + ROWS] = np.float64(rows_at(S))
    for i in range(names_at(S), names_at(S) + NAMES):
        S.memory[i] = 0.0


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
