"""What running jobs leave of the cores of a node, for policies that look at it: read off the loads of
`node_neighbours`, where these are laid out.
"""

from pointsman.engine.jit.compile import core
from pointsman.engine.rate_models.factors.node_neighbours import CORES, HEAD, LOADS, PER_NODE, PER_ROW
from pointsman.engine.state.records import Int, State


@core
def free_core_share(S: State, j: Int, n: Int, workers: Int) -> float:
    """The share of the cores of node `n` that is idle, with `workers` workers of job `j` besides; less than 0 where
    more is wanted than there is, and 1 where the run counts no cores.
    """
    if S.g[0].node_factor == 0:
        return 1.0
    F = S.factors[S.g[0].node_factor - 1]
    cores = S.factor_numbers[F.numbers + HEAD + n * PER_NODE + CORES]
    row = S.jobs[j].speed + S.nodes[n].gpu_type
    of_worker = S.factor_numbers[F.numbers + HEAD + S.nodes.shape[0] * PER_NODE + row * PER_ROW + CORES]
    return (cores - S.factor_loads[F.loads + n * LOADS + CORES] - workers * of_worker) / cores
