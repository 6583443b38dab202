"""First in, first out: strict, the head blocks.

Waiting jobs stand in one index for each queue, keyed by submit, or by estimate for `sjf`.
"""

from typing import ClassVar

import numpy as np

from pointsman.engine.compile import core
from pointsman.engine.contract import CompiledPolicy
from pointsman.engine.ordered import before, insert
from pointsman.engine.records import Int, State
from pointsman.engine.verbs import OK, PENDING, QUOTA, queue_index, start
from pointsman.types import Knowledge

BY_ESTIMATE = 0  # params


class Fifo(CompiledPolicy):
    """Jobs start in the order of their submission; the first that does not fit blocks all behind it."""

    name: ClassVar[str] = "fifo"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = "pointsman.policies.fifo"

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
def decide(S: State) -> None:
    """Start heads until one does not fit."""
    while True:
        j = _head(S)
        if j < 0:
            return
        reason = start(S, j, OK)
        if reason == QUOTA:
            S.queues[S.jobs[j].queue].closed = S.g[0].pass_id
        elif reason != OK:
            return
