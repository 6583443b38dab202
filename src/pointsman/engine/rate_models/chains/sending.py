"""The transfers that end the iterations of jobs on several nodes."""

import math

import numpy as np

from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import core
from pointsman.engine.placement.occupancy import jobs_on
from pointsman.engine.rate_models.chains.transfers import most_under_way, transfer_left
from pointsman.engine.rate_models.rates import FINEST, row_of
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.records import (
    NO_TRANSFER,
    UNDER_WAY,
    WAITING,
    WAITS,
    Int,
    State,
)


@core
def _mark_senders(S: State, n: Int) -> None:
    """The transfers under way on node `n` may have another rate at the end of the instant."""
    if S.nics[n].under_way == 0:
        return
    N = S.nodes[n]
    for x in range(N.gpu0, N.gpu0 + N.gpus):
        for o in range(jobs_on(S, x)):
            if S.transfers[S.occupants[x, o]].state == UNDER_WAY:
                mark(S, S.occupants[x, o])


@core
def count_transfers(S: State, j: Int, waiting: Int, under_way: Int) -> None:
    """So many more transfers wait and are under way on the nodes of job `j`."""
    i = S.jobs[j].part
    while i >= 0:
        n = S.parts[i].node
        S.nics[n].waiting += waiting
        if under_way != 0:
            S.nics[n].under_way += under_way
            _mark_senders(S, n)
        if under_way < 0:
            S.nics[n].freed = S.g[0].now
        i = S.parts[i].next


@core
def get_ready(S: State, j: Int) -> None:
    """The transfer of job `j` is ready, and waits."""
    g = S.g[0]
    T = S.transfers[j]
    T.state = WAITS
    T.fresh = 1
    T.ready = g.now
    T.left = S.steps[row_of(S, j)].transfer_ms
    T.place = g.waiting
    S.lists[WAITING, g.waiting] = j
    g.waiting += 1
    count_transfers(S, j, np.int64(1), np.int64(0))


@core
def _wait_no_more(S: State, j: Int) -> None:
    g = S.g[0]
    g.waiting -= 1
    last = S.lists[WAITING, g.waiting]
    S.lists[WAITING, S.transfers[j].place] = last
    S.transfers[last].place = S.transfers[j].place
    count_transfers(S, j, np.int64(-1), np.int64(0))


@core
def begin_transfer(S: State, j: Int) -> None:
    """The transfer of job `j`, which waits, begins."""
    T = S.transfers[j]
    _wait_no_more(S, j)
    T.state = UNDER_WAY
    T.sharers = 0
    T.rate = 0.0
    T.rated = S.g[0].now + S.g[0].latency
    T.end = NEVER
    count_transfers(S, j, np.int64(0), np.int64(1))
    mark(S, j)


@core
def forget_transfer(S: State, j: Int) -> None:
    """The transfer of job `j` is over, or given up."""
    T = S.transfers[j]
    if T.state == WAITS:
        _wait_no_more(S, j)
    elif T.state == UNDER_WAY:
        count_transfers(S, j, np.int64(0), np.int64(-1))
    T.state = NO_TRANSFER


@core
def rate_transfer(S: State, j: Int) -> None:
    """The transfer of job `j` gets the rate of the node on which most are under way."""
    T = S.transfers[j]
    k = most_under_way(S, j)
    if k == T.sharers:
        return
    T.left = transfer_left(S, j)
    T.rated = max(T.rated, S.g[0].now)
    T.sharers = k
    T.rate = np.floor(1.0 / (k + (k - 1) * S.g[0].penalty) * FINEST + 0.5) / FINEST
    T.end = T.rated + np.int64(math.ceil(T.left / T.rate))
