"""Jobs as chains of iterations: forward and backward tasks on GPUs they may share, and transfers that policies admit
(``docs/reference/semantics.md`` §9).

A job that shares neither GPUs nor network cards *leaps*: it goes from iteration to iteration without a step, until
another comes. Whatever happens at an instant, GPUs choose their tasks and transfers get their rates at its end.
"""

import math

import numpy as np

from pointsman.engine.actions.verbs import RUNNING
from pointsman.engine.index.bits import lowest
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import apart, core
from pointsman.engine.placement.occupancy import BACKWARD, BACKWARDS, FORWARD, FORWARDS, OVER, jobs_on, seat, sits
from pointsman.engine.rate_models.rates import FINEST, row_of
from pointsman.engine.rate_models.transfers import most_under_way, sends, service_left, transfer_left
from pointsman.engine.state.due_times import FARTHEST_MS, NEVER
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

FOREVER = 1 << 40
"""Iterations of a job whose end nobody knows."""
OK, NO_TRANSFER_WAITS = int(Reason.OK), int(Reason.NoTransfer)
TOLD = int(Event.TRANSFER)


@core
def _first_gpu(S: State, j: Int) -> tuple[Int, Int]:
    """A cursor at the first GPU of job `j`: one of its parts, and the GPUs of it still to come; part -1 at the end."""
    i = S.jobs[j].part
    return i, S.parts[i].mask if i >= 0 else np.int64(0)


@core
def _next_gpu(S: State, i: Int, mask: Int) -> tuple[Int, Int]:
    mask &= mask - np.int64(1)
    if mask == 0:
        i = S.parts[i].next
        if i >= 0:
            mask = S.parts[i].mask
    return i, mask


@core
def _gpu(S: State, i: Int, mask: Int) -> Int:
    """The GPU at a cursor."""
    return S.nodes[S.parts[i].node].gpu0 + lowest(mask)


@core
def _wire_ms(S: State, j: Int) -> Int:
    """Ms that a transfer of job `j` takes which meets none."""
    return S.g[0].latency + np.int64(math.ceil(S.steps[row_of(S, j)].transfer_ms)) if sends(S, j) else np.int64(0)


@core
def _task_ms(W: World, j: Int, ms: Int) -> Int:
    """Ms that a task of job `j` takes in its iteration which takes so many by itself."""
    return np.int64(np.floor(ms * W.chains[j].slow + 0.5))


@core
def _computing_ms(S: State, W: World, j: Int) -> Int:
    """Ms of the tasks of an iteration of job `j` that meets nobody."""
    X = S.steps[row_of(S, j)]
    return _task_ms(W, j, X.fw) + _task_ms(W, j, X.bw)


@core
def _period(S: State, W: World, j: Int) -> Int:
    """Ms of an iteration of job `j` that meets nobody."""
    return _computing_ms(S, W, j) + _wire_ms(S, j)


@core
def _count_slowed(S: State, W: World, j: Int, n: Int) -> None:
    """So many iterations of job `j` are done, each as much longer as the factors on computing made it."""
    X = S.steps[row_of(S, j)]
    S.jobs[j].slowed += np.float64(n * (_computing_ms(S, W, j) - X.fw - X.bw))


# -- tasks ---------------------------------------------------------------------------------------------


@core
def goes_before(S: State, a: Int, b: Int) -> bool:
    """Whether job `a` has less service left than job `b`, or as much and a lower row."""
    x = service_left(S, a)
    y = service_left(S, b)
    return x < y or (x == y and S.jobs[a].row < S.jobs[b].row)


@core
def _begin_task(S: State, W: World, x: Int) -> None:
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
    T = S.steps[row_of(S, j)]
    forward = S.workers[x, best] == FORWARD
    S.workers[x, best] += 1
    X.busy = j
    X.until = S.g[0].now + _task_ms(W, j, T.fw if forward else T.bw)
    W.chains[j].begun = 1
    W.truth[j].due = min(W.truth[j].due, X.until)
    mark(S, j)


@core
def _set_workers(S: State, j: Int, phase: Int, until: Int) -> None:
    """All workers of job `j` are in `phase`; where that is a task, it ends at `until`."""
    i, mask = _first_gpu(S, j)
    while i >= 0:
        x = _gpu(S, i, mask)
        S.workers[x, seat(S, j, x)] = phase
        if phase == FORWARDS or phase == BACKWARDS:
            S.gpus[x].busy = j
            S.gpus[x].until = until
        i, mask = _next_gpu(S, i, mask)


@core
def _end_tasks(S: State, W: World, j: Int) -> None:
    """The tasks of job `j` that are due have ended."""
    C = W.chains[j]
    T = S.steps[row_of(S, j)]
    i, mask = _first_gpu(S, j)
    while i >= 0:
        x = _gpu(S, i, mask)
        X = S.gpus[x]
        if X.busy == j and X.until <= S.g[0].now:
            X.busy = -1
            o = seat(S, j, x)
            if S.workers[x, o] == FORWARDS and T.bw > 0:
                S.workers[x, o] = BACKWARD
            else:
                S.workers[x, o] = OVER
                C.over += 1
        i, mask = _next_gpu(S, i, mask)


@core
def _count_down(C: np.void, n: Int) -> None:
    """So many iterations of a chain are done; of one whose end nobody knows as many are left."""
    if C.left < FOREVER:
        C.left -= n


@core
def _begin_iteration(S: State, W: World, j: Int) -> None:
    W.chains[j].over = 0
    W.chains[j].begun = 0
    _set_workers(S, j, np.int64(FORWARD), np.int64(0))


@core
def _end_iteration(S: State, W: World, j: Int) -> None:
    """Job `j` has done an iteration; with the last one it finishes at this instant."""
    C = W.chains[j]
    _count_down(C, np.int64(1))
    _count_slowed(S, W, j, np.int64(1))
    if C.left == 0:
        W.truth[j].finish = S.g[0].now
        return
    S.jobs[j].done_when_rated += S.steps[row_of(S, j)].solo
    _begin_iteration(S, W, j)


# -- transfers -----------------------------------------------------------------------------------------


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
def _count(S: State, j: Int, waiting: Int, under_way: Int) -> None:
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
def _get_ready(S: State, j: Int) -> None:
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
    _count(S, j, np.int64(1), np.int64(0))


@core
def _wait_no_more(S: State, j: Int) -> None:
    g = S.g[0]
    g.waiting -= 1
    last = S.lists[WAITING, g.waiting]
    S.lists[WAITING, S.transfers[j].place] = last
    S.transfers[last].place = S.transfers[j].place
    _count(S, j, np.int64(-1), np.int64(0))


@core
def _begin_transfer(S: State, j: Int) -> None:
    """The transfer of job `j`, which waits, begins."""
    T = S.transfers[j]
    _wait_no_more(S, j)
    T.state = UNDER_WAY
    T.sharers = 0
    T.rate = 0.0
    T.rated = S.g[0].now + S.g[0].latency
    T.end = NEVER
    _count(S, j, np.int64(0), np.int64(1))
    mark(S, j)


@core
def _forget_transfer(S: State, j: Int) -> None:
    """The transfer of job `j` is over, or given up."""
    T = S.transfers[j]
    if T.state == WAITS:
        _wait_no_more(S, j)
    elif T.state == UNDER_WAY:
        _count(S, j, np.int64(0), np.int64(-1))
    T.state = NO_TRANSFER


@core
def _rate_transfer(S: State, j: Int) -> None:
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


# -- leaps ---------------------------------------------------------------------------------------------


@core
def _meets_nobody(S: State, j: Int) -> bool:
    """Whether nobody else is on the GPUs of running job `j`, nor sends from its nodes if it does."""
    i, mask = _first_gpu(S, j)
    while i >= 0:
        if jobs_on(S, _gpu(S, i, mask)) > 1:
            return False
        i, mask = _next_gpu(S, i, mask)
    if not sends(S, j):
        return True
    i = S.jobs[j].part
    while i >= 0:
        if S.nics[S.parts[i].node].senders > 1:
            return False
        i = S.parts[i].next
    return True


@core
def _leap(S: State, W: World, j: Int) -> None:
    """Job `j`, at the beginning of an iteration, goes on without steps."""
    C = W.chains[j]
    C.leaps = 1
    C.since = S.g[0].now
    W.truth[j].due = NEVER
    period = _period(S, W, j)
    W.truth[j].finish = C.since + C.left * period if C.left < min(FOREVER, FARTHEST_MS // period) else NEVER


@core
def _credit(S: State, W: World, j: Int) -> None:
    """Count the iterations that leaping job `j` has done by now."""
    C = W.chains[j]
    J = S.jobs[j]
    period = _period(S, W, j)
    n = (S.g[0].now - C.since) // period
    if n >= C.left:  # the last is counted when it finishes
        n = C.left - 1
    X = S.steps[row_of(S, j)]
    _count_down(C, n)
    _count_slowed(S, W, j, n)
    C.since += n * period
    J.done_when_rated += n * X.solo
    J.waited += np.float64(n * _wire_ms(S, j))


@core
def _land(S: State, W: World, j: Int) -> None:
    """Leaping job `j` takes steps again: it is where it would be, had it taken them all along."""
    C = W.chains[j]
    X = S.steps[row_of(S, j)]
    _credit(S, W, j)
    C.leaps = 0
    W.truth[j].finish = NEVER
    W.truth[j].due = NEVER
    gone = S.g[0].now - C.since
    C.begun = 1 if gone > 0 else 0
    forward = _task_ms(W, j, X.fw)
    computed = C.since + forward + _task_ms(W, j, X.bw)
    if gone == 0:
        pass
    elif gone < forward:
        _set_workers(S, j, np.int64(FORWARDS), C.since + forward)
        W.truth[j].due = C.since + forward
    elif gone == forward and X.bw > 0:
        _set_workers(S, j, np.int64(BACKWARD), np.int64(0))
    elif S.g[0].now < computed:
        _set_workers(S, j, np.int64(BACKWARDS), computed)
        W.truth[j].due = computed
    else:
        _land_in_transfer(S, W, j, computed)
    mark(S, j)


@core
def _land_in_transfer(S: State, W: World, j: Int, began: Int) -> None:
    T = S.transfers[j]
    W.chains[j].over = S.jobs[j].gpus
    _set_workers(S, j, np.int64(OVER), np.int64(0))
    T.state = UNDER_WAY
    T.ready = began
    T.left = S.steps[row_of(S, j)].transfer_ms
    T.sharers = 1
    T.rate = 1.0
    T.rated = began + S.g[0].latency
    T.end = T.rated + np.int64(math.ceil(T.left))
    _count(S, j, np.int64(0), np.int64(1))


@core
def _land_neighbours(S: State, W: World, j: Int) -> None:
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
                    _land(S, W, other)
        i = S.parts[i].next


# -- what the loop asks for ----------------------------------------------------------------------------


@core
def _join(S: State, W: World, j: Int) -> None:
    """Job `j` runs from now on, with an iteration to begin."""
    C = W.chains[j]
    S.flows[j].first = 1
    left = (W.truth[j].work - S.jobs[j].done_when_rated) / S.steps[row_of(S, j)].solo
    C.left = max(np.int64(1), np.int64(np.floor(left + 0.5))) if left < FOREVER else np.int64(FOREVER)
    C.leaps = 0
    C.slow = S.jobs[j].slow_computing
    W.truth[j].finish = NEVER
    W.truth[j].due = NEVER
    S.transfers[j].state = NO_TRANSFER
    _begin_iteration(S, W, j)
    if sends(S, j):
        _count_sender(S, j, np.int64(1))
    _land_neighbours(S, W, j)


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
    if not C.begun:
        C.slow = S.jobs[j].slow_computing
        if _meets_nobody(S, j):
            _leap(S, W, j)
            return
    due = np.int64(NEVER)
    if S.transfers[j].state == UNDER_WAY:
        _rate_transfer(S, j)
        due = S.transfers[j].end
    i, mask = _first_gpu(S, j)
    while i >= 0:
        x = _gpu(S, i, mask)
        if S.gpus[x].busy < 0:
            _begin_task(S, W, x)
        if S.gpus[x].busy == j:
            due = min(due, S.gpus[x].until)
        i, mask = _next_gpu(S, i, mask)
    W.truth[j].due = due


@core
def _share(S: State, W: World) -> None:
    """Jobs that began to run join; then GPUs take tasks and transfers get rates, where anything changed."""
    i = np.int64(0)
    while i < S.g[0].dirty:
        j = S.lists[DIRTY, i]
        if S.jobs[j].state == RUNNING and S.flows[j].first == 0:
            _join(S, W, j)
        elif S.jobs[j].state == RUNNING and W.chains[j].leaps and W.chains[j].slow != S.jobs[j].slow_computing:
            _land(S, W, j)
        i += 1
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
        _forget_transfer(S, j)
        S.jobs[j].waited += np.float64(S.g[0].now - T.ready)
        _end_iteration(S, W, j)
        return
    _end_tasks(S, W, j)
    if C.over == S.jobs[j].gpus and T.state == NO_TRANSFER:
        if sends(S, j):
            _get_ready(S, j)
        else:
            _end_iteration(S, W, j)


@core
def _leave(S: State, W: World, j: Int) -> None:
    """Job `j` runs no more; the iteration it was in is not counted."""
    if W.chains[j].leaps:
        _credit(S, W, j)
        if W.truth[j].finish == S.g[0].now:
            _count_slowed(S, W, j, np.int64(1))
            S.jobs[j].waited += np.float64(_wire_ms(S, j))
        W.chains[j].leaps = 0
    S.jobs[j].done = S.jobs[j].done_when_rated
    i, mask = _first_gpu(S, j)
    while i >= 0:
        x = _gpu(S, i, mask)
        S.workers[x, seat(S, j, x)] = OVER
        if S.gpus[x].busy == j:
            S.gpus[x].busy = -1
        for o in range(jobs_on(S, x)):
            if S.occupants[x, o] != j:
                mark(S, S.occupants[x, o])
        i, mask = _next_gpu(S, i, mask)
    _forget_transfer(S, j)
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
            _credit(S, W, S.lists[OFF_RATE, i])
    for i in range(g.waiting - 1, -1, -1):
        j = S.lists[WAITING, i]
        if not g.admits or (S.transfers[j].fresh and not _meets_a_transfer(S, j)):
            _begin_transfer(S, j)
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
    _begin_transfer(S, j)
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


@apart("int64(int64, int64, int64)")
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
