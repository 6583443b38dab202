"""What the communication of a gang costs by the tree that its GPUs span (``docs/papers/topdrl.md`` §2)."""

import numpy as np

from pointsman.engine.sdk.environments import Int, State, core
from pointsman.learn.environments.compiled.columns import params


@core
def cost(S: State, j: Int) -> float:
    """Return what the GPUs of job `j` cost in communication, by racks, nodes and GPUs (``semantics.md`` §12)."""
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
    """Return how near to each other the GPUs of job `j` are, by their communication cost.

    1 is the least cost of a gang of as many GPUs on the empty cluster, 0 the greatest. For a single GPU it is 0.
    """
    n = S.jobs[j].gpus
    least = params(S).least_cost[n]
    most = params(S).greatest_cost[n]
    if n <= 1 or most <= least:
        return 0.0
    return 1.0 - (cost(S, j) - least) / (most - least)
