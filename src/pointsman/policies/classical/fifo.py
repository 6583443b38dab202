"""First in, first out: strict, the head blocks its nodes for all behind it.

Waiting jobs stand in one index for each queue and set of eligible nodes, keyed by submit, or by estimate for `sjf`.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.sdk import (
    OK,
    PENDING,
    CompiledPolicy,
    Int,
    Knowledge,
    State,
    before,
    block_nodes,
    close_queue,
    core,
    derived,
    insert,
    nodes_blocked,
    over_limit,
    queue_index,
    reach_of,
    start,
    view_of,
)


class Fifo(CompiledPolicy):
    """Jobs start in the order of their submission; one that does not fit blocks those behind it that could use the same
    nodes.
    """

    name: ClassVar[str] = "fifo"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = "pointsman.policies.classical.fifo"

    @derived
    def by_estimate(self) -> bool:
        """Whether the shortest go first, not the earliest."""
        return False


params = view_of(Fifo)


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its queue."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        S.jobs[j].key = S.jobs[j].estimate if params(S).by_estimate else 0.0
        S.jobs[j].aux = np.inf
        insert(S, queue_index(S, j), j)


@core
def on_run(S: State, j: Int) -> None:
    """Nothing to know about running jobs."""


@core
def _head(S: State) -> Int:
    """The first waiting job, in order, of the queues that are open and the nodes that are not blocked for it."""
    best = np.int64(-1)
    for r in range(S.reaches.shape[0]):
        if S.reaches[r].blocked != S.g[0].pass_id:
            for q in range(S.queues.shape[0]):
                if S.queues[q].closed != S.g[0].pass_id:
                    j = S.buckets[S.g[0].classes + r * S.g[0].queues + q].first
                    if j >= 0 and (best < 0 or before(S, j, best)):
                        best = j
    return best


@core
def _fits_no_more(S: State, j: Int) -> bool:
    """Whether head `j` found no place last time, and no GPU was freed since."""
    R = S.reaches[reach_of(S, j)]
    return R.failed_row == S.jobs[j].row + 1 and R.failed_changes == S.g[0].changes


@core
def _starts(S: State, j: Int) -> bool:
    """Start head `j`; if it finds no place, remember that."""
    if _fits_no_more(S, j):
        return False
    if start(S, j, OK) == OK:
        return True
    R = S.reaches[reach_of(S, j)]
    R.failed_row = S.jobs[j].row + 1
    R.failed_changes = S.g[0].changes
    return False


@core
def _block(S: State, j: Int) -> None:
    """Job `j` must wait, and so must those behind it that could use one of its nodes."""
    S.reaches[reach_of(S, j)].blocked = S.g[0].pass_id
    block_nodes(S, j, np.inf)


@core
def decide(S: State) -> None:
    """Start heads; one that finds no place, or could use a node of such a job ahead of it, blocks its nodes."""
    while True:
        j = _head(S)
        if j < 0:
            return
        R = S.reaches[reach_of(S, j)]
        n = nodes_blocked(S, reach_of(S, j))
        if n < R.pool_end - R.pool and over_limit(S, j):
            close_queue(S, j)
        elif n > 0 or not _starts(S, j):
            _block(S, j)
