"""What events do to nodes: they come, drain or fail."""

import numpy as np

from pointsman.engine.actions.claims import UNCLAIMED, end_claims_on
from pointsman.engine.actions.eviction_cache import forget_failures
from pointsman.engine.actions.plan_log import write_log
from pointsman.engine.index.free_gpus import set_node_state
from pointsman.engine.jit.compile import core
from pointsman.engine.run.loop.hooks import tell
from pointsman.engine.state.records import Int, State


@core
def change_node(S: State, n: Int, kind: Int, state: Int) -> None:
    """Node `n` is in another NodeState by an event of `kind`; its jobs are still there."""
    set_node_state(S, n, state)
    forget_failures(S)
    S.g[0].came_free |= UNCLAIMED
    if S.g[0].log_on:
        S.g[0].seq += 1
        write_log(S, kind, np.int64(-1), np.int64(0), state, np.int64(0), n, np.int64(0))
    tell(S, kind, np.int64(-1))
    if state != 0:
        end_claims_on(S, n)


@core
def slot_of(S: State, row: Int) -> Int:
    """The slot of the job of `row`, -1 if it has ended or is not submitted yet."""
    for j in range(S.g[0].slots):
        if S.jobs[j].state != 0 and S.jobs[j].row == row:
            return np.int64(j)
    return np.int64(-1)
