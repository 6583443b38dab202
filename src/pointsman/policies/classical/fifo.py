"""First in, first out: strict, the head blocks.

Waiting jobs stand in one index for each queue, keyed by submit, or by estimate for `sjf`.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.sdk import (
    OK,
    PENDING,
    QUOTA,
    CompiledPolicy,
    Int,
    Knowledge,
    State,
    before,
    core,
    insert,
    over_limit,
    queue_index,
    start,
)

BY_ESTIMATE = 0  # params
HEAD, FREED = 0, 1
"""Of State.memory: 1 + the row of the head that did not fit last time, and how often GPUs had been freed by then."""


class Fifo(CompiledPolicy):
    """Jobs start in the order of their submission; the first that does not fit blocks all behind it."""

    name: ClassVar[str] = "fifo"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = "pointsman.policies.classical.fifo"

    def parameters(self) -> list[float]:
        return [0.0]


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its queue."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        S.jobs[j].key = S.jobs[j].estimate if S.params[BY_ESTIMATE] != 0.0 else 0.0
        S.jobs[j].aux = np.inf
        insert(S, queue_index(S, j), j)


@core
def on_run(S: State, j: Int) -> None:
    """Nothing to know about running jobs."""


@core
def _head(S: State) -> Int:
    """The first waiting job, in order, of the queues that are open."""
    best = np.int64(-1)
    for q in range(S.queues.shape[0]):
        if S.queues[q].closed != S.g[0].pass_id:
            j = S.buckets[S.g[0].classes + q].first
            if j >= 0 and (best < 0 or before(S, j, best)):
                best = j
    return best


@core
def _still_blocked(S: State, j: Int) -> bool:
    """Whether head `j` did not fit, no GPU was freed since, and it does not close its queue instead."""
    return S.memory[HEAD] == S.jobs[j].row + 1 and S.memory[FREED] == S.g[0].freed and not over_limit(S, j)


@core
def _note_blocked(S: State, j: Int) -> None:
    S.memory[HEAD] = S.jobs[j].row + 1
    S.memory[FREED] = S.g[0].freed


@core
def decide(S: State) -> None:
    """Start heads until one does not fit."""
    while True:
        j = _head(S)
        if j < 0 or _still_blocked(S, j):
            return
        reason = start(S, j, OK)
        if reason == QUOTA:
            S.queues[S.jobs[j].queue].closed = S.g[0].pass_id
        elif reason != OK:
            _note_blocked(S, j)
            return
