"""Which jobs are on a GPU: one, or as many as its memory holds where GPUs are shared (``semantics.md`` §9)."""

from pointsman.engine.bits import lowest
from pointsman.engine.compile import core
from pointsman.engine.records import Int, State
from pointsman.types import Reason

OK, GPU_TAKEN, SHARING_LIMIT, MEMORY = (
    int(r) for r in (Reason.OK, Reason.GpuTaken, Reason.SharingLimit, Reason.Memory)
)
FORWARD, FORWARDS, BACKWARD, BACKWARDS, OVER = 0, 1, 2, 3, 4
"""What a worker is at: ready for its forward, doing it, ready for its backward, doing it, done with the iteration."""


@core
def _bytes_of(S: State, j: Int, x: Int, n: Int) -> Int:
    """What job `j` takes of the memory of GPU `x` on node `n`."""
    kind = S.nodes[n].gpu_type
    return S.steps[S.jobs[j].speed + kind].bytes


@core
def occupy(S: State, j: Int, x: Int, n: Int) -> None:
    """Job `j` is on GPU `x` of node `n` from now on."""
    X = S.gpus[x]
    S.occupants[x, X.used] = j
    X.free_milli = 0
    if S.g[0].limit > 1:
        S.workers[x, X.used] = OVER
        X.free_bytes -= _bytes_of(S, j, x, n)
    X.used += 1


@core
def seat(S: State, j: Int, x: Int) -> Int:
    """Where job `j` stands among the occupants of GPU `x`."""
    o = 0
    while S.occupants[x, o] != j:
        o += 1
    return o


@core
def vacate(S: State, j: Int, x: Int, n: Int) -> bool:
    """Job `j` leaves GPU `x` of node `n`; whether nobody is on it now."""
    X = S.gpus[x]
    X.used -= 1
    o = seat(S, j, x)
    S.occupants[x, o] = S.occupants[x, X.used]
    S.occupants[x, X.used] = -1
    if S.g[0].limit > 1:
        S.workers[x, o] = S.workers[x, X.used]
        X.free_bytes += _bytes_of(S, j, x, n)
    if X.used > 0:
        return False
    X.free_milli = 1000
    return True


@core
def sits(S: State, j: Int, x: Int) -> bool:
    """Whether job `j` is on GPU `x`."""
    for o in range(S.gpus[x].used):
        if S.occupants[x, o] == j:
            return True
    return False


@core
def room_on(S: State, j: Int, x: Int, n: Int) -> Int:
    """Whether GPU `x` of node `n`, on which jobs are, has room for job `j` too: OK, or why not."""
    X = S.gpus[x]
    if X.used == 0 or S.g[0].limit == 1:
        return GPU_TAKEN  # by nobody: it is held for a job that waits
    if X.used >= S.g[0].limit:
        return SHARING_LIMIT
    return OK if X.free_bytes >= _bytes_of(S, j, x, n) else MEMORY


@core
def room(S: State, j: Int, n: Int, mask: Int) -> Int:
    """Whether the GPUs `mask` of node `n`, some of which are not free, have room for job `j`: OK, or why not."""
    N = S.nodes[n]
    taken = mask & ~N.free_mask
    while taken != 0:
        b = lowest(taken)
        taken &= taken - 1
        if b >= N.gpus:
            return GPU_TAKEN
        answer = room_on(S, j, N.gpu0 + b, n)
        if answer != OK:
            return answer
    return OK
