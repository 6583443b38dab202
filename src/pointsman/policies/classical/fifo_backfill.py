"""FIFO without head blocking: every job that fits starts, in order; the others wait.

Waiting jobs stand in one index for each class, keyed by submit, or by estimate for `sjf-backfill`.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.sdk import (
    ACTIVE,
    OK,
    PENDING,
    QUOTA,
    CompiledPolicy,
    Int,
    Knowledge,
    State,
    before,
    block,
    blocked,
    close_queue,
    core,
    enqueue,
    fits,
    start,
)

BY_ESTIMATE = 0  # params


class FifoBackfill(CompiledPolicy):
    """Jobs are tried in the order of their submission and start if they fit; none waits for a job ahead of it."""

    name: ClassVar[str] = "fifo-backfill"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = "pointsman.policies.classical.fifo_backfill"

    def parameters(self) -> list[float]:
        return [0.0]


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        enqueue(S, j, S.jobs[j].estimate if S.params[BY_ESTIMATE] != 0.0 else 0.0, np.inf)


@core
def on_run(S: State, j: Int) -> None:
    """Nothing to know about running jobs."""


@core
def _first_that_fits(S: State) -> Int:
    """The first waiting job, in order, that can be placed; classes found not to fit are blocked."""
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if not blocked(S, c):
            if not fits(S, c):
                block(S, c)
            else:
                j = S.buckets[c].first
                if best < 0 or before(S, j, best):
                    best = j
    return best


@core
def decide(S: State) -> None:
    """Start every job that fits, in order."""
    if S.g[0].free == 0 and S.g[0].fractions == 0:
        return
    while True:
        j = _first_that_fits(S)
        if j < 0:
            return
        if start(S, j, OK) == QUOTA:
            close_queue(S, j)
