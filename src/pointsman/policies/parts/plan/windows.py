"""Which GPUs are open to a job through a window of time: the index of free GPUs, with the GPUs given that running jobs
will have released by its left end, and those taken whose reservations overlap it.

The window moves, and only what its ends pass changes. `GPU.s0` counts what keeps a GPU from being open. While the left
end is at -inf nothing is released; with the right one there too, the index is as it was.
"""

import numpy as np

from pointsman.policies.parts.plan.reservations import (
    BEGIN,
    END,
    ENDED,
    ENTERED,
    FIRST,
    HOLDER,
    LEFT,
    PARTS,
    RIGHT,
    SEGMENTS,
    by_begin,
    by_end,
    mask_of,
    node_of,
    plan_at,
    planned,
    reservation,
)
from pointsman.policies.parts.plan.timelines import close_reserved
from pointsman.policies.sdk import Int, State, bit, core, count, fits, give, lowest, running_index, take, without_lowest


@core
def _shut(S: State, n: Int, mask: Int) -> None:
    """One more thing keeps these GPUs of node `n` from being open."""
    left, changed = mask, np.int64(0)
    while left != 0:
        g = S.nodes[n].gpu0 + lowest(left)
        if S.gpus[g].s0 == 0.0:
            changed |= bit(lowest(left))
        S.gpus[g].s0 += 1.0
        left = without_lowest(left)
    if changed != 0:
        take(S, n, changed, count(changed))


@core
def _open(S: State, n: Int, mask: Int) -> None:
    """One thing less does."""
    left, changed = mask, np.int64(0)
    while left != 0:
        g = S.nodes[n].gpu0 + lowest(left)
        S.gpus[g].s0 -= 1.0
        if S.gpus[g].s0 == 0.0:
            changed |= bit(lowest(left))
        left = without_lowest(left)
    if changed != 0:
        give(S, n, changed, count(changed))


@core
def begin_windows(S: State) -> None:
    """Both ends are at -inf; what keeps GPUs from being open is counted afresh."""
    for n in range(S.nodes.shape[0]):
        N = S.nodes[n]
        for b in range(N.gpus):
            S.gpus[N.gpu0 + b].s0 = 0.0 if N.free_mask & bit(b) != 0 else 1.0
    at = plan_at(S)
    S.memory[at + LEFT] = S.memory[at + RIGHT] = -np.inf
    S.memory[at + ENTERED] = S.memory[at + ENDED] = S.memory[at + SEGMENTS] = 0.0
    S.memory[at + HOLDER] = np.float64(S.buckets[running_index(S)].first)


@core
def note_holder(S: State, j: Int) -> None:
    """Job `j` has started while nothing was released: its GPUs are not open."""
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        left = P.mask
        while left != 0:
            S.gpus[S.nodes[P.node].gpu0 + lowest(left)].s0 += 1.0
            left = without_lowest(left)
        i = P.next
    S.memory[plan_at(S) + HOLDER] = np.float64(S.buckets[running_index(S)].first)
    S.memory[plan_at(S) + SEGMENTS] = 0.0


@core
def note_reservation(S: State, k: Int) -> None:
    """Reservation k has joined the plan."""
    at, row = plan_at(S), reservation(S, k)
    entered, ended = S.memory[row + BEGIN] < S.memory[at + RIGHT], S.memory[row + END] <= S.memory[at + LEFT]
    if entered:
        S.memory[at + ENTERED] += 1.0
    if ended:
        S.memory[at + ENDED] += 1.0
    if entered and not ended:
        _shut_reservation(S, k)
    close_reserved(S, k)


@core
def _shut_reservation(S: State, k: Int) -> None:
    """The GPUs of reservation k, which overlaps the window, are not open."""
    first = np.int64(S.memory[reservation(S, k) + FIRST])
    for i in range(first, first + np.int64(S.memory[reservation(S, k) + PARTS])):
        _shut(S, node_of(S, i), mask_of(S, i))


@core
def _open_reservation(S: State, k: Int) -> None:
    first = np.int64(S.memory[reservation(S, k) + FIRST])
    for i in range(first, first + np.int64(S.memory[reservation(S, k) + PARTS])):
        _open(S, node_of(S, i), mask_of(S, i))


@core
def _hold(S: State, j: Int, holds: bool) -> None:
    """The GPUs that job `j` holds are not open, or are released."""
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        if holds:
            _shut(S, P.node, P.mask)
        else:
            _open(S, P.node, P.mask)
        i = P.next


@core
def _pass_holders(S: State, time: float) -> None:
    """What jobs hold that are estimated to end by `time` is released, and nothing else."""
    at = plan_at(S) + HOLDER
    j = np.int64(S.memory[at])
    while j >= 0 and S.jobs[j].key <= time:
        _hold(S, j, False)
        j = S.jobs[j].later
    before = S.jobs[j].earlier if j >= 0 else S.buckets[running_index(S)].last
    while before >= 0 and S.jobs[before].key > time:
        j = before
        _hold(S, j, True)
        before = S.jobs[j].earlier
    S.memory[at] = np.float64(j)


@core
def _ending(S: State, i: Int) -> Int:
    return np.int64(S.memory[by_end(S, i)])


@core
def _beginning(S: State, i: Int) -> Int:
    return np.int64(S.memory[by_begin(S, i)])


@core
def move_left_end(S: State, time: float) -> None:
    """The window begins at `time`."""
    _pass_holders(S, time)
    at = plan_at(S)
    right = S.memory[at + RIGHT]
    ended = np.int64(S.memory[at + ENDED])
    while ended < planned(S) and S.memory[reservation(S, _ending(S, ended)) + END] <= time:
        if S.memory[reservation(S, _ending(S, ended)) + BEGIN] < right:
            _open_reservation(S, _ending(S, ended))
        ended += 1
    while ended > 0 and S.memory[reservation(S, _ending(S, ended - 1)) + END] > time:
        ended -= 1
        if S.memory[reservation(S, _ending(S, ended)) + BEGIN] < right:
            _shut_reservation(S, _ending(S, ended))
    S.memory[at + ENDED] = np.float64(ended)
    S.memory[at + LEFT] = time


@core
def move_right_end(S: State, time: float) -> None:
    """The window ends before `time`."""
    at = plan_at(S)
    left = S.memory[at + LEFT]
    entered = np.int64(S.memory[at + ENTERED])
    while entered < planned(S) and S.memory[reservation(S, _beginning(S, entered)) + BEGIN] < time:
        if S.memory[reservation(S, _beginning(S, entered)) + END] > left:
            _shut_reservation(S, _beginning(S, entered))
        entered += 1
    while entered > 0 and S.memory[reservation(S, _beginning(S, entered - 1)) + BEGIN] >= time:
        entered -= 1
        if S.memory[reservation(S, _beginning(S, entered)) + END] > left:
            _open_reservation(S, _beginning(S, entered))
    S.memory[at + ENTERED] = np.float64(entered)
    S.memory[at + RIGHT] = time


@core
def show_all(S: State) -> None:
    """Both ends are at -inf: the index has what is free, reserved or not."""
    move_left_end(S, -np.inf)
    move_right_end(S, -np.inf)


@core
def show_open_now(S: State, length: float) -> None:
    """The index has what is free, and not reserved within `length` ms from now."""
    move_left_end(S, -np.inf)
    move_right_end(S, S.g[0].now + length)


@core
def _next_release(S: State) -> float:
    """When the next GPUs are released or no longer reserved; never: infinite."""
    at = plan_at(S)
    holder, ended = np.int64(S.memory[at + HOLDER]), np.int64(S.memory[at + ENDED])
    time = S.jobs[holder].key if holder >= 0 else np.inf
    if ended < planned(S):
        time = min(time, S.memory[reservation(S, _ending(S, ended)) + END])
    return time


@core
def first_opening(S: State, c: Int, length: float, not_before: float) -> float:
    """When, at a release not before a time, a gang of class `c` first finds GPUs open to it for `length` ms. The window
    is there then. Never: infinite.
    """
    move_left_end(S, not_before - 0.5)
    while True:
        time = _next_release(S)
        if time == np.inf:
            return np.inf
        move_left_end(S, time)
        move_right_end(S, time + length)
        if fits(S, c):
            return time
