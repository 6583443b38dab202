"""`gittins`: the job goes next that is most likely to end soon for the GPU time that this takes.

It learns how long jobs last from those that have ended (`hazards`), and ranks a job by its Gittins index times its
GPUs. Places, timers and preemption are Dally's. Ours.
"""

import numpy as np

from pointsman.policies.dally.declared import Gittins, GittinsMemory
from pointsman.policies.dally.hazards import (
    begin_hazards,
    next_bucket_ms,
    note_end,
    rank,
    reached_of,
    refit_hazards,
    refit_is_due,
)
from pointsman.policies.dally.offering import offer
from pointsman.policies.dally.turns import be_called, begin_to_wait, bound_wait_anew
from pointsman.policies.dally.whole_nodes import choose_places, note_losses
from pointsman.policies.parts.moving import improve_places, misplaced
from pointsman.policies.parts.offers import accepted, next_offered, queue_for
from pointsman.policies.parts.preemption.bounded_waiting import goes_first, grant_ends_at, has_ended, key_of
from pointsman.policies.parts.preemption.cost import cost_changes_at, cost_ms, cost_now_ms, review_budget, scarcity
from pointsman.policies.parts.preemption.protection import protected_until
from pointsman.policies.parts.preemption.turns import grant_first_places, key_as_victim, others_are_held_back
from pointsman.policies.sdk import (
    PENDING,
    RUNNING,
    VICTIMS,
    Event,
    Int,
    State,
    after,
    cold,
    core,
    dequeue,
    forget_failures,
    insert,
    note_worse,
    open_state,
    remove,
    running_index,
    set_alarm,
    view_of,
    work_done,
)

FINISH, CANCEL, LEVEL, TIMER = int(Event.FINISH), int(Event.CANCEL), int(Event.LEVEL), int(Event.TIMER)
SUBMIT = int(Event.SUBMIT)


params, memory = view_of(Gittins), view_of(GittinsMemory)


@core
def _weight(S: State) -> float:
    """How many times the cost of a preemption counts."""
    return params(S).cost_weight * scarcity(memory(S).budget)


@core
def _next_change_ms(S: State, j: Int, done: float) -> float:
    """At which progress job `j`, which has done so much, changes its rank next."""
    change = next_bucket_ms(S, reached_of(S, j, done))
    return min(change, cost_changes_at(S, j, done)) if params(S).cost_weight > 0.0 else change


@core
def _watch(S: State, j: Int) -> None:
    """Running job `j` is called when its quantum is over and it may be preempted, then whenever a bucket begins."""
    J = S.jobs[j]
    due = protected_until(S, j, params(S).quantum_ms)
    before, key_before, done = J.level, J.key if J.bucket >= 0 else np.inf, work_done(S, j)
    if J.bucket >= 0:
        remove(S, j)
    grant_ends = grant_ends_at(S, j)
    rank(S, j, done)
    if S.g[0].now >= due:
        J.key = key_as_victim(S, j, J.level - _weight(S) * J.asked * cost_now_ms(S, j, done))
        J.aux = 0.0 if misplaced(S, j) else np.inf
        insert(S, running_index(S), j)
        due = grant_ends
        if not goes_first(S, j) and J.rate > 0.0:
            due = after(S.g[0].now, _next_change_ms(S, j, done) - done, J.rate)
    set_alarm(S, j, due)
    if J.level > before or J.key > key_before:
        note_worse(S, j)


@core
def _begin_to_wait(S: State, j: Int) -> None:
    """Job `j` waits: it is ranked, and its timers start."""
    rank(S, j, S.jobs[j].done)
    begin_to_wait(S, j, scarcity(memory(S).budget))


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """Ended jobs are learnt from; jobs that wait start their timers; running jobs change their rank."""
    if memory(S).hazards.bucket_begins[1] == 0.0:
        begin_hazards(S.g[0].address)
    if j < 0:
        return
    J = S.jobs[j]
    if kind == SUBMIT:
        note_losses(S, j)
    if kind == FINISH or kind == CANCEL:
        has_ended(S, j)
    if kind == FINISH:
        note_end(S, j)
    elif kind == LEVEL and J.state == RUNNING:
        protected = J.bucket < 0
        _watch(S, j)
        if protected and J.bucket >= 0:
            note_worse(S, j)
    elif kind == TIMER and J.state == PENDING:
        be_called(S, j, scarcity(memory(S).budget))
    elif J.state == PENDING and J.bucket < 0:
        _begin_to_wait(S, j)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate."""
    if memory(S).hazards.bucket_begins[1] == 0.0:
        begin_hazards(S.g[0].address)
    _watch(S, j)


@core
def _rank_anew(S: State, j: Int) -> None:
    """Job `j` goes where its new rank belongs."""
    J = S.jobs[j]
    if J.state == RUNNING:
        _watch(S, j)
        return
    rank(S, j, J.done)
    if J.state == PENDING:
        dequeue(S, j)
        queue_for(S, j, key_of(S, j, np.float64(J.level)), accepted(S, j))


@cold
def _refit(address: int) -> None:
    S = open_state(address)
    refit_hazards(address)
    for j in range(S.g[0].slots):
        if S.jobs[j].state != 0:
            _rank_anew(S, np.int64(j))
    forget_failures(S)


@cold
def _weigh_anew(address: int) -> None:
    """Running jobs are worth more or less than before, and those that wait may wait shorter or longer."""
    S = open_state(address)
    for j in range(S.g[0].slots):
        if S.jobs[j].state == RUNNING:
            _watch(S, np.int64(j))
        elif S.jobs[j].state == PENDING:
            bound_wait_anew(S, np.int64(j), scarcity(memory(S).budget))
    forget_failures(S)


@cold
def _place_anew(address: int) -> None:
    """Waiting gangs wait for other places than before."""
    S = open_state(address)
    for j in range(S.g[0].slots):
        if S.jobs[j].state == PENDING:
            dequeue(S, np.int64(j))
            _begin_to_wait(S, np.int64(j))
    forget_failures(S)


@core
def _prepare(S: State) -> None:
    """What is known is brought up to date, and jobs that have waited too long go first."""
    if refit_is_due(S):
        _refit(S.g[0].address)
    P = params(S)
    if P.cost_weight > 0.0 and review_budget(S, memory(S).budget, P.loss_budget):
        _weigh_anew(S.g[0].address)
    if choose_places(S):
        _place_anew(S.g[0].address)
    grant_first_places(S, P.quantum_ms)


@core
def decide(S: State) -> None:
    """Offer what is free to the waiting jobs by their rank; then move running jobs to better places."""
    _prepare(S)
    while True:
        j = next_offered(S)
        if j < 0:
            break
        offer(S, j, S.jobs[j].key + _weight(S) * cost_ms(S, np.inf) * S.jobs[j].asked)
        for i in range(S.g[0].victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                _begin_to_wait(S, v)
    if params(S).preempts and not others_are_held_back(S):
        improve_places(S, params(S).round_ms, memory(S).moves, False)
