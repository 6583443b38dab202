"""Events from outside (`setup.script`), which few runs have."""

import numpy as np

from pointsman.engine.jit.compile import core, exported
from pointsman.engine.run.loop.event_kinds import CANCEL, NODE_DOWN
from pointsman.engine.run.loop.job_events import leave
from pointsman.engine.run.loop.node_events import change_node, slot_of
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


@exported("int64(int64, int64, int64)")
def apply_script(address: Int, what: Int, j: Int) -> Int:
    """Apply the next scripted event: a user cancels a job, a node changes its state; on a node gone DOWN jobs fail."""
    S = open_state(address)
    W = open_world(address)
    X = W.script[W.clock[0].scripted]
    W.clock[0].scripted += 1
    if X.kind == CANCEL:
        j = slot_of(S, X.subject)
    else:
        change_node(S, X.subject, X.kind, X.state)
        j = _first_job_on(S, X.subject) if X.state == 2 else np.int64(-1)
    while j >= 0:
        leave(S, W, j, X.kind)
        j = _first_job_on(S, X.subject) if X.kind == NODE_DOWN else np.int64(-1)
    return np.int64(0)
