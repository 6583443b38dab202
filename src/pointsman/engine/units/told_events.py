"""What a live world is told of jobs and nodes (`pointsman.live.world`), where a simulation has scripted events.

A node that fails takes no jobs, and frees nothing: of its jobs somebody says what became of them.
"""

import numpy as np

from pointsman.engine.actions.claims import end_claim_of
from pointsman.engine.actions.running import settle
from pointsman.engine.actions.verbs import become_pending, withdraw
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.index.queues import dequeue
from pointsman.engine.jit.compile import core, exported
from pointsman.engine.run.loop.event_kinds import (
    CANCEL,
    FAIL,
    FINISH,
    NODE_DOWN,
    NODE_UP,
    RESIZED,
    START_FAILED,
    STARTED,
    STOPPED,
    SUBMIT,
)
from pointsman.engine.run.loop.hooks import tell, tell_rate
from pointsman.engine.run.loop.job_events import apply, submit
from pointsman.engine.run.loop.node_events import change_node, slot_of
from pointsman.engine.run.loop.rating import schedule
from pointsman.engine.state.codes import PENDING, RUNNING, STARTING, STOPPING
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.records import Int, State, World
from pointsman.engine.state.state_pointer import open_state, open_world
from pointsman.types import JobState, Told

HELD, COMPLETED = int(JobState.HELD), int(JobState.COMPLETED)
WITHDRAW, HOLD, RELEASE, ESTIMATE, OBSERVE, PIN, UNPIN = (int(kind) for kind in Told)


@core
def _fits(kind: Int, state: Int) -> bool:
    """Whether something of `kind` can happen to a job in `state`."""
    if kind == STARTED or kind == RESIZED:
        return state == STARTING
    if kind == START_FAILED:  # also of a start that was withdrawn because it took too long
        return state == STARTING or state == STOPPING
    if kind == STOPPED:
        return state == STOPPING
    if kind == FINISH or kind == FAIL:
        return state == STARTING or state == RUNNING or state == STOPPING
    if kind == WITHDRAW:
        return state == STARTING or state == RUNNING
    if kind == HOLD:
        return state == PENDING
    if kind == RELEASE:
        return state == HELD
    if kind == OBSERVE:
        return state == RUNNING
    return state != 0 and (kind == CANCEL or kind == ESTIMATE or kind == PIN or kind == UNPIN)


@core
def _set_aside(S: State, W: World, j: Int) -> None:
    """Waiting job `j` is in no index, and no policy knows of it."""
    J = S.jobs[j]
    if J.claims:
        end_claim_of(S.g[0].address, j)
    dequeue(S, j)
    J.pended += S.g[0].now - J.pend_since
    S.g[0].pending -= 1
    S.g[0].queued_gpus -= J.asked
    J.alarm = NEVER
    J.state = HELD
    schedule(S, W, j)
    tell(S, CANCEL, j)


@core
def _come_back(S: State, j: Int) -> None:
    """Job `j` waits again, as if it had just come, but with all that it has received."""
    become_pending(S, j)
    tell(S, SUBMIT, j)


@core
def _estimate(S: State, j: Int, work: float) -> None:
    """What is known of the work of job `j` has changed: it goes where it belongs now."""
    J = S.jobs[j]
    J.estimate = work
    if J.state == PENDING and not J.claims:
        dequeue(S, j)
        tell(S, SUBMIT, j)
    elif J.state == RUNNING:
        settle(S, j)
        tell_rate(S.g[0].address, j)


@core
def _observe(S: State, j: Int, slow: float) -> None:
    """Set how many times as long as alone the computing of running job `j` takes: `slow`, as observed."""
    settle(S, j)
    S.jobs[j].slow_computing = slow
    mark(S, j)


@core
def _tell_job(S: State, W: World, j: Int, kind: Int, state: Int, value: float) -> None:
    """`kind` happened to job `j`, which is in a state for it."""
    if kind == WITHDRAW:
        withdraw(S, j)
    elif kind == HOLD:
        _set_aside(S, W, j)
    elif kind == RELEASE:
        _come_back(S, j)
    elif kind == ESTIMATE:
        _estimate(S, j, value)
    elif kind == OBSERVE:
        _observe(S, j, value)
    elif kind == PIN or kind == UNPIN:
        S.jobs[j].pinned = np.int64(kind == PIN)
    else:
        if S.jobs[j].state == HELD:  # it was taken out of all counts
            _come_back(S, j)
        W.clock[0].ends_as = state if kind == FINISH and state != 0 else COMPLETED
        apply(S, W, j, kind)


@core
def _find(S: State, row: Int, hint: Int) -> Int:
    """The slot of the job of `row`, which is probably `hint`; -1 if it has ended or is not submitted yet."""
    if 0 <= hint < S.g[0].slots and S.jobs[hint].state != 0 and S.jobs[hint].row == row:
        return hint
    return slot_of(S, row)


@core
def _let_arrive(S: State, W: World, row: Int) -> None:
    """The job of `row` arrives before what is told of it at the instant of its submission."""
    C = W.clock[0]
    while C.arrived <= row and C.arrived < C.jobs and W.trace[C.arrived & S.g[0].row_mask].submit <= S.g[0].now:
        C.events += 1
        submit(S, W)


@exported("int64(int64, int64, int64)")
def apply_told(address: Int, what: Int, j: Int) -> Int:
    """Apply what is told next. What does not fit the state of its job is counted, and changes nothing."""
    S = open_state(address)
    W = open_world(address)
    X = W.script[W.clock[0].scripted]
    W.clock[0].scripted += 1
    kind = X.kind
    if kind == NODE_DOWN or kind == NODE_UP:
        change_node(S, X.subject, kind, X.state)
        return np.int64(0)
    _let_arrive(S, W, X.subject)
    j = np.int64(_find(S, X.subject, X.slot))
    if _fits(kind, np.int64(0) if j < 0 else np.int64(S.jobs[j].state)):
        _tell_job(S, W, j, kind, X.state, X.value)
    else:
        W.clock[0].ignored += 1
    return np.int64(0)
