"""Placers whose jobs do not wait for ever: those that have waited too long go first, and GPUs are reserved for them.

A cycle has three phases. Overdue jobs are tried, and those that do not take what is free become heads; jobs that are
predicted to end by the shadow times of heads start on any GPUs; the others start on GPUs that are not reserved.
"""

import numpy as np

from pointsman.policies.parts.backfill import has_room
from pointsman.policies.parts.reserving.overdue_heads import (
    HEAD_MEMORY,
    HEAD_PARAMS,
    become_head,
    first_overdue,
    longest_in_time,
    next_overdue,
    ratio_to_come,
)
from pointsman.policies.parts.reserving.reserved_gpus import hide_reserved, unhide_reserved
from pointsman.policies.placers.waiting.patience import BY_ESTIMATE, takes_what_is_free
from pointsman.policies.sdk import ACTIVE, Int, State, before, blocked, close_queue, cold, core, over_limit

HEADS = BY_ESTIMATE + 1
"""Where the parameters of the part begin in State.params."""
AFTER_HEADS = HEADS + HEAD_PARAMS
OVERDUE = 2048
"""Where State.memory has what the part keeps, and behind it:"""
PHASE, NEXT, RATIO = OVERDUE + HEAD_MEMORY, OVERDUE + HEAD_MEMORY + 1, OVERDUE + HEAD_MEMORY + 2
"""Phase of this cycle; the overdue job to try next, as slot + 1; how many times its estimate a job runs."""
BEGIN, TRY_OVERDUE, FILL, REST = 0.0, 1.0, 2.0, 3.0


@core
def _next_overdue(S: State) -> Int:
    """The next overdue job that takes what is free; -1 if there is none. Those before it that do not are heads."""
    while True:
        j = next_overdue(S, np.int64(S.memory[NEXT]) - 1)
        if j < 0:
            return j
        S.memory[NEXT] = S.jobs[j].behind + 1.0
        if over_limit(S, j):
            close_queue(S, j)
        elif takes_what_is_free(S, j, S.jobs[j].cls):
            return j
        else:
            become_head(S, j, np.int64(HEADS))


@core
def _first_in_time(S: State, c: Int) -> Int:
    """The first job of class `c` that takes what is free, was not told to wait (until its s1), and ends by the shadow
    times of heads; -1 if there is none.
    """
    longest = longest_in_time(S, c, S.memory[RATIO])
    if longest < 0.0 or blocked(S, c) or not has_room(S, c):
        return np.int64(-1)
    j = np.int64(S.buckets[c].first)
    while j >= 0 and (S.jobs[j].estimate > longest or S.jobs[j].s1 > S.g[0].now or not takes_what_is_free(S, j, c)):
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
    M = S.memory
    if M[PHASE] == BEGIN:
        S.g[0].reserved = 0
        M[NEXT] = first_overdue(S, np.int64(OVERDUE)) + 1.0
        M[PHASE] = TRY_OVERDUE
    if M[PHASE] == TRY_OVERDUE:
        j = _next_overdue(S)
        if j >= 0:
            return j
        M[RATIO] = ratio_to_come(S, np.int64(HEADS), np.int64(OVERDUE))
        M[PHASE] = FILL if S.g[0].reserved > 0 else REST
    if M[PHASE] == FILL:
        j = _next_in_time(S)
        if j >= 0:
            return j
        hide_reserved(S)
        M[PHASE] = REST
    return np.int64(-1)


@core
def end_cycle(S: State) -> None:
    """No job starts any more: GPUs that were hidden are free again."""
    if S.memory[PHASE] == REST:
        unhide_reserved(S)
    S.memory[PHASE] = BEGIN
