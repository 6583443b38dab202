"""The tasks of chains: forward and backward passes of an iteration on GPUs that jobs may share."""

import math
from typing import Any

import numpy as np

from pointsman.engine.index.bits import lowest, without_lowest
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import core
from pointsman.engine.placement.occupancy import BACKWARD, BACKWARDS, FORWARD, FORWARDS, OVER, jobs_on, seat
from pointsman.engine.rate_models.chains.transfers import sends, service_left
from pointsman.engine.rate_models.rates import row_of
from pointsman.engine.state.due_times import FARTHEST_MS, NEVER
from pointsman.engine.state.records import (
    Int,
    State,
    World,
)

FOREVER = 1 << 40
"""Iterations of a job whose end is unknown."""
EXTRA_BITS = 16
"""Bits behind the point of what factors add to a task: times are whole ms, and the rest is carried to the next task."""


def longer_ms(ms: Any, extra: Any, owed: Any) -> Any:
    """By how many ms tasks of `ms` take longer, those before them having left `owed` over. NumPy runs it on
    arrays, and the engine compiles it.
    """
    return (ms * extra + owed) >> EXTRA_BITS


_longer = core(longer_ms)


@core
def first_gpu(S: State, j: Int) -> tuple[Int, Int]:
    """A cursor at the first GPU of job `j`: one of its parts, and the GPUs of it still to come; part -1 at the end."""
    i = S.jobs[j].part
    return i, S.parts[i].mask if i >= 0 else np.int64(0)


@core
def next_gpu(S: State, i: Int, mask: Int) -> tuple[Int, Int]:
    """The cursor at the GPU after the one where it is."""
    mask = without_lowest(mask)
    if mask == 0:
        i = S.parts[i].next
        if i >= 0:
            mask = S.parts[i].mask
    return i, mask


@core
def gpu_at(S: State, i: Int, mask: Int) -> Int:
    """The GPU at a cursor."""
    return S.nodes[S.parts[i].node].gpu0 + lowest(mask)


@core
def transfer_ms(S: State, j: Int) -> Int:
    """Ms that a transfer of job `j` takes which meets none."""
    return S.g[0].latency + np.int64(math.ceil(S.steps[row_of(S, j)].transfer_ms)) if sends(S, j) else np.int64(0)


@core
def extra_of(S: State, j: Int) -> Int:
    """How much longer the tasks of job `j` take by the factors where it is, in 1/2**16. Transfers do not."""
    return np.int64(np.floor((S.jobs[j].slow_computing * S.jobs[j].slow - 1.0) * (1 << EXTRA_BITS) + 0.5))


@core
def _alone_ms(S: State, j: Int) -> Int:
    """Ms of the tasks of an iteration of job `j` without factors."""
    X = S.steps[row_of(S, j)]
    return X.fw + X.bw


@core
def _longer_ms(W: World, j: Int, ms: Int) -> Int:
    C = W.chains[j]
    return _longer(ms, C.extra, C.owed)


@core
def forward_ms(S: State, W: World, j: Int) -> Int:
    """Ms of the forward task of job `j` in this iteration."""
    fw = S.steps[row_of(S, j)].fw
    return fw + _longer_ms(W, j, fw)


@core
def backward_ms(S: State, W: World, j: Int) -> Int:
    """Ms of its backward task."""
    alone = _alone_ms(S, j)
    return alone + _longer_ms(W, j, alone) - forward_ms(S, W, j)


@core
def iterations_ms(S: State, W: World, j: Int, n: Int) -> Int:
    """Ms of n iterations of job `j` which meet none, from the one that begins; NEVER if int64 has no room."""
    alone = _alone_ms(S, j)
    period = alone + transfer_ms(S, j)
    extra = W.chains[j].extra
    most = FARTHEST_MS // period
    if extra > 0:
        most = min(FARTHEST_MS // (period + ((alone * extra) >> EXTRA_BITS) + 1), FARTHEST_MS // (alone * extra + 1))
    if n >= most:
        return np.int64(NEVER)
    return n * period + _longer_ms(W, j, n * alone)


@core
def iterations_in(S: State, W: World, j: Int, ms: Int) -> Int:
    """How many iterations of job `j` which meet none are done in `ms`, from the one that begins."""
    alone = _alone_ms(S, j)
    period = alone + transfer_ms(S, j)
    extra = W.chains[j].extra
    if extra == 0:
        return ms // period
    n = np.int64(ms / (period + alone * extra / (1 << EXTRA_BITS)))
    while n > 0 and iterations_ms(S, W, j, n) > ms:
        n -= 1
    while iterations_ms(S, W, j, n + 1) <= ms:
        n += 1
    return n


@core
def pass_iterations(S: State, W: World, j: Int, n: Int) -> None:
    """So many iterations of job `j` are done, each as much longer as the factors on computing made it."""
    C = W.chains[j]
    longer = n * _alone_ms(S, j) * C.extra + C.owed
    S.jobs[j].slowed += np.float64(longer >> EXTRA_BITS)
    C.owed = longer & ((1 << EXTRA_BITS) - 1)


@core
def goes_before(S: State, a: Int, b: Int) -> bool:
    """Whether job `a` has less service left than job `b`, or as much and a lower row."""
    x = service_left(S, a)
    y = service_left(S, b)
    return x < y or (x == y and S.jobs[a].row < S.jobs[b].row)


@core
def begin_task(S: State, W: World, x: Int) -> None:
    """GPU `x`, which does nothing, takes the ready task of the job with the least service left."""
    X = S.gpus[x]
    best = np.int64(-1)
    for o in range(jobs_on(S, x)):
        is_ready = S.workers[x, o] == FORWARD or S.workers[x, o] == BACKWARD
        if is_ready and (best < 0 or goes_before(S, S.occupants[x, o], S.occupants[x, best])):
            best = o
    if best < 0:
        return
    j = S.occupants[x, best]
    forward = S.workers[x, best] == FORWARD
    S.workers[x, best] += 1
    X.busy = j
    X.until = S.g[0].now + (forward_ms(S, W, j) if forward else backward_ms(S, W, j))
    W.chains[j].begun = 1
    W.truth[j].due = min(W.truth[j].due, X.until)
    mark(S, j)


@core
def set_workers(S: State, j: Int, phase: Int, until: Int) -> None:
    """All workers of job `j` are in `phase`; where that is a task, it ends at `until`."""
    i, mask = first_gpu(S, j)
    while i >= 0:
        x = gpu_at(S, i, mask)
        S.workers[x, seat(S, j, x)] = phase
        if phase == FORWARDS or phase == BACKWARDS:
            S.gpus[x].busy = j
            S.gpus[x].until = until
        i, mask = next_gpu(S, i, mask)


@core
def end_tasks(S: State, W: World, j: Int) -> None:
    """The tasks of job `j` that are due have ended."""
    C = W.chains[j]
    T = S.steps[row_of(S, j)]
    i, mask = first_gpu(S, j)
    while i >= 0:
        x = gpu_at(S, i, mask)
        X = S.gpus[x]
        if X.busy == j and X.until <= S.g[0].now:
            X.busy = -1
            o = seat(S, j, x)
            if S.workers[x, o] == FORWARDS and T.bw > 0:
                S.workers[x, o] = BACKWARD
            else:
                S.workers[x, o] = OVER
                C.over += 1
        i, mask = next_gpu(S, i, mask)


@core
def count_down(C: np.void, n: Int) -> None:
    """So many iterations of a chain are done; of one whose end is unknown as many are left."""
    if C.left < FOREVER:
        C.left -= n


@core
def begin_iteration(S: State, W: World, j: Int) -> None:
    """The workers of job `j` are ready for their next forward pass."""
    W.chains[j].over = 0
    W.chains[j].begun = 0
    set_workers(S, j, np.int64(FORWARD), np.int64(0))


@core
def end_iteration(S: State, W: World, j: Int) -> None:
    """Job `j` has done an iteration; with the last one it finishes at this instant."""
    C = W.chains[j]
    count_down(C, np.int64(1))
    pass_iterations(S, W, j, np.int64(1))
    if C.left == 0:
        W.truth[j].finish = S.g[0].now
        return
    S.jobs[j].done_when_rated += S.steps[row_of(S, j)].solo
    begin_iteration(S, W, j)
