"""Jobs that share neither GPUs nor network cards leap: they go from iteration to iteration without steps."""

import math

import numpy as np

from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import core
from pointsman.engine.placement.occupancy import BACKWARD, BACKWARDS, FORWARDS, OVER, jobs_on, sits
from pointsman.engine.rate_models.chains.sending import count_transfers
from pointsman.engine.rate_models.chains.tasks import (
    FOREVER,
    backward_ms,
    count_down,
    first_gpu,
    forward_ms,
    gpu_at,
    iterations_in,
    iterations_ms,
    next_gpu,
    pass_iterations,
    set_workers,
    transfer_ms,
)
from pointsman.engine.rate_models.chains.transfers import sends
from pointsman.engine.rate_models.rates import row_of
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.records import (
    UNDER_WAY,
    Int,
    State,
    World,
)


@core
def meets_no_other(S: State, j: Int) -> bool:
    """Whether no other job is on the GPUs of running job `j`, nor sends from its nodes if it does."""
    i, mask = first_gpu(S, j)
    while i >= 0:
        if jobs_on(S, gpu_at(S, i, mask)) > 1:
            return False
        i, mask = next_gpu(S, i, mask)
    if not sends(S, j):
        return True
    i = S.jobs[j].part
    while i >= 0:
        if S.nics[S.parts[i].node].senders > 1:
            return False
        i = S.parts[i].next
    return True


@core
def leap(S: State, W: World, j: Int) -> None:
    """Job `j`, at the beginning of an iteration, goes on without steps."""
    C = W.chains[j]
    C.leaps = 1
    C.since = S.g[0].now
    W.truth[j].due = NEVER
    ms = iterations_ms(S, W, j, C.left) if C.left < FOREVER else np.int64(NEVER)
    W.truth[j].finish = C.since + ms if ms < NEVER else NEVER


@core
def credit(S: State, W: World, j: Int) -> None:
    """Count the iterations that leaping job `j` has done by now."""
    C = W.chains[j]
    J = S.jobs[j]
    n = iterations_in(S, W, j, S.g[0].now - C.since)
    if n >= C.left:  # the last is counted when it finishes
        n = C.left - 1
    X = S.steps[row_of(S, j)]
    count_down(C, n)
    C.since += iterations_ms(S, W, j, n)
    pass_iterations(S, W, j, n)
    J.done_when_rated += n * X.solo
    J.waited += np.float64(n * transfer_ms(S, j))


@core
def land(S: State, W: World, j: Int) -> None:
    """Leaping job `j` takes steps again: it is where it would be, had it taken them all along."""
    C = W.chains[j]
    X = S.steps[row_of(S, j)]
    credit(S, W, j)
    C.leaps = 0
    W.truth[j].finish = NEVER
    W.truth[j].due = NEVER
    gone = S.g[0].now - C.since
    C.begun = 1 if gone > 0 else 0
    forward = forward_ms(S, W, j)
    computed = C.since + forward + backward_ms(S, W, j)
    if gone == 0:
        pass
    elif gone < forward:
        set_workers(S, j, np.int64(FORWARDS), C.since + forward)
        W.truth[j].due = C.since + forward
    elif gone == forward and X.bw > 0:
        set_workers(S, j, np.int64(BACKWARD), np.int64(0))
    elif S.g[0].now < computed:
        set_workers(S, j, np.int64(BACKWARDS), computed)
        W.truth[j].due = computed
    else:
        _land_in_transfer(S, W, j, computed)
    mark(S, j)


@core
def _land_in_transfer(S: State, W: World, j: Int, began: Int) -> None:
    T = S.transfers[j]
    W.chains[j].over = S.jobs[j].gpus
    set_workers(S, j, np.int64(OVER), np.int64(0))
    T.state = UNDER_WAY
    T.ready = began
    T.left = S.steps[row_of(S, j)].transfer_ms
    T.sharers = 1
    T.rate = 1.0
    T.rated = began + S.g[0].latency
    T.end = T.rated + np.int64(math.ceil(T.left))
    count_transfers(S, j, np.int64(0), np.int64(1))


@core
def land_neighbours(S: State, W: World, j: Int) -> None:
    """Jobs that leap on the GPUs of job `j`, or on its network cards if it sends, do so no more."""
    i = S.jobs[j].part
    uses_network = sends(S, j)
    while i >= 0:
        N = S.nodes[S.parts[i].node]
        for b in range(N.gpus):
            x = N.gpu0 + b
            shared = sits(S, j, x)
            for o in range(jobs_on(S, x)):
                other = S.occupants[x, o]
                leaps = other != j and S.flows[other].first != 0 and W.chains[other].leaps
                if leaps and (shared or (uses_network and sends(S, other))):
                    land(S, W, other)
        i = S.parts[i].next
