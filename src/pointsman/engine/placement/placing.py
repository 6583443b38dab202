"""Finding GPUs for a gang (``docs/reference/semantics.md`` §3): feasibility in O(1), then the nodes.

Whether a gang fits is monotone: in what is free, and in its GPUs among the classes of one group.
"""

import numpy as np

from pointsman.engine.index.free_gpus import give, lowest_bits, put_on, take
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.placement.eligible import free_gpus, nodes_with, some_node_with, whole_nodes
from pointsman.engine.placement.few_racks import place_whole_nodes
from pointsman.engine.placement.occupancy import WHOLE
from pointsman.engine.placement.one_node import best_fit, first_fit, first_whole, most_free
from pointsman.engine.placement.shapes import fits_shape, place_shape
from pointsman.engine.placement.tightest import fits_tightly, place_tightly
from pointsman.engine.state.codes import FEW_RACKS, FIRST_FIT, SPREAD, TIGHTEST
from pointsman.engine.state.records import DIVIDE, UNPLACE, Int, State
from pointsman.engine.state.state_pointer import call_apart


@core
def _fits_alternative(S: State, a: Int, C: np.void) -> Int:
    A = S.alts[a]
    gpus = C.gpus
    if gpus > S.g[0].free:
        return False
    if C.per_node > 0:
        return fits_shape(S.g[0].address, a, C.nodes, C.per_node)
    if S.g[0].placement == SPREAD:
        return gpus <= free_gpus(S, A)
    if S.g[0].placement == TIGHTEST:
        return fits_tightly(S.g[0].address, a, gpus)
    if gpus <= A.gpus:
        return some_node_with(S, A, gpus)
    whole = gpus // A.gpus
    rest = gpus - whole * A.gpus
    if whole_nodes(S, A) < whole:
        return False
    return rest == 0 or nodes_with(S, A, rest) > whole


@core
def _divides(S: State, c: Int) -> bool:
    """Whether class `c` asks for a fraction and a divided GPU has room for it, which is noted in State.place."""
    if S.classes[c].milli == WHOLE:
        return False
    return call_apart(S.g[0].sharing, S.g[0].address, DIVIDE, c) >= 0


@cold
def fits(S: State, c: Int) -> bool:
    """Whether a gang of class `c` can be placed on what is free."""
    C = S.classes[c]
    if S.g[0].fractions > 0 and _divides(S, c):
        return True
    for a in range(C.alt, C.alt_end):
        if _fits_alternative(S, a, C):
            return True
    return False


@core
def _spread_over(S: State, A: np.void, gpus: Int) -> None:
    for _ in range(gpus):
        n = most_free(S, A)
        mask = lowest_bits(S.nodes[n].free_mask, 1)
        take(S, n, mask, 1)
        i = np.int64(0)
        while i < S.g[0].placed and S.place[i].node != n:
            i += 1
        if i == S.g[0].placed:
            S.place[i].node = n
            S.place[i].mask = 0
            S.place[i].gpus = 0
            S.g[0].placed = i + 1
        S.place[i].mask |= mask
        S.place[i].gpus += 1


@core
def _place_alternative(S: State, a: Int, gpus: Int) -> None:
    A = S.alts[a]
    if S.g[0].placement == SPREAD:
        _spread_over(S, A, gpus)
        return
    if S.g[0].placement == TIGHTEST and not some_node_with(S, A, gpus):
        place_tightly(S.g[0].address, a, gpus)
        return
    rest = gpus
    near = np.int64(-1)
    if gpus > A.gpus:
        rest = gpus % A.gpus
        if S.g[0].placement == FEW_RACKS:
            near = place_whole_nodes(S.g[0].address, a, gpus // A.gpus, rest)
        else:
            for _ in range(gpus // A.gpus):
                put_on(S, first_whole(S, A), A.gpus)
    if rest > 0:
        if near >= 0:
            put_on(S, near, rest)
        elif S.g[0].placement == FIRST_FIT:
            put_on(S, first_fit(S, A, rest), rest)
        else:
            put_on(S, best_fit(S, A, rest), rest)


@cold
def place(S: State, c: Int) -> bool:
    """Take GPUs for a gang of class `c`; they are in State.place[:placed]. False if it does not fit."""
    C = S.classes[c]
    S.g[0].placed = 0
    if S.g[0].fractions > 0 and _divides(S, c):
        return True
    for a in range(C.alt, C.alt_end):
        if _fits_alternative(S, a, C):
            if C.per_node > 0:
                place_shape(S.g[0].address, a, C.nodes, C.per_node)
            else:
                _place_alternative(S, a, C.gpus)
            return True
    return False


@core
def unplace(S: State) -> None:
    """Give back the GPUs in State.place."""
    if S.g[0].fractions > 0:
        call_apart(S.g[0].sharing, S.g[0].address, UNPLACE, np.int64(0))
    for i in range(S.g[0].placed):
        P = S.place[i]
        give(S, P.node, P.mask, P.gpus)
    S.g[0].placed = 0


@cold
def note_place(S: State, c: Int) -> bool:
    """Note the GPUs that `place` would take in State.place, without taking them."""
    found = place(S, c)
    nodes = S.g[0].placed
    unplace(S)
    S.g[0].placed = nodes
    return found
