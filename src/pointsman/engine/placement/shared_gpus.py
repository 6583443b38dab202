"""GPUs that jobs share (``docs/reference/semantics.md`` §10): their memory and fractions. Compiled once, apart from the
loop.
"""

import numpy as np

from pointsman.engine.index.bits import bit, count, lowest, without_lowest
from pointsman.engine.index.free_gpus import give
from pointsman.engine.jit.compile import core, exported
from pointsman.engine.placement.eligible import admits
from pointsman.engine.placement.occupancy import OVER, WHOLE, bytes_of, note_single
from pointsman.engine.state.records import DIVIDE, ENTER, EXIT, SEAT_BITS, SOLE_OCCUPANTS, Int, State
from pointsman.engine.state.state_pointer import open_state


@core
def _node_of(S: State, x: Int) -> Int:
    """The node of GPU `x`."""
    low = np.int64(0)
    high = S.nodes.shape[0] - np.int64(1)
    while low < high:
        middle = (low + high + 1) // 2
        if S.nodes[middle].gpu0 <= x:
            low = middle
        else:
            high = middle - 1
    return low


@core
def _be_alone(S: State, j: Int, gpus: Int) -> None:
    """Job `j` has `gpus` more GPUs to itself; jobs that have any are listed."""
    J = S.jobs[j]
    g = S.g[0]
    J.alone += gpus
    if J.alone > 0 and J.spot < 0:
        J.spot = g.sole_occupants
        S.lists[SOLE_OCCUPANTS, J.spot] = j
        g.sole_occupants += 1
    elif J.alone == 0 and J.spot >= 0:
        g.sole_occupants -= 1
        last = S.lists[SOLE_OCCUPANTS, g.sole_occupants]
        S.lists[SOLE_OCCUPANTS, J.spot] = last
        S.jobs[last].spot = J.spot
        J.spot = -1


@core
def _enter(S: State, j: Int, x: Int) -> None:
    """Job `j` comes onto GPU `x`."""
    n = _node_of(S, x)
    X = S.gpus[x]
    N = S.nodes[n]
    b = bit(x - N.gpu0)
    if S.g[0].counts_iterations:
        S.workers[x, X.used] = OVER
    X.free_bytes -= bytes_of(S, j, n)
    if X.used > 0:
        N.shared |= b
        if X.used == 1:
            _be_alone(S, S.occupants[x, 0], np.int64(-1))
    else:
        _be_alone(S, j, np.int64(1))
    milli = S.classes[S.jobs[j].cls].milli
    X.free_milli -= milli
    if milli < WHOLE and X.used == 0:
        N.fractions |= b
        S.g[0].fractions += 1


@core
def _exit(S: State, j: Int, x: Int) -> None:
    """Job `j` is about to leave GPU `x`."""
    n = _node_of(S, x)
    X = S.gpus[x]
    N = S.nodes[n]
    b = bit(x - N.gpu0)
    X.free_bytes += bytes_of(S, j, n)
    X.free_milli += S.classes[S.jobs[j].cls].milli
    if X.used == 2:
        N.shared &= ~b
        other = S.occupants[x, 1] if S.occupants[x, 0] == j else S.occupants[x, 0]
        _be_alone(S, other, np.int64(1))
        note_single(S, other)
    elif X.used == 1:
        _be_alone(S, j, np.int64(-1))
    if X.used == 1 and N.fractions & b != 0:
        N.fractions &= ~b
        S.g[0].fractions -= 1


@core
def _admits(S: State, c: Int, n: Int) -> bool:
    """Whether node `n` is UP and eligible for class `c`."""
    C = S.classes[c]
    if S.nodes[n].state != 0:
        return False
    for a in range(C.alt, C.alt_end):
        if admits(S, S.alts[a], S.nodes[n].pool):
            return True
    return False


@core
def _divided_gpu(S: State, c: Int) -> Int:
    """The fullest GPU that jobs divide among them with room for class `c`, lowest first; -1 if none."""
    milli = S.classes[c].milli
    best = np.int64(-1)
    least = np.int64(WHOLE)
    for n in range(S.nodes.shape[0]):
        mask = S.nodes[n].fractions
        if mask == 0 or not _admits(S, c, n):
            continue
        while mask != 0:
            x = S.nodes[n].gpu0 + lowest(mask)
            mask = without_lowest(mask)
            X = S.gpus[x]
            if X.used < S.g[0].jobs_per_gpu and milli <= X.free_milli < least:
                best = x
                least = X.free_milli
    return best


@core
def _place_on(S: State, x: Int) -> None:
    """GPU `x`, which is divided, is the place of a job: State.place[:1]."""
    n = _node_of(S, x)
    S.place[0].node = n
    S.place[0].mask = bit(x - S.nodes[n].gpu0)
    S.place[0].gpus = 1
    S.g[0].placed = 1


@core
def _divide(S: State, c: Int) -> Int:
    """The GPU, already divided, that a job of class `c` gets a fraction of, noted as its place; -1 if none."""
    x = _divided_gpu(S, c)
    if x >= 0:
        _place_on(S, x)
    return x


@core
def _unplace(S: State) -> None:
    """Give back of the GPUs in State.place those without a job."""
    for i in range(S.g[0].placed):
        P = S.place[i]
        mask = P.mask & ~S.nodes[P.node].held
        if mask != 0:
            give(S, P.node, mask, count(mask))
    S.g[0].placed = 0


@exported("int64(int64, int64, int64)")
def sharing(address: Int, what: Int, j: Int) -> Int:
    """See `records.ENTER`. Answers a GPU, where one is asked for."""
    S = open_state(address)
    answer = np.int64(0)
    if what == ENTER:
        _enter(S, j & ((1 << SEAT_BITS) - 1), j >> SEAT_BITS)
    elif what == EXIT:
        _exit(S, j & ((1 << SEAT_BITS) - 1), j >> SEAT_BITS)
    elif what == DIVIDE:
        answer = _divide(S, j)
    else:
        _unplace(S)
    return answer
