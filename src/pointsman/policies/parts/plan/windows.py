"""Which GPUs are open to a job through a window of time: the index of free GPUs, with the GPUs given that running jobs
will have released by its left end, and those taken whose reservations overlap it.

The window moves, and only what its ends pass changes. While the left end is at -inf nothing is released; with the right
one there too, the index is as it was.
"""

import numpy as np

from pointsman.policies.parts.plan.reservations import plan_of
from pointsman.policies.parts.plan.timelines import close_reserved
from pointsman.policies.sdk import (
    Int,
    OfGpu,
    State,
    bit,
    core,
    count,
    fits,
    give,
    lowest,
    running_index,
    take,
    view_of,
    whole,
    without_lowest,
)


class Window(OfGpu):
    """What is kept of a GPU."""

    shut_by = whole("how many things keep it from being open")


gpu = view_of(Window)


@core
def _shut(S: State, n: Int, mask: Int) -> None:
    """One more thing keeps these GPUs of node `n` from being open."""
    left, changed = mask, np.int64(0)
    while left != 0:
        G = gpu(S, S.nodes[n].gpu0 + lowest(left))
        if G.shut_by == 0:
            changed |= bit(lowest(left))
        G.shut_by += 1
        left = without_lowest(left)
    if changed != 0:
        take(S, n, changed, count(changed))


@core
def _open(S: State, n: Int, mask: Int) -> None:
    """One thing less does."""
    left, changed = mask, np.int64(0)
    while left != 0:
        G = gpu(S, S.nodes[n].gpu0 + lowest(left))
        G.shut_by -= 1
        if G.shut_by == 0:
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
            gpu(S, N.gpu0 + b).shut_by = 0 if N.free_mask & bit(b) != 0 else 1
    A = plan_of(S)
    A.left = A.right = -np.inf
    A.entered = A.ended = A.drawn = 0
    A.holder = S.buckets[running_index(S)].first


@core
def note_holder(S: State, j: Int) -> None:
    """Job `j` has started while nothing was released: its GPUs are not open."""
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        left = P.mask
        while left != 0:
            gpu(S, S.nodes[P.node].gpu0 + lowest(left)).shut_by += 1
            left = without_lowest(left)
        i = P.next
    plan_of(S).holder = S.buckets[running_index(S)].first
    plan_of(S).drawn = 0


@core
def note_reservation(S: State, k: Int) -> None:
    """Reservation k has joined the plan."""
    A = plan_of(S)
    entered, ended = A.reservations[k].begin < A.right, A.reservations[k].end <= A.left
    if entered:
        A.entered += 1
    if ended:
        A.ended += 1
    if entered and not ended:
        _shut_reservation(S, k)
    close_reserved(S, k)


@core
def _shut_reservation(S: State, k: Int) -> None:
    """The GPUs of reservation k, which overlaps the window, are not open."""
    A, R = plan_of(S), plan_of(S).reservations[k]
    for i in range(R.first, R.first + R.parts):
        _shut(S, A.parts[i].node, A.parts[i].gpus)


@core
def _open_reservation(S: State, k: Int) -> None:
    A, R = plan_of(S), plan_of(S).reservations[k]
    for i in range(R.first, R.first + R.parts):
        _open(S, A.parts[i].node, A.parts[i].gpus)


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
    j = plan_of(S).holder
    while j >= 0 and S.jobs[j].key <= time:
        _hold(S, j, False)
        j = S.jobs[j].later
    before = S.jobs[j].earlier if j >= 0 else S.buckets[running_index(S)].last
    while before >= 0 and S.jobs[before].key > time:
        j = before
        _hold(S, j, True)
        before = S.jobs[j].earlier
    plan_of(S).holder = j


@core
def move_left_end(S: State, time: float) -> None:
    """The window begins at `time`."""
    _pass_holders(S, time)
    A = plan_of(S)
    right, ended = A.right, A.ended
    while ended < A.count and A.reservations[A.by_end[ended]].end <= time:
        if A.reservations[A.by_end[ended]].begin < right:
            _open_reservation(S, A.by_end[ended])
        ended += 1
    while ended > 0 and A.reservations[A.by_end[ended - 1]].end > time:
        ended -= 1
        if A.reservations[A.by_end[ended]].begin < right:
            _shut_reservation(S, A.by_end[ended])
    A.ended = ended
    A.left = time


@core
def move_right_end(S: State, time: float) -> None:
    """The window ends before `time`."""
    A = plan_of(S)
    left, entered = A.left, A.entered
    while entered < A.count and A.reservations[A.by_begin[entered]].begin < time:
        if A.reservations[A.by_begin[entered]].end > left:
            _shut_reservation(S, A.by_begin[entered])
        entered += 1
    while entered > 0 and A.reservations[A.by_begin[entered - 1]].begin >= time:
        entered -= 1
        if A.reservations[A.by_begin[entered]].end > left:
            _open_reservation(S, A.by_begin[entered])
    A.entered = entered
    A.right = time


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
    A = plan_of(S)
    time = S.jobs[A.holder].key if A.holder >= 0 else np.inf
    if A.ended < A.count:
        time = min(time, A.reservations[A.by_end[A.ended]].end)
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
