"""Rates by the tree that a gang's GPUs span (``docs/reference/semantics.md`` §12). Compiled once, apart from loops."""

import numpy as np

from pointsman.engine.jit.compile import core, exported
from pointsman.engine.rate_models.rates import FINEST, STEP_COLUMN, row_of
from pointsman.engine.state.records import Int, State
from pointsman.engine.state.state_pointer import open_state


@core
def _racks_of(S: State, j: Int) -> Int:
    """How many racks job `j` is on."""
    S.g[0].attempt += 1
    racks = np.int64(0)
    i = S.jobs[j].part
    while i >= 0:
        R = S.racks[S.nodes[S.parts[i].node].rack]
        if R.tally_attempt != S.g[0].attempt:
            R.tally_attempt = S.g[0].attempt
            racks += 1
        i = S.parts[i].next
    return racks


@exported("int64(int64, int64, int64)")
def tree(address: Int, what: Int, j: Int) -> Int:
    """The rate of job `j` where it is, in 1/2**30: that of its model on its number of racks, over its communication
    cost.
    """
    S = open_state(address)
    g = S.g[0]
    J = S.jobs[j]
    racks = _racks_of(S, j)
    if what == STEP_COLUMN:
        return racks
    cost = max(g.least_cost, g.rack_cost * racks + g.node_cost * J.nodes + g.gpu_cost * J.gpus)
    return np.int64(
        max(1.0, np.floor(S.goodputs[row_of(S, j), racks] / (cost * J.slow * J.slow_computing) * FINEST + 0.5))
    )
