"""A job joins the plan, where the first GPUs open to it for long enough; and whether one behind it may still start now.

Where a rule of placement goes by timelines, these say when. Elsewhere a window is moved from release to release.
"""

import numpy as np

from pointsman.policies.parts.plan.openings import can_find, draw, find_opening, is_drawn
from pointsman.policies.parts.plan.reservations import add_reservation, plan_of
from pointsman.policies.parts.plan.windows import (
    first_opening,
    move_right_end,
    note_reservation,
    show_all,
    show_open_now,
)
from pointsman.policies.sdk import ACTIVE, LARGEST, VICTIMS, Int, State, blocked, core, fits, note_place, place, unplace


@core
def _not_before(S: State, j: Int) -> float:
    """A time before which job `j` cannot start: when one of the plan begins that asks for no more GPUs of the same, for
    no longer. Without any: -inf.
    """
    C = S.classes[S.jobs[j].cls]
    latest = -np.inf
    A = plan_of(S)
    for k in range(A.count):
        R = A.reservations[k]
        P = S.jobs[R.job]
        no_more = P.aux <= S.jobs[j].aux and S.classes[P.cls].gpus <= C.gpus and S.classes[P.cls].group == C.group
        if no_more and R.begin > latest:
            latest = R.begin
    return latest


@core
def _find(S: State, j: Int, length: float) -> float:
    """When job `j` first finds GPUs open to it for `length` ms, which are noted in State.place."""
    c = S.jobs[j].cls
    if can_find(S, c):
        if not is_drawn(S):
            show_all(S)
            draw(S)
        return find_opening(S, c, length)
    begin = first_opening(S, c, length, _not_before(S, j))
    S.g[0].placed = 0
    if begin < np.inf:
        note_place(S, c)
    return begin


@core
def join_plan(S: State, j: Int, length: float) -> None:
    """Job `j`, which takes `length` ms, joins the plan; its GPUs are noted in State.place."""
    begin = _find(S, j, length)
    note_reservation(S, add_reservation(S, j, begin, begin + length))


@core
def has_place_now(S: State, j: Int, length: float) -> bool:
    """Whether job `j` has a place on GPUs that are open from now on for `length` ms, noted in State.reserve."""
    show_open_now(S, length)
    found = place(S, S.jobs[j].cls)
    S.g[0].reserved = S.g[0].placed if found else 0
    for i in range(S.g[0].reserved):
        S.reserve[i].node, S.reserve[i].mask = S.place[i].node, S.place[i].mask
    unplace(S)
    return found


@core
def _takes_its_place(S: State) -> bool:
    """Whether GPUs in State.place are in State.reserve."""
    for i in range(S.g[0].placed):
        for k in range(S.g[0].reserved):
            if S.place[i].node == S.reserve[k].node and S.place[i].mask & S.reserve[k].mask != 0:
                return True
    return False


@core
def may_still_start(S: State, j: Int, length: float) -> bool:
    """Whether job `j` could start now in spite of the last reservation, whose GPUs are in State.place: where it could
    before, or elsewhere.
    """
    A = plan_of(S)
    begin = A.reservations[A.count - 1].begin
    if begin >= S.g[0].now + length or not _takes_its_place(S):
        return True
    return has_place_now(S, j, length)


@core
def _bound_what_fits_no_more(S: State, bound: Int) -> Int:
    """Classes without a place on what the window shows have `bound`; how many have one."""
    left = np.int64(0)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if S.classes[c].fits == LARGEST:
            if fits(S, c):
                left += 1
            else:
                S.classes[c].fits = bound
    return left


@core
def find_bounds(S: State) -> None:
    """Note in `fits` for how many ms a job of each class could hold GPUs that are free now without delaying the
    plan: LARGEST if for ever, 0 if it cannot be placed.
    """
    show_all(S)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        S.classes[c].fits = LARGEST if S.lists[VICTIMS, c] >= 0 and not blocked(S, c) else 0
    left, free = _bound_what_fits_no_more(S, np.int64(0)), S.g[0].free
    A = plan_of(S)
    for k in range(A.count):
        begin = A.reservations[A.by_begin[k]].begin
        if left == 0 or begin == np.inf:
            return
        move_right_end(S, begin + 1.0)
        if S.g[0].free < free:
            free = S.g[0].free
            left = _bound_what_fits_no_more(S, np.int64(begin) - S.g[0].now)
