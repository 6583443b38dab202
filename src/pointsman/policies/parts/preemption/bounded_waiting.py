"""No job waits for ever: one that has waited longer than its limit goes before all others. Ours (``docs/adr/0018``).

Jobs that have waited longer than their limits are overdue, and stand in a list in the order in which they became so.
The first of them is granted the first place among all waiting jobs as soon as jobs with such a grant would request no
more than a share of the GPUs, or if no other has one. A grant ends when the job has run for so long: shorter by as much
as a job alone is wider than the share, and then no other is granted until no more than the share of the GPU time has
gone to it. A grant lapses if it has not led to a start by the time that all running jobs may be preempted: nodes are
down, say, or a queue has no more room. Then the job is the last of the overdue jobs, and passed over until another
grant would have ended; twice as long after each further lapse. Nobody is called for that: if nothing else happens,
nothing has changed.

Policies that use it are an `EvictingPolicy`. `turns` has what a policy does with grants.
"""

import numpy as np

from pointsman.policies.parts.preemption.cost import cost_ms
from pointsman.policies.parts.preemption.evicting_policy import DOUBLING_COST_MS, EvictingPolicy, WaitingMemory
from pointsman.policies.parts.preemption.overdue import append_overdue, crowding_of, stop_waiting, unlink_overdue
from pointsman.policies.sdk import NEVER, Int, State, core, note_worse, set_alarm, view_of, wake_at

MOST_DOUBLINGS = 10
"""Limit on how many times the time doubles for which a job is passed over after grants that were of no use."""
FIRST_KEY = -(2.0**62)
"""Key of a waiting job with a grant: below that of all others."""


params, memory = view_of(EvictingPolicy), view_of(WaitingMemory)


@core
def limit_ms(S: State, j: Int, dearness: float) -> Int:
    """How long job `j` may wait in all before it is overdue: longer where a preemption costs more, or all have taken so
    many times what they should.
    """
    P = params(S)
    patience = P.patience_ms + P.patience_growth * S.jobs[j].executed
    cost = 1.0 + cost_ms(S, np.inf) / DOUBLING_COST_MS
    return np.int64(min(np.floor(patience * crowding_of(S, j) * cost * dearness), 2.0**53))


@core
def _overdue_from(S: State, j: Int, dearness: float) -> Int:
    """When waiting job `j` will have waited longer than its limit."""
    J = S.jobs[j]
    return J.pend_since + limit_ms(S, j, dearness) - J.pended


@core
def watch_wait(S: State, j: Int, dearness: float) -> None:
    """Job `j`, which waits without a grant, is called when it has waited longer than its limit."""
    due = max(S.g[0].now + 1, _overdue_from(S, j, dearness))
    if not S.jobs[j].overdue and due < S.jobs[j].alarm:
        set_alarm(S, j, due)


@core
def join_overdue(S: State, j: Int, dearness: float) -> None:
    """Job `j`, which waits without a grant and is called, joins the overdue jobs if it has waited so long."""
    if not S.jobs[j].overdue and _overdue_from(S, j, dearness) <= S.g[0].now:
        append_overdue(S, j, memory(S).overdue)


@core
def _share_gpus(S: State) -> float:
    """What several jobs with a grant request at most."""
    return params(S).grant_share * S.gpus.shape[0]


@core
def _excess(S: State, j: Int) -> float:
    """How many times the share job `j` alone requests, at least 1."""
    return max(1.0, S.jobs[j].asked / _share_gpus(S))


@core
def _grant_ms(S: State, j: Int) -> float:
    """For how long job `j` goes first: where grants allow it, long enough to keep half of what it does then."""
    grant = params(S).grant_ms
    least = min(grant, np.floor(2.0 * cost_ms(S, np.inf)))
    return max(1.0, least, np.floor(grant / _excess(S, j)))


@core
def next_grant(S: State) -> Int:
    """The overdue job that is granted the first place now, -1 if none."""
    M = memory(S)
    j = M.overdue.first - 1
    while j >= 0 and S.jobs[j].patient_until > S.g[0].now:
        j = S.jobs[j].behind
    if j < 0:
        return j
    if S.g[0].now < M.none_until_ms:
        wake_at(S, M.none_until_ms)
        return np.int64(-1)
    granted = M.granted_gpus + S.jobs[j].asked
    if granted > S.jobs[j].asked and granted > _share_gpus(S):
        return np.int64(-1)
    unlink_overdue(S, j, M.overdue)
    M.granted_gpus = granted
    S.jobs[j].granted = S.jobs[j].executed + _grant_ms(S, j)
    return j


@core
def goes_first(S: State, j: Int) -> bool:
    """Whether job `j` has a grant."""
    return bool(S.jobs[j].granted > 0.0)


@core
def key_of(S: State, j: Int, key: float) -> float:
    """Where waiting job `j` stands among all: first, or where `key` says."""
    return FIRST_KEY if goes_first(S, j) else key


@core
def _end_grant(S: State, j: Int, has_run: Int) -> None:
    """Job `j`, which has run for so long, ranks as any other again."""
    M, J = memory(S), S.jobs[j]
    gone_first = max(0.0, has_run - J.granted + _grant_ms(S, j))
    pause = np.floor(gone_first * (_excess(S, j) - 1.0))
    M.none_until_ms = S.g[0].now + np.int64(min(pause, 2.0**53))
    M.granted_gpus -= J.asked
    J.granted = 0.0


@core
def grant_ends_at(S: State, j: Int) -> Int:
    """When the grant of running job `j` ends; it does if that is now. NEVER if there is none."""
    J, now = S.jobs[j], S.g[0].now
    has_run = J.executed + now - J.settled
    if goes_first(S, j) and has_run >= J.granted:
        _end_grant(S, j, has_run)
        note_worse(S, j)
    return now + np.int64(J.granted) - has_run if goes_first(S, j) else np.int64(NEVER)


@core
def let_lapse(S: State, j: Int) -> None:
    """The grant of job `j`, which waits, was of no use: it is overdue again."""
    J = S.jobs[j]
    _end_grant(S, j, np.int64(J.executed))
    J.patient_until = S.g[0].now + (params(S).grant_ms << min(J.lapses, MOST_DOUBLINGS))
    J.lapses += 1
    append_overdue(S, j, memory(S).overdue)


@core
def has_started(S: State, j: Int) -> None:
    """Job `j` waits no more."""
    stop_waiting(S, j, memory(S).overdue)


@core
def has_ended(S: State, j: Int) -> None:
    """Job `j` is no more."""
    has_started(S, j)
    if goes_first(S, j):
        _end_grant(S, j, np.int64(S.jobs[j].executed))
