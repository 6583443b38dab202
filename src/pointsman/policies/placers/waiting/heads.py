"""Placers whose jobs do not wait for ever: those that have waited too long go first, and GPUs are reserved for them.

A cycle has three phases. Overdue jobs are tried, and those that do not take what is free become heads; jobs that are
predicted to end by the shadow times of heads start on any GPUs; the others start on GPUs that are not reserved.
"""

import numpy as np

from pointsman.policies.parts.backfill import has_room
from pointsman.policies.parts.reserving.overdue_heads import (
    become_head,
    first_overdue,
    longest_in_time,
    next_overdue,
    ratio_to_come,
)
from pointsman.policies.parts.reserving.reserved_gpus import hide_reserved, unhide_reserved
from pointsman.policies.placers.declared import PlacerMemory, WhileWaiting
from pointsman.policies.placers.waiting.patience import takes_what_is_free
from pointsman.policies.sdk import ACTIVE, Int, State, before, blocked, close_queue, cold, core, over_limit, view_of

memory = view_of(PlacerMemory)
waiting = view_of(WhileWaiting)
BEGIN, TRY_OVERDUE, FILL, REST = range(4)


@core
def _next_overdue(S: State) -> Int:
    """The next overdue job that takes what is free; -1 if there is none. Those before it that do not are heads."""
    while True:
        j = next_overdue(S, memory(S).next_overdue - 1)
        if j < 0:
            return j
        memory(S).next_overdue = S.jobs[j].behind + 1
        if over_limit(S, j):
            close_queue(S, j)
        elif takes_what_is_free(S, j, S.jobs[j].cls):
            return j
        else:
            become_head(S, j)


@core
def _is_too_late(S: State, j: Int, longest: float) -> bool:
    """Whether waiting job `j` would end too late, or was told to wait."""
    return bool(S.jobs[j].estimate > longest or waiting(S, j).again_ms > S.g[0].now)


@core
def _first_in_time(S: State, c: Int) -> Int:
    """The first job of class `c` that takes what is free, was not told to wait, and ends by the shadow
    times of heads; -1 if there is none.
    """
    longest = longest_in_time(S, c, memory(S).ratio)
    if longest < 0.0 or blocked(S, c) or not has_room(S, c):
        return np.int64(-1)
    j = np.int64(S.buckets[c].first)
    while j >= 0 and (_is_too_late(S, j, longest) or not takes_what_is_free(S, j, c)):
        j = S.jobs[j].later
    return j


@core
def _next_in_time(S: State) -> Int:
    """The first such job of all, in order, whose queue has room; -1 if there is none."""
    while True:
        best = np.int64(-1)
        for i in range(S.g[0].active):
            j = _first_in_time(S, S.lists[ACTIVE, i])
            if j >= 0 and (best < 0 or before(S, j, best)):
                best = j
        if best < 0 or not over_limit(S, best):
            return best
        close_queue(S, best)


@cold
def next_around_heads(S: State) -> Int:
    """The next job of the first two phases; -1 if the third has begun."""
    M = memory(S)
    if M.phase == BEGIN:
        S.g[0].reserved = 0
        M.next_overdue = first_overdue(S) + 1
        M.phase = TRY_OVERDUE
    if M.phase == TRY_OVERDUE:
        j = _next_overdue(S)
        if j >= 0:
            return j
        M.ratio = ratio_to_come(S)
        M.phase = FILL if S.g[0].reserved > 0 else REST
    if M.phase == FILL:
        j = _next_in_time(S)
        if j >= 0:
            return j
        hide_reserved(S)
        M.phase = REST
    return np.int64(-1)


@core
def end_cycle(S: State) -> None:
    """No job starts any more: GPUs that were hidden are free again."""
    if memory(S).phase == REST:
        unhide_reserved(S)
    memory(S).phase = BEGIN
