"""The bookkeeping under Python policies, and others that need no more: waiting jobs stand in their classes in submit
order, running jobs in start order.
"""

import numpy as np

from pointsman.engine.index.queues import enqueue, running_index
from pointsman.engine.index.treap import insert
from pointsman.engine.jit.compile import core
from pointsman.engine.state.codes import PENDING
from pointsman.engine.state.records import Int, State


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        enqueue(S, j, 0.0, np.inf)


@core
def on_run(S: State, j: Int) -> None:
    """A job that runs joins the running ones."""
    if S.jobs[j].bucket < 0:
        S.jobs[j].key = np.float64(S.jobs[j].started)
        S.jobs[j].aux = np.inf
        insert(S, running_index(S), j)


@core
def decide(S: State) -> None:
    """The host decides."""
