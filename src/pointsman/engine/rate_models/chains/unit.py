"""Jobs as chains of iterations: forward and backward tasks on GPUs they may share, and transfers that policies admit
(``docs/reference/semantics.md`` §9).

A job that shares neither GPUs nor network cards *leaps*: it goes from iteration to iteration without a step, until
another comes. Whatever happens at an instant, GPUs choose their tasks and transfers get their rates at its end.
"""

import numpy as np

from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import core, exported
from pointsman.engine.placement.occupancy import BACKWARD, BACKWARDS, FORWARD, FORWARDS, OVER, jobs_on, seat
from pointsman.engine.rate_models.chains.leaps import credit, land, land_neighbours, leap, meets_no_other
from pointsman.engine.rate_models.chains.sending import begin_transfer, forget_transfer, get_ready, rate_transfer
from pointsman.engine.rate_models.chains.tasks import (
    FOREVER,
    begin_iteration,
    begin_task,
    end_iteration,
    end_tasks,
    extra_of,
    first_gpu,
    gpu_at,
    next_gpu,
    pass_iterations,
    transfer_ms,
)
from pointsman.engine.rate_models.chains.transfers import sends
from pointsman.engine.rate_models.rates import row_of
from pointsman.engine.state.codes import OK, RUNNING
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.invariants import TASKS
from pointsman.engine.state.records import (
    ADMIT,
    ALERT,
    DIRTY,
    LEAVE,
    NO_TRANSFER,
    OFF_RATE,
    SHARE,
    STEP_ON,
    UNDER_WAY,
    WAITING,
    WAITS,
    Int,
    State,
    World,
)
from pointsman.engine.state.state_pointer import open_state, open_world
from pointsman.types import Event, Reason

NO_TRANSFER_WAITS = int(Reason.NoTransfer)
TOLD = int(Event.TRANSFER)


@core
def _join(S: State, W: World, j: Int) -> None:
    """Job `j` runs from now on, with an iteration to begin."""
    C = W.chains[j]
    S.flows[j].first = 1
    left = (W.truth[j].work - S.jobs[j].done_when_rated) / S.steps[row_of(S, j)].solo
    C.left = max(np.int64(1), np.int64(np.floor(left + 0.5))) if left < FOREVER else np.int64(FOREVER)
    C.leaps = 0
    C.extra = extra_of(S, j)
    C.owed = 0
    W.truth[j].finish = NEVER
    W.truth[j].due = NEVER
    S.transfers[j].state = NO_TRANSFER
    begin_iteration(S, W, j)
    if sends(S, j):
        _count_sender(S, j, np.int64(1))
    land_neighbours(S, W, j)


@core
def _count_sender(S: State, j: Int, more: Int) -> None:
    i = S.jobs[j].part
    while i >= 0:
        S.nics[S.parts[i].node].senders += more
        i = S.parts[i].next


@core
def _attend(S: State, W: World, j: Int) -> None:
    """What running job `j` does next, and the GPUs on which it is."""
    C = W.chains[j]
    if C.leaps:
        return
    if not C.begun and meets_no_other(S, j):
        leap(S, W, j)
        return
    due = np.int64(NEVER)
    if S.transfers[j].state == UNDER_WAY:
        rate_transfer(S, j)
        due = S.transfers[j].end
    i, mask = first_gpu(S, j)
    while i >= 0:
        x = gpu_at(S, i, mask)
        if S.gpus[x].busy < 0:
            begin_task(S, W, x)
        if S.gpus[x].busy == j:
            due = min(due, S.gpus[x].until)
        i, mask = next_gpu(S, i, mask)
    W.truth[j].due = due


@core
def _share(S: State, W: World) -> None:
    """Jobs that began to run join; then GPUs take tasks and transfers get rates, where anything changed."""
    i = np.int64(0)
    while i < S.g[0].dirty:
        j = S.lists[DIRTY, i]
        if S.jobs[j].state == RUNNING and S.flows[j].first == 0:
            _join(S, W, j)
        elif S.jobs[j].state == RUNNING and W.chains[j].leaps and W.chains[j].extra != extra_of(S, j):
            land(S, W, j)
        i += 1
    for i in range(S.g[0].dirty):  # before any GPU takes a task: it may be another job's
        j = S.lists[DIRTY, i]
        if S.jobs[j].state == RUNNING and not W.chains[j].leaps and not W.chains[j].begun:
            W.chains[j].extra = extra_of(S, j)
    i = np.int64(0)
    while i < S.g[0].dirty:
        j = S.lists[DIRTY, i]
        if S.jobs[j].state == RUNNING:
            _attend(S, W, j)
        i += 1


@core
def _step(S: State, W: World, j: Int) -> None:
    """What was due of job `j` has come to pass."""
    T = S.transfers[j]
    C = W.chains[j]
    W.truth[j].due = NEVER
    mark(S, j)
    if T.state == UNDER_WAY and T.end <= S.g[0].now:
        forget_transfer(S, j)
        S.jobs[j].waited += np.float64(S.g[0].now - T.ready)
        end_iteration(S, W, j)
        return
    end_tasks(S, W, j)
    if C.over == S.jobs[j].gpus and T.state == NO_TRANSFER:
        if sends(S, j):
            get_ready(S, j)
        else:
            end_iteration(S, W, j)


@core
def _leave(S: State, W: World, j: Int) -> None:
    """Job `j` runs no more; the iteration it was in is not counted."""
    if W.chains[j].leaps:
        credit(S, W, j)
        if W.truth[j].finish == S.g[0].now:
            pass_iterations(S, W, j, np.int64(1))
            S.jobs[j].waited += np.float64(transfer_ms(S, j))
        W.chains[j].leaps = 0
    S.jobs[j].done = S.jobs[j].done_when_rated
    i, mask = first_gpu(S, j)
    while i >= 0:
        x = gpu_at(S, i, mask)
        S.workers[x, seat(S, j, x)] = OVER
        if S.gpus[x].busy == j:
            S.gpus[x].busy = -1
        for o in range(jobs_on(S, x)):
            if S.occupants[x, o] != j:
                mark(S, S.occupants[x, o])
        i, mask = next_gpu(S, i, mask)
    forget_transfer(S, j)
    if sends(S, j):
        _count_sender(S, j, np.int64(-1))
    S.flows[j].first = 0
    W.truth[j].due = -1
    W.truth[j].finish = NEVER


@core
def _meets_a_transfer(S: State, j: Int) -> bool:
    """Whether another transfer waits or is under way on a node of job `j`, whose own waits."""
    i = S.jobs[j].part
    while i >= 0:
        V = S.nics[S.parts[i].node]
        if V.waiting + V.under_way > 1:
            return True
        i = S.parts[i].next
    return False


@core
def _was_freed(S: State, j: Int) -> bool:
    """Whether a transfer ended or left at this instant on a node of job `j`."""
    i = S.jobs[j].part
    while i >= 0:
        if S.nics[S.parts[i].node].freed == S.g[0].now:
            return True
        i = S.parts[i].next
    return False


@core
def _alert(S: State, W: World) -> Int:
    """Before the pass: transfers that meet none begin; of which that wait the policy hears. How many these are."""
    g = S.g[0]
    for i in range(g.off_rate):
        if W.chains[S.lists[OFF_RATE, i]].leaps:
            credit(S, W, S.lists[OFF_RATE, i])
    for i in range(g.waiting - 1, -1, -1):
        j = S.lists[WAITING, i]
        if not g.admits or (S.transfers[j].fresh and not _meets_a_transfer(S, j)):
            begin_transfer(S, j)
    told = np.int64(0)
    for i in range(g.waiting):
        j = S.lists[WAITING, i]
        if S.transfers[j].fresh or _was_freed(S, j):
            S.transfers[j].fresh = 0
            told += 1
            g.happened |= np.int64(1) << TOLD
            if g.inbox_on:
                S.inbox[g.inbox, 0] = TOLD
                S.inbox[g.inbox, 1] = j
                g.inbox += 1
    return told


@core
def _admit(S: State, j: Int) -> Int:
    if S.transfers[j].state != WAITS:
        return NO_TRANSFER_WAITS
    begin_transfer(S, j)
    return OK


@core
def _audit(S: State, W: World) -> Int:
    """TASKS if a GPU does two tasks, or none while one is ready, or its memory is overdrawn; or a transfer's rate or
    the counts on a node are not those of what is under way; else 0.
    """
    for x in range(S.gpus.shape[0]):
        X = S.gpus[x]
        ready = at_work = np.int64(0)
        for o in range(jobs_on(S, np.int64(x))):
            j = S.occupants[x, o]
            if S.workers[x, o] == FORWARDS or S.workers[x, o] == BACKWARDS:
                at_work += 1 if X.busy == j else 2
            if S.flows[j].first and not W.chains[j].leaps:
                ready += 1 if S.workers[x, o] == FORWARD or S.workers[x, o] == BACKWARD else 0
        if X.free_bytes < 0 or at_work > 1 or at_work != (X.busy >= 0) or (ready > 0 and X.busy < 0):
            return TASKS
    for n in range(S.nodes.shape[0]):
        waiting = under_way = senders = np.int64(0)
        for j in range(S.g[0].slots):
            i = S.jobs[j].part if S.jobs[j].state == RUNNING else np.int64(-1)
            while i >= 0:
                if S.parts[i].node == n and sends(S, j):
                    senders += 1
                    waiting += S.transfers[j].state == WAITS
                    under_way += S.transfers[j].state == UNDER_WAY
                    if S.transfers[j].state == UNDER_WAY and S.transfers[j].sharers < S.nics[n].under_way:
                        return TASKS
                i = S.parts[i].next
        V = S.nics[n]
        if V.waiting != waiting or V.under_way != under_way or V.senders != senders:
            return TASKS
    return np.int64(0)


@exported("int64(int64, int64, int64)")
def iterations(address: Int, what: Int, j: Int) -> Int:
    """See `records.SHARE`. Answers a Reason, how many transfers a policy should see to, or what `audit` found."""
    S = open_state(address)
    W = open_world(address)
    answer = np.int64(0)
    if what == SHARE:
        _share(S, W)
    elif what == LEAVE:
        _leave(S, W, j)
    elif what == STEP_ON:
        _step(S, W, j)
    elif what == ALERT:
        answer = _alert(S, W)
    elif what == ADMIT:
        answer = np.int64(_admit(S, j))
    else:
        answer = _audit(S, W)
    return answer
