"""The policy of my_policy.py, compiled to machine code. Its hooks are the functions of this file."""

from typing import ClassVar

import numpy as np

from pointsman.policies.sdk import (
    ACTIVE,
    OK,
    PENDING,
    QUOTA,
    CompiledPolicy,
    Knowledge,
    block,
    blocked,
    close_queue,
    core,
    enqueue,
    parameter,
    start,
    view_of,
)


class MyCompiledPolicy(CompiledPolicy):
    """Smallest gang first. Once a job has waited for `patience_s`, no other job starts before it."""

    name: ClassVar[str] = "small-first-compiled"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = __file__

    patience_s: float = parameter(86_400.0, "how long small gangs may go first", unit="s", ge=0)


params = view_of(MyCompiledPolicy)


@core
def on_event(S, kind, j):
    """Put a pending job into the index of its demand class, in order of submission."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        enqueue(S, j, 0.0, np.inf)


@core
def on_run(S, j):
    """This policy does not track running jobs."""


@core
def _is_late(S, j):
    return S.g[0].now - S.jobs[j].submit >= params(S).patience_ms


@core
def _goes_before(S, i, j):
    """Late jobs first, in order of submission; then the smaller gang."""
    late = _is_late(S, i)
    if late != _is_late(S, j):
        return late
    if not late and S.jobs[i].asked != S.jobs[j].asked:
        return S.jobs[i].asked < S.jobs[j].asked
    return S.jobs[i].row < S.jobs[j].row


@core
def _next(S):
    """The best of the first jobs of all classes that are not blocked in this cycle; -1 if there is none."""
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if not blocked(S, c):
            j = S.buckets[c].first
            if best < 0 or _goes_before(S, j, best):
                best = j
    return best


@core
def decide(S):
    """Start one job after another; a late job that does not fit ends the cycle, which keeps idle GPUs for it."""
    while True:
        j = _next(S)
        if j < 0:
            return
        reason = start(S, j, OK)
        if reason == QUOTA:
            close_queue(S, j)
        elif reason != OK:
            if _is_late(S, j):
                return
            block(S, S.jobs[j].cls)
