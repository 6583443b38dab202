"""FIFO without head blocking: every job that fits starts, in order; the others wait.

Waiting jobs stand in one index for each class, keyed by submit, or by estimate for `sjf-backfill`.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.parts.backfill import first_that_fits
from pointsman.policies.sdk import (
    OK,
    PENDING,
    QUOTA,
    CompiledPolicy,
    Int,
    Knowledge,
    State,
    close_queue,
    core,
    enqueue,
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
def decide(S: State) -> None:
    """Start every job that fits, in order."""
    if S.g[0].free == 0 and S.g[0].fractions == 0:
        return
    while True:
        j = first_that_fits(S)
        if j < 0:
            return
        if start(S, j, OK) == QUOTA:
            close_queue(S, j)
