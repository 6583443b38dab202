"""Which jobs are on a GPU: one, or as many as its memory holds where GPUs are shared (``semantics.md`` §9 and §10)."""

import numpy as np

from pointsman.engine.index.bits import bit, lowest, without_lowest
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.state.codes import GPU_TAKEN, MEMORY, OK, SHARING_LIMIT
from pointsman.engine.state.records import ACCUMULATIONS, ENTER, EXIT, LARGEST, SEAT_BITS, Int, State
from pointsman.engine.state.state_pointer import call_apart, open_state

FORWARD, FORWARDS, BACKWARD, BACKWARDS, OVER = 0, 1, 2, 3, 4
"""What a worker is at: ready for its forward, doing it, ready for its backward, doing it, done with the iteration."""
WHOLE = 1000
"""Milli-GPUs."""
SINGLES = 1024
"""How many notes of State.singles are kept."""


@core
def asks_fraction(S: State, j: Int) -> bool:
    """Whether job `j` asks for a fraction of a GPU, and GPUs are shared."""
    return S.classes[S.jobs[j].cls].milli < WHOLE


@core
def bytes_with(S: State, j: Int, n: Int, accumulation: Int) -> Int:
    """What job `j` takes of the memory of each GPU of node `n` with so much accumulation."""
    N = S.nodes[n]
    milli = S.classes[S.jobs[j].cls].milli
    if milli < WHOLE:
        return N.bytes // WHOLE * milli
    return S.subbatches[(S.jobs[j].speed + N.gpu_type) * ACCUMULATIONS + lowest(accumulation)].bytes


@core
def bytes_of(S: State, j: Int, n: Int) -> Int:
    """What job `j` takes of the memory of each GPU of node `n`."""
    return bytes_with(S, j, n, S.jobs[j].accumulation)


@cold
def memory_left(address: int, j: Int, accumulation: Int, takes: bool) -> Int:
    """Return the least memory (bytes) that is left on a GPU of running job `j` with another accumulation; below 0, a
    GPU has too little. If the job `takes` it, that is noted.
    """
    S = open_state(address)
    least = np.int64(LARGEST)
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        more = bytes_with(S, j, P.node, accumulation) - bytes_of(S, j, P.node)
        mask = P.mask
        while mask != 0:
            X = S.gpus[S.nodes[P.node].gpu0 + lowest(mask)]
            mask = without_lowest(mask)
            least = min(least, X.free_bytes - more)
            if takes:
                X.free_bytes -= more
        i = P.next
    return least


@core
def note_single(S: State, j: Int) -> None:
    """Job `j` has got GPUs to itself, or another rate on them."""
    g = S.g[0]
    S.singles[g.singled & (SINGLES - 1)] = j
    g.singled += 1


@core
def jobs_on(S: State, x: Int) -> Int:
    """How many jobs are on GPU `x`."""
    if S.g[0].jobs_per_gpu == 1:
        return np.int64(1 if S.occupants[x, 0] >= 0 else 0)
    return S.gpus[x].used


@core
def _enter(S: State, j: Int, x: Int) -> None:
    X = S.gpus[x]
    call_apart(S.g[0].sharing, S.g[0].address, ENTER, j | x << SEAT_BITS)
    S.occupants[x, X.used] = j
    X.used += 1


@core
def occupy(S: State, j: Int, n: Int, mask: Int) -> None:
    """Job `j` is on the GPUs `mask` of node `n` from now on."""
    alone = S.g[0].jobs_per_gpu == 1
    gpu0 = S.nodes[n].gpu0
    S.nodes[n].held |= mask
    while mask != 0:
        x = gpu0 + lowest(mask)
        mask = without_lowest(mask)
        if alone:
            S.occupants[x, 0] = j
        else:
            _enter(S, j, x)


@core
def seat(S: State, j: Int, x: Int) -> Int:
    """Where job `j` stands among the occupants of GPU `x`."""
    o = 0
    while S.occupants[x, o] != j:
        o += 1
    return o


@core
def _exit(S: State, j: Int, x: Int) -> bool:
    """Job `j` leaves GPU `x`; whether no job is on it now."""
    X = S.gpus[x]
    call_apart(S.g[0].sharing, S.g[0].address, EXIT, j | x << SEAT_BITS)
    X.used -= 1
    o = seat(S, j, x)
    S.occupants[x, o] = S.occupants[x, X.used]
    S.occupants[x, X.used] = -1
    if S.g[0].counts_iterations:
        S.workers[x, o] = S.workers[x, X.used]
    return X.used == 0


@core
def vacate(S: State, j: Int, n: Int, mask: Int) -> Int:
    """Job `j` leaves the GPUs `mask` of node `n`; those without a job now."""
    emptied = mask
    alone = S.g[0].jobs_per_gpu == 1
    gpu0 = S.nodes[n].gpu0
    while mask != 0:
        b = lowest(mask)
        mask = without_lowest(mask)
        if alone:
            S.occupants[gpu0 + b, 0] = -1
        elif not _exit(S, j, gpu0 + b):
            emptied &= ~bit(b)
    S.nodes[n].held &= ~emptied
    return emptied


@core
def sits(S: State, j: Int, x: Int) -> bool:
    """Whether job `j` is on GPU `x`."""
    for o in range(jobs_on(S, x)):
        if S.occupants[x, o] == j:
            return True
    return False


@core
def room_on(S: State, j: Int, x: Int, n: Int) -> Int:
    """Whether GPU `x` of node `n`, on which jobs are, has room for job `j` too: OK, or why not."""
    X = S.gpus[x]
    if jobs_on(S, x) == 0:
        return GPU_TAKEN  # by no job: it is held for a job that waits
    if sits(S, j, x):
        return OK
    if S.g[0].jobs_per_gpu == 1:
        return GPU_TAKEN
    N = S.nodes[n]
    divided = N.fractions & bit(x - N.gpu0) != 0
    if X.used >= S.g[0].jobs_per_gpu or divided != asks_fraction(S, j):
        return SHARING_LIMIT
    if divided and X.free_milli < S.classes[S.jobs[j].cls].milli:
        return SHARING_LIMIT
    return OK if X.free_bytes >= bytes_of(S, j, n) else MEMORY


@core
def room(S: State, j: Int, n: Int, mask: Int) -> Int:
    """Whether the GPUs `mask` of node `n`, some of which are not free, have room for job `j`: OK, or why not."""
    N = S.nodes[n]
    taken = mask & ~N.free_mask
    while taken != 0:
        b = lowest(taken)
        taken = without_lowest(taken)
        if b >= N.gpus:
            return GPU_TAKEN
        answer = room_on(S, j, N.gpu0 + b, n)
        if answer != OK:
            return answer
    return OK
