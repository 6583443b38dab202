"""The verbs: what a policy does. Each is answered at once, by a Reason (`answers`).

A verb changes the state (the mirror of the cluster) and marks the job; the world carries the change out after the pass.
"""

import numpy as np

from pointsman.engine.actions.answers import (
    answer_to_admit,
    answer_to_preempt,
    answer_to_start,
    answer_to_start_on,
)
from pointsman.engine.actions.claims import end_claim_of
from pointsman.engine.actions.held_gpus import bind, note_stopping, take_place, unbind
from pointsman.engine.actions.plan_log import log_event, log_parts
from pointsman.engine.actions.running import at_risk, begin_running, cease_running, leave_network, lose, settle
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.index.queues import dequeue, over_limit, stopping_index
from pointsman.engine.index.treap import insert
from pointsman.engine.jit.compile import cold, core, exported
from pointsman.engine.placement.placing import place, unplace
from pointsman.engine.state.codes import (
    FRAGMENTATION,
    NOT_PENDING,
    OK,
    PENDING,
    QUOTA,
    RESOURCES,
    RUNNING,
    STARTING,
    STOPPING,
)
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.records import ADMIT, Int, State
from pointsman.engine.state.state_pointer import call_apart
from pointsman.types import Verb

START, PREEMPT, ADMITS = int(Verb.START), int(Verb.PREEMPT), int(Verb.ADMIT)


@core
def delay_of_start(S: State, j: Int) -> Int:
    """How long a start of job `j` takes: longer if it has run before and must be restored."""
    return S.g[0].start_ms + (S.g[0].restore_ms if S.jobs[j].started >= 0 else 0)


@cold
def commence(S: State, j: Int, reason: Int) -> None:
    """Waiting job `j`, whose GPUs are in State.place and are free no more, starts."""
    J = S.jobs[j]
    g = S.g[0]
    if J.claims:
        end_claim_of(g.address, j)
    dequeue(S, j)
    bind(S, j)
    g.pending -= 1
    g.queued_gpus -= J.asked
    J.pended += g.now - J.pend_since
    J.attempt += 1
    J.started_pass = g.pass_id
    J.alarm = NEVER
    J.settled = g.now
    delay = delay_of_start(S, j)
    if J.first_start < 0:
        J.first_start = g.now
    J.rate = 0.0
    if delay > 0:
        J.state = STARTING
        g.starting += 1
    else:
        J.state = RUNNING
        J.started = g.now
        J.restored = J.done
        J.done_when_rated = J.done
        J.rated = g.now
        g.running += 1
        begin_running(S, j)
    mark(S, j)
    log_parts(S, START, j, J.accumulation, reason)


@core
def _refuse(S: State, j: Int, answer: Int) -> Int:
    """Job `j`, which the policy may have given an accumulation, is not started after all."""
    if S.jobs[j].state == PENDING:
        S.jobs[j].accumulation = 1
    return answer


@core
def start_placed(S: State, j: Int, reason: Int) -> Int:
    """Start job `j` on the GPUs already taken and noted in State.place; they are given back on refusal."""
    if S.jobs[j].state != PENDING:
        unplace(S)
        return NOT_PENDING
    if over_limit(S, j):
        unplace(S)
        return QUOTA
    commence(S, j, reason)
    return OK


@cold
def start_inline(S: State, j: Int, reason: Int) -> Int:
    """`start`, compiled into its caller."""
    answer = answer_to_start(S, j)
    if answer != OK:
        return _refuse(S, j, answer)
    if not place(S, S.jobs[j].cls):
        return _refuse(S, j, RESOURCES if S.jobs[j].asked > S.g[0].free else FRAGMENTATION)
    commence(S, j, reason)
    return OK


@exported("int64(State, int64, int64)")
def start(S: State, j: Int, reason: Int) -> Int:
    """Start job `j` on GPUs of the configured placement. Logged with `reason`; answers OK or why not."""
    return start_inline(S, j, reason)


@cold
def start_on(S: State, j: Int, reason: Int) -> Int:
    """Start job `j` on the GPUs a policy chose: (node, mask) in State.place[:placed], not taken yet."""
    answer = answer_to_start_on(S, j)
    if answer != OK:
        return _refuse(S, j, answer)
    take_place(S)
    commence(S, j, reason)
    return OK


@core
def _begin_to_stop(S: State, j: Int) -> None:
    """Job `j`, which stands in no index, holds its GPUs until it has stopped."""
    J = S.jobs[j]
    J.state = STOPPING
    S.g[0].stopping += 1
    J.key = 0.0
    J.aux = np.inf
    insert(S, stopping_index(S), j)
    note_stopping(S, j)


@cold
def cut_short(S: State, j: Int, reason: Int, index: bool) -> None:
    """Running job `j` is preempted, whatever it is promised; with `index` its GPUs are free in the index too."""
    J = S.jobs[j]
    g = S.g[0]
    settle(S, j)
    leave_network(S, j)
    cease_running(S, j)
    dequeue(S, j)
    lost = at_risk(S, j, J.done)
    lose(S, j, lost)
    g.preempted_gpu_ms += J.gpus * (lost + g.stop_ms + g.start_ms + g.restore_ms)
    J.rate = 0.0
    J.alarm = NEVER
    J.preempts += 1
    g.preempts += 1
    g.running -= 1
    log_parts(S, PREEMPT, j, np.int64(0), reason)
    mark(S, j)
    if g.stop_ms > 0:
        _begin_to_stop(S, j)
    else:
        unbind(S, j, index)
        become_pending(S, j)


@cold
def withdraw(S: State, j: Int) -> None:
    """Job `j`, which is STARTING or RUNNING, stops for no other's sake: nothing of it is lost, or counted, by that."""
    J = S.jobs[j]
    settle(S, j)
    leave_network(S, j)
    if J.state == RUNNING:
        cease_running(S, j)
        S.g[0].running -= 1
    else:
        S.g[0].starting -= 1
    dequeue(S, j)
    J.rate = 0.0
    J.pause = 0
    J.alarm = NEVER
    mark(S, j)
    _begin_to_stop(S, j)


@core
def become_pending(S: State, j: Int) -> None:
    """Job `j`, which holds nothing, waits."""
    J = S.jobs[j]
    g = S.g[0]
    J.state = PENDING
    J.pend_since = g.now
    J.settled = g.now
    J.accumulation = 1
    g.pending += 1
    g.queued_gpus += J.asked


@core
def preempt(S: State, j: Int, reason: Int) -> Int:
    """Preempt job `j`; the policy queues it again. Answers OK or why not."""
    answer = answer_to_preempt(S, j)
    if answer == OK:
        cut_short(S, j, reason, True)
    return answer


@core
def preempt_released(S: State, j: Int, reason: Int) -> None:
    """Preempt job `j`, whose GPUs the index already counts as free."""
    cut_short(S, j, reason, False)


@core
def set_alarm(S: State, j: Int, time: Int) -> None:
    """Wake the policy for job `j` at `time` ms: LEVEL while it runs, TIMER while it waits."""
    S.jobs[j].alarm = time
    mark(S, j)


@core
def wake_at(S: State, time: Int) -> None:
    """Schedule a cycle at `time` ms or earlier."""
    if time > S.g[0].now and time < S.g[0].wake:
        S.g[0].wake = time


@core
def admit(S: State, j: Int) -> Int:
    """Let the transfer of job `j` begin, which waits. Answers OK or why not."""
    answer = answer_to_admit(S, j)
    if answer == OK:
        answer = call_apart(S.g[0].network, S.g[0].address, ADMIT, j)
        if answer == OK:
            log_event(S, ADMITS, j, np.int64(0))
    return answer
