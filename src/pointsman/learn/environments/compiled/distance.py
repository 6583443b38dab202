"""What the communication of a gang costs by the tree that its GPUs span (``docs/papers/topdrl.md`` §2)."""

import numpy as np

from pointsman.engine.sdk.environments import Int, State, core
from pointsman.learn.environments.compiled.columns import params


@core
def cost(S: State, j: Int) -> float:
    """Of the GPUs that job `j` has: so much for each rack, node and GPU (``semantics.md`` §12)."""
    J = S.jobs[j]
    S.g[0].attempt += 1
    racks = np.int64(0)
    i = J.part
    while i >= 0:
        R = S.racks[S.nodes[S.parts[i].node].rack]
        if R.tally_attempt != S.g[0].attempt:
            R.tally_attempt = S.g[0].attempt
            racks += 1
        i = S.parts[i].next
    return S.g[0].rack_cost * racks + S.g[0].node_cost * J.nodes + S.g[0].gpu_cost * J.gpus


@core
def nearness(S: State, j: Int) -> float:
    """1 where no gang of so many GPUs can cost less on the empty cluster, 0 where none can cost more, and for one
    GPU.
    """
    n = S.jobs[j].gpus
    least = params(S).least_cost[n]
    most = params(S).greatest_cost[n]
    if n <= 1 or most <= least:
        return 0.0
    return 1.0 - (cost(S, j) - least) / (most - least)
