"""Nodes with room in as few racks as they allow, such as whole ones for a wide gang (``docs/reference/semantics.md``
§3).
"""

import numpy as np

from pointsman.engine.index.free_gpus import put_on
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.placement.eligible import admits
from pointsman.engine.placement.tightest import suits_better
from pointsman.engine.state.records import Int, State
from pointsman.engine.state.state_pointer import open_state


@core
def _has(S: State, A: np.void, n: Int, k: Int) -> bool:
    """Whether node `n` is eligible and has k free GPUs."""
    N = S.nodes[n]
    return N.state == 0 and N.free >= k and admits(S, A, N.pool)


@core
def nodes_in(S: State, A: np.void, rack: Int, k: Int) -> Int:
    """Eligible nodes of `rack` with at least k free GPUs."""
    R = S.racks[rack]
    nodes = np.int64(0)
    for i in range(R.members, R.members + R.nodes):
        nodes += _has(S, A, S.ints[i], k)
    return nodes


@core
def rack_with(S: State, A: np.void, wanted: Int, k: Int) -> Int:
    """The rack that suits a wish for `wanted` nodes with k free GPUs best; lowest index among equals, -1 if none has
    one.
    """
    found = np.int64(-1)
    best = np.int64(0)
    for r in range(S.racks.shape[0]):
        nodes = nodes_in(S, A, r, k)
        if nodes > 0 and suits_better(nodes, best, wanted):
            found = np.int64(r)
            best = nodes
    return found


@core
def fullest_with(S: State, A: np.void, rack: Int, k: Int) -> Int:
    """The eligible node of `rack` with the fewest free GPUs that has k; lowest index among equals, -1 if none has."""
    R = S.racks[rack]
    found = np.int64(-1)
    for i in range(R.members, R.members + R.nodes):
        n = S.ints[i]
        if _has(S, A, n, k) and (found < 0 or S.nodes[n].free < S.nodes[found].free):
            found = n
    return found


@cold
def place_whole_nodes(address: Int, a: Int, nodes: Int, rest: Int) -> Int:
    """Take `nodes` whole nodes of alternative `a`, which has them. Returns the node for the `rest` GPUs in the rack
    of the last one: -1 if none there has them, or there is no rest.
    """
    S = open_state(address)
    A = S.alts[a]
    left = nodes
    rack = np.int64(-1)
    while left > 0:
        rack = rack_with(S, A, left, A.gpus)
        here = min(left, nodes_in(S, A, rack, A.gpus))
        left -= here
        for _ in range(here):
            put_on(S, fullest_with(S, A, rack, A.gpus), A.gpus)
    return fullest_with(S, A, rack, rest) if rest > 0 else np.int64(-1)
