"""Rates by the tree that a gang's GPUs span (``docs/reference/semantics.md`` §12). Compiled once, apart from loops."""

import numpy as np

from pointsman.engine.jit.compile import exported
from pointsman.engine.rate_models.rates import FINEST, row_of
from pointsman.engine.rate_models.tabulated import racks_of
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state


@exported("int64(int64, int64, int64)")
def tree(address: Int, what: Int, j: Int) -> Int:
    """The rate of job `j` where it is, in 1/2**30: that of its model on its number of racks, over its communication
    cost.
    """
    S = open_state(address)
    g = S.g[0]
    J = S.jobs[j]
    racks = racks_of(S, j)
    cost = max(g.least_cost, g.rack_cost * racks + g.node_cost * J.nodes + g.gpu_cost * J.gpus)
    return np.int64(
        max(1.0, np.floor(S.goodputs[row_of(S, j), racks] / (cost * J.slow * J.slow_computing) * FINEST + 0.5))
    )
