"""Places for gangs with a shape: some nodes with equally many GPUs on each (``docs/reference/semantics.md`` §3)."""

import numpy as np

from pointsman.engine.index.bits import count
from pointsman.engine.index.free_gpus import give, lowest_bits, take
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.placement.eligible import nodes_with, some_node_with
from pointsman.engine.placement.few_racks import fullest_with, nodes_in, rack_with
from pointsman.engine.placement.one_node import best_fit, first_fit, most_free
from pointsman.engine.state.codes import FEW_RACKS, FIRST_FIT, SPREAD, TIGHTEST
from pointsman.engine.state.records import Int, State
from pointsman.engine.state.state_pointer import open_state
from pointsman.types import Locality

RACK = int(Locality.RACK)


@cold
def fits_shape(address: Int, a: Int, nodes: Int, k: Int) -> bool:
    """Whether `nodes` nodes of alternative `a` have k free GPUs; under TIGHTEST, at State.g.within or tighter."""
    S = open_state(address)
    A = S.alts[a]
    if nodes == 1:
        return some_node_with(S, A, k)
    if nodes_with(S, A, k) < nodes:
        return False
    if S.g[0].placement != TIGHTEST or S.g[0].within > RACK:
        return True
    return S.g[0].within == RACK and nodes_in(S, A, rack_with(S, A, nodes, k), k) >= nodes


@core
def _next_node(S: State, A: np.void, rack: Int, k: Int) -> Int:
    """The next node that gives k GPUs: of `rack`, or (-1) of all, by the placement in force."""
    if rack >= 0:
        return fullest_with(S, A, rack, k)
    if S.g[0].placement == FIRST_FIT:
        return first_fit(S, A, k)
    return most_free(S, A) if S.g[0].placement == SPREAD else best_fit(S, A, k)


@core
def _take_all(S: State, n: Int, k: Int) -> None:
    """Node `n` gives its k lowest free GPUs, noted in State.place; those left count as taken, too, so that it is not
    found again.
    """
    P = S.place[S.g[0].placed]
    P.node = n
    P.mask = lowest_bits(S.nodes[n].free_mask, k)
    P.gpus = k
    P.next = S.nodes[n].free_mask & ~P.mask
    take(S, n, S.nodes[n].free_mask, S.nodes[n].free)
    S.g[0].placed += 1


@core
def _give_back_rest(S: State) -> None:
    """What the nodes in State.place have besides what they give is free again."""
    for i in range(S.g[0].placed):
        P = S.place[i]
        if P.next != 0:
            give(S, P.node, P.next, count(P.next))
            P.next = 0


@cold
def place_shape(address: Int, a: Int, nodes: Int, k: Int) -> None:
    """Take k GPUs on each of `nodes` nodes of alternative `a`, which has them."""
    S = open_state(address)
    A = S.alts[a]
    by_rack = nodes > 1 and (S.g[0].placement == FEW_RACKS or S.g[0].placement == TIGHTEST)
    rack = np.int64(-1)
    here = np.int64(0)
    for left in range(nodes, 0, -1):
        if by_rack and here == 0:
            rack = rack_with(S, A, np.int64(left), k)
            here = nodes_in(S, A, rack, k)
        _take_all(S, _next_node(S, A, rack, k), k)
        here -= 1
    _give_back_rest(S)
