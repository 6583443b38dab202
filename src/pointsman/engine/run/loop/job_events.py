"""What events do to jobs: they are submitted, begin to run, end, or wait again."""

import numpy as np

from pointsman.engine.actions.claims import end_claim_of
from pointsman.engine.actions.eviction_cache import note_worse
from pointsman.engine.actions.held_gpus import unbind
from pointsman.engine.actions.plan_log import log_event
from pointsman.engine.actions.running import begin_running, cease_running, leave_network, lose, settle, since_checkpoint
from pointsman.engine.actions.verbs import become_pending
from pointsman.engine.estimates.history import FORETELL, LEARN
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.index.event_heap import heap_remove, top_row, top_slot
from pointsman.engine.index.queues import dequeue
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.run.loop.event_kinds import (
    CANCEL,
    FAIL,
    FINISH,
    LEVEL,
    NODE_DOWN,
    RESIZED,
    STARTED,
    STEP,
    SUBMIT,
    TIMER,
)
from pointsman.engine.run.loop.hooks import tell
from pointsman.engine.run.loop.rating import forget_off_rate, schedule, set_rate
from pointsman.engine.state.codes import RUNNING, STARTING, STOPPING
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.policy_fields import forget_job
from pointsman.engine.state.records import NEXT, STEP_ON, Int, State, World
from pointsman.engine.state.state_pointer import call_apart, prefetch
from pointsman.types import JobState

CANCELLED = int(JobState.CANCELLED)


@core
def _record(S: State, W: World, j: Int, state: Int) -> None:
    """Job `j` leaves: write its outcome and free its slot."""
    J = S.jobs[j]
    R = W.outcomes[J.row & S.g[0].row_mask]
    R.start = J.first_start
    R.end = S.g[0].now
    R.run = J.executed
    R.pended = J.pended
    R.held = J.held
    R.attained = J.attained
    R.estimate = J.estimate
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
    """An attempt failed, by its node or by itself: the work since the last checkpoint is lost."""
    if S.g[0].checkpoint_ms > 0.0:
        lose(S, j, since_checkpoint(S, j, S.jobs[j].done))


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
        J.pended += g.now - J.pend_since


@core
def _fetch_next(S: State, W: World) -> None:
    """Whose event is next will soon be asked for."""
    prefetch(S.jobs, top_slot(W))
    prefetch(W.outcomes, top_row(W) & S.g[0].row_mask)


@cold
def leave(S: State, W: World, j: Int, kind: Int) -> None:
    """Job `j` gives up its GPUs by an event of `kind`: it has ended, or waits again."""
    J = S.jobs[j]
    settle(S, j)
    leave_network(S, j)
    if J.claims:
        end_claim_of(S.g[0].address, j)
    if J.state == RUNNING:
        cease_running(S, j)
    if kind == FINISH:
        if not S.g[0].outside:
            J.done = W.truth[j].work
        if S.g[0].history != 0:
            call_apart(S.g[0].history, S.g[0].address, LEARN, j)
    elif (kind == NODE_DOWN or kind == FAIL) and J.state == RUNNING:
        _lose_work(S, j)
    _uncount(S, j)
    heap_remove(W, j)
    _fetch_next(S, W)
    forget_off_rate(S, j)
    W.truth[j].due = -1
    J.rate = 0.0
    J.pause = 0
    J.alarm = NEVER
    log_event(S, kind, j, np.int64(0))
    unbind(S, j, True)
    dequeue(S, j)
    ended = kind == FINISH or kind == CANCEL
    if ended:
        J.state = W.clock[0].ends_as if kind == FINISH else CANCELLED
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
    set_rate(S, W, j)
    if S.g[0].network != 0 or S.g[0].factors > 0:
        mark(S, j)  # the links are shared out at the end of the instant, and those beside it rated again
        begin_running(S, j)


@core
def apply(S: State, W: World, j: Int, kind: Int) -> None:
    """Apply an event of job `j`."""
    if kind == STEP:
        if S.g[0].counts_iterations:
            call_apart(S.g[0].network, S.g[0].address, STEP_ON, j)
        else:
            call_apart(S.g[0].staging, S.g[0].address, NEXT, j)
        schedule(S, W, j)
    elif kind == STARTED or kind == RESIZED or kind == LEVEL or kind == TIMER:
        if kind == STARTED or kind == RESIZED:
            _enter_running(S, W, j)
        else:
            settle(S, j)
            S.jobs[j].alarm = NEVER
        if kind != TIMER:
            log_event(S, kind, j, np.int64(0))
        tell(S, kind, j)
        schedule(S, W, j)
    else:
        leave(S, W, j, kind)


@core
def take_slot(S: State) -> Int:
    """A slot for another job."""
    g = S.g[0]
    j = g.free_slot
    if j >= 0:
        g.free_slot = S.jobs[j].up
    else:
        j = g.slots
        g.slots += 1
    return j


@core
def begin(S: State, W: World, j: Int, row: Int) -> None:
    """Slot `j` has the job of `row` of the trace, to which nothing has happened yet."""
    at = row & S.g[0].row_mask
    T = W.trace[at]
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
    J.reached = 0.0
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
    J.pended = 0
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
    J.off_rate = -1
    J.bucket = -1
    J.claims = 0
    J.pinned = T.pinned
    forget_job(S, j)
    W.truth[j].work = T.work
    W.truth[j].finish = NEVER
    W.truth[j].due = -1
    W.truth[j].turn = NEVER
    W.truth[j].pos = -1
    for k in range(W.told_numbers.shape[1]):
        S.job_numbers[j, k] = W.told_numbers[at, k]


@core
def submit(S: State, W: World) -> None:
    """The next job of the trace takes a slot and waits."""
    g = S.g[0]
    j = take_slot(S)
    begin(S, W, j, W.clock[0].arrived)
    W.clock[0].arrived += 1
    become_pending(S, j)
    if g.history != 0:
        call_apart(g.history, g.address, FORETELL, j)
    tell(S, SUBMIT, j)
