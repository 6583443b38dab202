"""The simulated world: events come, the policy decides, its actions are carried out.

The policy's hooks are called by their addresses in ``State.g``. What runs all this is in `units.main_loop`.
"""

import math

import numpy as np

from pointsman.engine.actions.eviction_cache import note_worse
from pointsman.engine.actions.factors import begin_running, cease_running
from pointsman.engine.actions.verbs import (
    ITERATIONS,
    PENDING,
    RUNNING,
    STARTING,
    STOPPING,
    become_pending,
    delay_of_start,
    leave_network,
    log_event,
    settle,
    stopping_index,
    unbind,
)
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.index.event_heap import TOP, heap_remove, heap_set, top_kind, top_row, top_slot
from pointsman.engine.index.queues import dequeue
from pointsman.engine.index.treap import insert
from pointsman.engine.jit.compile import core
from pointsman.engine.rate_models.felt_factors import feel_factors
from pointsman.engine.rate_models.rates import iteration_s, rate_at, waiting_share
from pointsman.engine.run.forget import forget_policy
from pointsman.engine.run.stops import DONE, INBOX_FULL, LOG_FULL
from pointsman.engine.state.due_times import NEVER, after
from pointsman.engine.state.records import DIRTY, NEXT, OFF_RATE, SHARE, STEP_ON, TURN, Int, State, World
from pointsman.engine.state.state_pointer import call_apart, open_state, open_world, prefetch
from pointsman.types import Event, JobState

FINISH, FAIL, CANCEL, STOPPED, NODE_DOWN, NODE_UP, STARTED, START_FAILED, RESIZED, LEVEL, TIMER, SUBMIT, _ = (
    int(e) for e in Event
)
STEP = -1
"""Not an event: something within an iteration is over. It goes before all events of its instant."""
COMPLETED, CANCELLED = int(JobState.COMPLETED), int(JobState.CANCELLED)


@core
def _will_fail(W: World, row: Int, attempt: Int) -> bool:
    """Whether this start fails: a hash of seed, row and attempt against the failure rate."""
    h = (row * 2654435761 + attempt * 40503 + W.clock[0].seed * 97) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 73244475) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 73244475) & 0xFFFFFFFF
    return (h ^ (h >> 16)) < W.clock[0].fail_rate * 4294967296.0


@core
def _event(address: Int, kind: Int, j: Int) -> None:
    """Let the policy know of an event."""
    hook = open_state(address).g[0].on_event
    if hook != 0:
        call_apart(hook, address, kind, j)


@core
def _rated(address: Int, j: Int) -> None:
    """Let the policy know that job `j` runs at another rate."""
    hook = open_state(address).g[0].on_run
    if hook != 0:
        call_apart(hook, address, np.int64(0), j)


@core
def _set_rate(S: State, W: World, j: Int) -> None:
    """Give job `j` the rate of its placement, and its finish, if it has another rate now."""
    J = S.jobs[j]
    if S.g[0].contention == ITERATIONS:  # who counts iterations itself
        if J.off_rate < 0:
            _note_off_rate(S, j)
            _rated(S.g[0].address, j)
        return
    feel_factors(S, j)
    time_s = iteration_s(S, j)
    rate = rate_at(S, j, time_s * J.slow)
    if rate == J.rate:
        return
    settle(S, j)
    J.rate = rate
    J.waits = waiting_share(S, j, time_s)
    J.done_when_rated = J.done
    J.rated = S.g[0].now
    W.truth[j].finish = after(S.g[0].now, W.truth[j].work - J.done, rate)
    if S.g[0].stages > 0:
        call_apart(S.g[0].staging, S.g[0].address, TURN, j)
    if rate == 1.0:
        _forget_off_rate(S, j)
    elif J.off_rate < 0:
        _note_off_rate(S, j)
    _rated(S.g[0].address, j)


@core
def _note_off_rate(S: State, j: Int) -> None:
    S.jobs[j].off_rate = S.g[0].off_rate
    S.lists[OFF_RATE, S.g[0].off_rate] = j
    S.g[0].off_rate += 1


@core
def _forget_off_rate(S: State, j: Int) -> None:
    J = S.jobs[j]
    if J.off_rate >= 0:
        last = S.lists[OFF_RATE, S.g[0].off_rate - 1]
        S.lists[OFF_RATE, J.off_rate] = last
        S.jobs[last].off_rate = J.off_rate
        J.off_rate = -1
        S.g[0].off_rate -= 1


@core
def _transition(S: State, W: World, j: Int, kind: Int, delay: float) -> None:
    """A start or a stop that takes time ends with an event of `kind`."""
    if W.truth[j].due < 0:
        W.truth[j].due = S.g[0].now + delay
    heap_set(W, j, W.truth[j].due, kind, S.jobs[j].row)


@core
def _schedule(S: State, W: World, j: Int) -> None:
    """Put the next event of job `j` into the heap."""
    J = S.jobs[j]
    g = S.g[0]
    if J.state == RUNNING:
        finish = W.truth[j].finish
        step = W.truth[j].due if W.truth[j].due >= 0 else W.truth[j].turn
        if step < min(finish, J.alarm):
            heap_set(W, j, step, STEP, J.row)
        elif finish <= J.alarm:
            heap_set(W, j, finish, FINISH, J.row)
        else:
            heap_set(W, j, J.alarm, LEVEL, J.row)
    elif J.state == STARTING:
        if J.pause > 0:
            _transition(S, W, j, np.int64(RESIZED), J.pause)
        else:
            kind = START_FAILED if _will_fail(W, J.row, J.attempt) else STARTED
            _transition(S, W, j, kind, delay_of_start(S, j))
    elif J.state == STOPPING:
        _transition(S, W, j, STOPPED, g.stop_ms)
    elif J.alarm < NEVER:
        heap_set(W, j, J.alarm, TIMER, J.row)
    else:
        heap_remove(W, j)


@core
def commit(S: State, W: World) -> None:
    """Carry out the pass: every job it touched, or whose share of a link it changed, gets its rate and next event."""
    if S.g[0].contention == ITERATIONS:
        for k in range(S.g[0].dirty):
            if S.jobs[S.lists[DIRTY, k]].state == RUNNING:
                feel_factors(S, S.lists[DIRTY, k])
    if S.g[0].network != 0:
        call_apart(S.g[0].network, S.g[0].address, SHARE, np.int64(0))
    i = np.int64(0)
    while i < S.g[0].dirty:
        j = S.lists[DIRTY, i]
        if S.jobs[j].state == RUNNING:
            _set_rate(S, W, j)
        else:
            _forget_off_rate(S, j)
        _schedule(S, W, j)
        S.jobs[j].dirty = 0
        i += 1
    S.g[0].dirty = 0


@core
def tell(S: State, kind: Int, j: Int) -> None:
    """Let the policy know of an event."""
    g = S.g[0]
    g.happened |= np.int64(1) << kind
    if g.inbox_on:
        S.inbox[g.inbox, 0] = kind
        S.inbox[g.inbox, 1] = j
        g.inbox += 1
    _event(g.address, np.int64(kind), j)


@core
def _record(S: State, W: World, j: Int, state: Int) -> None:
    """Job `j` leaves: write its outcome and free its slot."""
    J = S.jobs[j]
    R = W.outcomes[J.row]
    R.start = J.first_start
    R.end = S.g[0].now
    R.run = J.executed
    R.held = J.held
    R.attained = J.attained
    R.lost = J.lost
    R.waited = J.waited
    R.slowed = J.slowed
    R.preempts = J.preempts
    R.nodes = J.nodes
    R.locality = J.locality
    R.state = state
    J.state = 0
    J.up = S.g[0].free_slot
    S.g[0].free_slot = j
    W.clock[0].ended += 1


@core
def _lose_work(S: State, j: Int) -> None:
    """A node failed: the work since the last checkpoint is lost."""
    J = S.jobs[j]
    every = S.g[0].checkpoint_ms
    if every > 0.0:
        done = J.done - J.restored
        lost = done - math.floor(done / every) * every
        J.done -= lost
        J.lost += lost


@core
def _uncount(S: State, j: Int) -> None:
    """Job `j` no longer counts among those of its state."""
    J = S.jobs[j]
    g = S.g[0]
    if J.state == RUNNING:
        g.running -= 1
    elif J.state == STARTING:
        g.starting -= 1
    elif J.state == STOPPING:
        g.stopping -= 1
    else:
        g.pending -= 1
        g.queued_gpus -= J.asked


@core
def _fetch_next(S: State, W: World) -> None:
    """Whose event is next will soon be asked for."""
    prefetch(S.jobs, top_slot(W))
    prefetch(W.outcomes, top_row(W))


@core
def leave(S: State, W: World, j: Int, kind: Int) -> None:
    """Job `j` gives up its GPUs by an event of `kind`: it has ended, or waits again."""
    J = S.jobs[j]
    settle(S, j)
    leave_network(S, j)
    if J.state == RUNNING:
        cease_running(S, j)
    if kind == FINISH:
        J.done = W.truth[j].work
    elif kind == NODE_DOWN and J.state == RUNNING:
        _lose_work(S, j)
    _uncount(S, j)
    heap_remove(W, j)
    _fetch_next(S, W)
    _forget_off_rate(S, j)
    W.truth[j].due = -1
    J.rate = 0.0
    J.pause = 0
    J.alarm = NEVER
    log_event(S, kind, j, np.int64(0))
    unbind(S, j, True)
    dequeue(S, j)
    ended = kind == FINISH or kind == CANCEL
    if ended:
        J.state = COMPLETED if kind == FINISH else CANCELLED
    else:
        become_pending(S, j)
    tell(S, kind, j)
    if ended:
        _record(S, W, j, J.state)


@core
def _enter_running(S: State, W: World, j: Int) -> None:
    """The start of job `j`, or a change of it, is over: it runs."""
    J = S.jobs[j]
    J.state = RUNNING
    if J.pause == 0:
        J.started = S.g[0].now
        J.restored = J.done
    J.pause = 0
    J.settled = S.g[0].now
    J.done_when_rated = J.done
    J.rated = S.g[0].now
    S.g[0].starting -= 1
    S.g[0].running += 1
    W.truth[j].due = -1
    note_worse(S, j)
    _set_rate(S, W, j)
    if S.g[0].network != 0 or S.g[0].factors > 0:
        mark(S, j)  # the links are shared out at the end of the instant, and those beside it rated again
        begin_running(S, j)


@core
def _apply(S: State, W: World, j: Int, kind: Int) -> None:
    """Apply an event of job `j`."""
    if kind == STEP:
        if S.g[0].contention == ITERATIONS:
            call_apart(S.g[0].network, S.g[0].address, STEP_ON, j)
        else:
            call_apart(S.g[0].staging, S.g[0].address, NEXT, j)
        _schedule(S, W, j)
    elif kind == STARTED or kind == RESIZED or kind == LEVEL or kind == TIMER:
        if kind == STARTED or kind == RESIZED:
            _enter_running(S, W, j)
        else:
            settle(S, j)
            S.jobs[j].alarm = NEVER
        if kind != TIMER:
            log_event(S, kind, j, np.int64(0))
        tell(S, kind, j)
        _schedule(S, W, j)
    else:
        leave(S, W, j, kind)


@core
def _submit(S: State, W: World) -> None:
    """The next job of the trace takes a slot and waits."""
    g = S.g[0]
    j = g.free_slot
    if j >= 0:
        g.free_slot = S.jobs[j].up
    else:
        j = g.slots
        g.slots += 1
    row = W.clock[0].arrived
    W.clock[0].arrived = row + 1
    T = W.trace[row]
    J = S.jobs[j]
    J.row = row
    J.cls = T.cls
    J.queue = T.queue
    J.neg_priority = T.neg_priority
    J.speed = T.speed
    J.submit = T.submit
    J.first_start = -1
    J.started = -1
    J.estimate = T.estimate
    J.done = 0.0
    J.restored = 0.0
    J.lost = 0.0
    J.waited = 0.0
    J.slowed = 0.0
    J.waits = 0.0
    J.rate = 0.0
    J.gpus = 0
    J.asked = S.classes[T.cls].gpus
    J.gpu_type = -1
    J.locality = 0
    J.nodes = 0
    J.part = -1
    J.held = 0
    J.attained = 0
    J.executed = 0
    J.attempt = 0
    J.preempts = 0
    J.started_pass = -1
    J.accumulation = 1
    J.slow = 1.0
    J.slow_computing = 1.0
    J.alone = 0
    J.pause = 0
    J.stage = 0
    J.spot = -1
    J.alarm = NEVER
    J.level = 0
    J.off_rate = -1
    J.bucket = -1
    J.s0 = 0.0
    J.s1 = 0.0
    J.s2 = 0.0
    J.s3 = 0.0
    W.truth[j].work = T.work
    W.truth[j].finish = NEVER
    W.truth[j].due = -1
    W.truth[j].turn = NEVER
    W.truth[j].pos = -1
    become_pending(S, j)
    tell(S, SUBMIT, j)


@core
def next_time(S: State, W: World) -> Int:
    """When the next event is due; NEVER if there is none."""
    C = W.clock[0]
    t = S.g[0].wake
    if C.arrived < C.jobs and W.trace[C.arrived].submit < t:
        t = W.trace[C.arrived].submit
    if W.heap[TOP].time < t:
        t = W.heap[TOP].time
    if C.scripted < C.script and W.script[C.scripted].time < t:
        t = W.script[C.scripted].time
    return t


@core
def _script_is_next(W: World, t: Int) -> bool:
    """Whether a scripted event of instant `t` comes before the top of the heap."""
    C = W.clock[0]
    if C.scripted >= C.script or W.script[C.scripted].time > t:
        return False
    return W.heap[TOP].time > t or top_kind(W) > W.script[C.scripted].kind


@core
def log_is_full(S: State) -> bool:
    """Whether the log might not hold another instant."""
    return S.g[0].log_on and S.g[0].logged + 8 * S.g[0].jobs_per_gpu * S.gpus.shape[0] + 1024 > S.log.shape[0]


@core
def _inbox_is_full(S: State) -> bool:
    """Whether the inbox of a hosted policy might not hold one more node's worth of events."""
    return S.g[0].inbox_on and S.g[0].inbox + S.g[0].jobs_per_gpu * S.gpus.shape[0] + 2 > S.inbox.shape[0]


@core
def _inbox_is_short(S: State) -> bool:
    """Whether an inbox that holds events of earlier instants might not hold those of another."""
    return S.g[0].inbox + 2 * S.g[0].jobs_per_gpu * S.gpus.shape[0] + 1024 > S.inbox.shape[0]


@core
def advance(S: State, W: World, t: Int, address: Int) -> Int:
    """Apply all events of instant `t`. DONE, or what must be made room for before it is called again."""
    g = S.g[0]
    C = W.clock[0]
    if not C.resume:
        g.happened = 0
        if g.round_ms == 0 or g.now % g.round_ms == 0:  # else nobody was told of the events before
            g.inbox = 0
        g.pass_id += 1
    C.resume = 0
    g.now = t
    if g.inbox > 0 and _inbox_is_short(S):
        C.resume = 1
        return INBOX_FULL
    while True:
        if _script_is_next(W, t):
            C.resume = 1
            if log_is_full(S):
                return LOG_FULL
            if _inbox_is_full(S):
                return INBOX_FULL
            C.resume = 0
            call_apart(g.scripted_events, address, np.int64(0), np.int64(0))
        elif W.heap[TOP].time <= t:
            kind = top_kind(W)
            _apply(S, W, top_slot(W), kind)
            if kind == STEP:
                continue  # nobody hears of it
        else:
            break
        C.events += 1
    if g.wake <= t:
        g.wake = NEVER
        C.events += 1
        tell(S, TIMER, np.int64(-1))
    while C.arrived < C.jobs and W.trace[C.arrived].submit <= t:
        if _inbox_is_full(S):
            C.resume = 1
            return INBOX_FULL
        C.events += 1
        _submit(S, W)
    return DONE


@core
def _is_rated(S: State, j: Int) -> bool:
    """Whether running job `j` has got its rate; one that was just started gets it when the pass is carried out."""
    return S.jobs[j].rate > 0.0 or S.jobs[j].off_rate >= 0


@core
def _introduce(S: State, j: Int) -> None:
    """Let a policy that takes over know of job `j`."""
    J = S.jobs[j]
    if J.state == PENDING or J.state == STARTING:
        _event(S.g[0].address, np.int64(SUBMIT), j)
    elif J.state == STOPPING:
        J.key = 0.0
        J.aux = np.inf
        insert(S, stopping_index(S), j)
    elif J.state == RUNNING and _is_rated(S, j):
        settle(S, j)
        _rated(S.g[0].address, j)


@core
def reschedule(address: Int) -> None:
    """Put the next event of every job into the heap anew: what is known of their ends, or the policy, has changed."""
    S = open_state(address)
    W = open_world(address)
    for j in range(S.g[0].slots):
        if S.jobs[j].state != 0:
            _schedule(S, W, j)


@core
def adopt(address: Int) -> None:
    """Take over a state that another policy left: its indexes are built anew as if the jobs had just come, and there is
    a scheduling cycle at this instant. `reschedule` is to follow.
    """
    S = open_state(address)
    forget_policy(S)
    for j in range(S.g[0].slots):
        _introduce(S, np.int64(j))
    S.g[0].wake = S.g[0].now
    S.g[0].happened = 0
    S.g[0].inbox = 0
    S.g[0].pass_id += 1
    open_world(address).clock[0].resume = 1  # what the host puts into the inbox is of this instant
