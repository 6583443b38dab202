"""Events from outside (`setup.script`), which few runs have."""

import numpy as np

from pointsman.engine.actions.claims import UNCLAIMED, end_claims_on
from pointsman.engine.actions.eviction_cache import forget_failures
from pointsman.engine.actions.verbs import write_log
from pointsman.engine.index.free_gpus import set_node_state
from pointsman.engine.jit.compile import apart, core
from pointsman.engine.run.loop.event_kinds import CANCEL, NODE_DOWN
from pointsman.engine.run.loop.hooks import tell
from pointsman.engine.run.loop.job_events import leave
from pointsman.engine.state.records import Int, State
from pointsman.engine.state.state_pointer import open_state, open_world


@core
def _first_job_on(S: State, n: Int) -> Int:
    """The job that holds the lowest held GPU of node `n`, -1 if none."""
    for b in range(S.nodes[n].gpus):
        j = S.occupants[S.nodes[n].gpu0 + b, 0]
        if j >= 0:
            return j
    return np.int64(-1)


@core
def _slot_of(S: State, row: Int) -> Int:
    """The slot of the job of `row`, -1 if it has ended or is not submitted yet."""
    for j in range(S.g[0].slots):
        if S.jobs[j].state != 0 and S.jobs[j].row == row:
            return np.int64(j)
    return np.int64(-1)


@apart("int64(int64, int64, int64)")
def apply_script(address: Int, what: Int, j: Int) -> Int:
    """Apply the next scripted event: a user cancels a job, a node changes its state; on a node gone DOWN jobs fail."""
    S = open_state(address)
    W = open_world(address)
    X = W.script[W.clock[0].scripted]
    W.clock[0].scripted += 1
    if X.kind == CANCEL:
        j = _slot_of(S, X.subject)
    else:
        set_node_state(S, X.subject, X.state)
        forget_failures(S)
        S.g[0].came_free |= UNCLAIMED
        if S.g[0].log_on:
            S.g[0].seq += 1
            write_log(S, X.kind, np.int64(-1), np.int64(0), X.state, np.int64(0), X.subject, np.int64(0))
        j = _first_job_on(S, X.subject) if X.state == 2 else np.int64(-1)
        tell(S, X.kind, np.int64(-1))
        if X.state != 0:
            end_claims_on(S, X.subject)
    while j >= 0:
        leave(S, W, j, X.kind)
        j = _first_job_on(S, X.subject) if X.kind == NODE_DOWN else np.int64(-1)
    return np.int64(0)
