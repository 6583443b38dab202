"""What a hosted policy and a view call: the verbs and a few questions, each taking a handle's address."""

import numpy as np

from pointsman.engine.actions import resize as changing
from pointsman.engine.actions import verbs
from pointsman.engine.actions.answers import accumulates
from pointsman.engine.index.bits import bit
from pointsman.engine.index.queues import enqueue
from pointsman.engine.jit.compile import core, exported
from pointsman.engine.placement import placing
from pointsman.engine.placement.occupancy import room
from pointsman.engine.state.codes import NOT_PENDING, NOT_RUNNING, OK, PENDING
from pointsman.engine.state.records import ACTIVE, Int, State
from pointsman.engine.state.state_pointer import open_state


@core
def _is_slot(S: State, j: Int) -> bool:
    """Whether `j` names a job slot that was ever used."""
    return 0 <= j < S.g[0].slots


@core
def _accumulating(S: State, j: Int, accumulation: Int) -> bool:
    """Whether job `j` waits; if so it is to start with `accumulation` steps."""
    if not _is_slot(S, j) or S.jobs[j].state != PENDING:
        return False
    S.jobs[j].accumulation = accumulation
    return True


@exported("int64(int64, int64, int64)")
def start(address: Int, j: Int, accumulation: Int) -> Int:
    """Start job `j` on GPUs of the configured placement."""
    S = open_state(address)
    if not _accumulating(S, j, accumulation):
        return NOT_PENDING
    return verbs.start(S, j, OK)


@exported("int64(int64, int64, int64, int64)")
def start_on(address: Int, j: Int, placed: Int, accumulation: Int) -> Int:
    """Start job `j` on the `placed` (node, mask) pairs in State.place."""
    S = open_state(address)
    if not _accumulating(S, j, accumulation):
        return NOT_PENDING
    S.g[0].placed = placed
    return verbs.start_on(S, j, OK)


@exported("int64(int64, int64, int64)")
def resize(address: Int, j: Int, placed: Int) -> Int:
    """Give job `j` the `placed` (node, mask) pairs in State.place instead of its GPUs."""
    S = open_state(address)
    if not _is_slot(S, j):
        return NOT_RUNNING
    S.g[0].placed = placed
    return changing.resize(S, j, OK)


@exported("int64(int64, int64, int64)")
def rebatch(address: Int, j: Int, accumulation: Int) -> Int:
    """Let job `j` go on with `accumulation` steps."""
    S = open_state(address)
    if not _is_slot(S, j):
        return NOT_RUNNING
    return changing.rebatch(S, j, accumulation)


@exported("int64(int64, int64, int64, int64[::1])")
def with_room(address: Int, j: Int, accumulation: Int, out: np.ndarray) -> Int:
    """Write the GPUs that are free, or have room for waiting job `j` beside others, to `out`; how many there are."""
    S = open_state(address)
    n = np.int64(0)
    if not _accumulating(S, j, accumulation):
        return n
    if not accumulates(address, j, accumulation):
        S.jobs[j].accumulation = 1
        return n
    for m in range(S.nodes.shape[0]):
        N = S.nodes[m]
        for b in range(N.gpus):
            if N.state == 0 and room(S, j, np.int64(m), bit(b)) == OK:
                out[n] = N.gpu0 + b
                n += 1
    S.jobs[j].accumulation = 1
    return n


@exported("int64(int64, int64)")
def preempt(address: Int, j: Int) -> Int:
    """Preempt job `j`; it waits again in its class."""
    S = open_state(address)
    if not _is_slot(S, j):
        return NOT_RUNNING
    answer = verbs.preempt(S, j, OK)
    if answer == OK and S.jobs[j].state == PENDING:
        enqueue(S, j, 0.0, np.inf)
    return answer


@exported("int64(int64, int64)")
def admit(address: Int, j: Int) -> Int:
    """Let the transfer of job `j` begin."""
    S = open_state(address)
    if not _is_slot(S, j):
        return NOT_RUNNING
    return verbs.admit(S, j)


@exported("void(int64, int64)")
def wake_at(address: Int, time: Int) -> None:
    """Have a pass at `time` ms at the latest."""
    verbs.wake_at(open_state(address), time)


@exported("boolean(int64, int64)")
def fits(address: Int, c: Int) -> Int:
    """Whether a gang of class `c` fits now."""
    return placing.fits(open_state(address), c)


@exported("int64(int64, int64)")
def find(address: Int, c: Int) -> Int:
    """Where the configured placement would put a gang of class `c`: the number of (node, mask) pairs in State.place; 0:
    nowhere.
    """
    S = open_state(address)
    if not placing.place(S, c):
        return np.int64(0)
    n = S.g[0].placed
    placing.unplace(S)
    return n


@exported("int64(int64, int64, int64[::1])")
def in_state(address: Int, state: Int, out: np.ndarray) -> Int:
    """Write the slots of the jobs in `state` to `out`; how many there are."""
    S = open_state(address)
    n = np.int64(0)
    for j in range(S.g[0].slots):
        if S.jobs[j].state == state:
            out[n] = j
            n += 1
    return n


@exported("int64(int64, int64[::1])")
def heads(address: Int, out: np.ndarray) -> Int:
    """Write the first waiting job of each demand class that fits to `out`; how many there are."""
    S = open_state(address)
    n = np.int64(0)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if placing.fits(S, c):
            out[n] = S.buckets[c].first
            n += 1
    return n
