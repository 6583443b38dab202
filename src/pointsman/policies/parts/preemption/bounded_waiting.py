"""No job waits for ever: one that has waited longer than its limit goes before all others. Ours (``docs/adr/0018``).

Jobs that have waited longer than their limits are overdue, and stand in a list in the order in which they became so.
The first of them is granted the first place among all waiting jobs as soon as jobs with such a grant would request no
more than a share of the GPUs, or if no other has one. A grant ends when the job has run for so long: shorter by as much
as a job alone is wider than the share, and then no other is granted until no more than the share of the GPU time has
gone to it. A grant lapses if it has not led to a start by the time that all running jobs may be preempted: nodes are
down, say, or a queue has no more room. Then the job is the last of the overdue jobs, and passed over until another
grant would have ended; twice as long after each further lapse. Nobody is called for that: if nothing else happens,
nothing has changed.

The parameters of the part begin at `params` of State.params, and what it keeps at `memory` of State.memory. `turns` has
what a policy does with grants.
"""

import numpy as np

from pointsman.policies.parts.preemption.cost import cost_ms
from pointsman.policies.sdk import NEVER, Int, State, core, note_worse, set_alarm, wake_at

PATIENCE_MS, GROWTH, GRANT_MS, SHARE, BOUND_PARAMS = range(5)
FIRST, LAST, GRANTED_GPUS, NONE_UNTIL, BOUND_MEMORY = range(5)
"""The ends of the list of overdue jobs, as slots + 1; what jobs with a grant request; until when there is no other."""
DOUBLING_COST_MS = 1_800_000.0
"""What a preemption costs each GPU where limits are twice as long as where it costs nothing."""
MOST_DOUBLINGS = 10
"""Of the time for which a job is passed over after grants that were of no use."""
FIRST_KEY = -(2.0**62)
"""Of a waiting job with a grant: below that of all others."""


@core
def crowding_of(S: State, j: Int) -> float:
    """By how much the limit of job `j` is longer than that of a job within a node of a cluster where no other waits. It
    is counted when it is first asked for, when the job is being submitted.
    """
    J = S.jobs[j]
    if J.crowding == 0.0:
        node_gpus = S.alts[S.classes[J.cls].alt].gpus
        queued = S.g[0].queued_gpus - J.asked
        J.crowding = (1.0 + queued / S.gpus.shape[0]) * np.sqrt(min(1.0, node_gpus / J.asked))
    return J.crowding


@core
def limit_ms(S: State, j: Int, params: Int, dearness: float) -> Int:
    """How long job `j` may wait in all before it is overdue: longer where a preemption costs more, or all have taken so
    many times what they should.
    """
    patience = S.params[params + PATIENCE_MS] + S.params[params + GROWTH] * S.jobs[j].executed
    cost = 1.0 + cost_ms(S, np.inf) / DOUBLING_COST_MS
    return np.int64(min(np.floor(patience * crowding_of(S, j) * cost * dearness), 2.0**53))


@core
def append_overdue(S: State, j: Int, memory: Int) -> None:
    """Job `j` is the last of the overdue jobs."""
    M, J = S.memory, S.jobs[j]
    J.overdue = 1
    J.ahead = np.int64(M[memory + LAST]) - 1
    J.behind = -1
    if J.ahead >= 0:
        S.jobs[J.ahead].behind = j
    else:
        M[memory + FIRST] = j + 1.0
    M[memory + LAST] = j + 1.0


@core
def unlink_overdue(S: State, j: Int, memory: Int) -> None:
    """Job `j` is not overdue any more."""
    M, J = S.memory, S.jobs[j]
    J.overdue = 0
    if J.ahead >= 0:
        S.jobs[J.ahead].behind = J.behind
    else:
        M[memory + FIRST] = J.behind + 1.0
    if J.behind >= 0:
        S.jobs[J.behind].ahead = J.ahead
    else:
        M[memory + LAST] = J.ahead + 1.0


@core
def _overdue_from(S: State, j: Int, params: Int, dearness: float) -> Int:
    """When waiting job `j` will have waited longer than its limit."""
    J = S.jobs[j]
    return J.pend_since + limit_ms(S, j, params, dearness) - J.pended


@core
def watch_wait(S: State, j: Int, params: Int, dearness: float) -> None:
    """Job `j`, which waits without a grant, is called when it has waited longer than its limit."""
    due = max(S.g[0].now + 1, _overdue_from(S, j, params, dearness))
    if not S.jobs[j].overdue and due < S.jobs[j].alarm:
        set_alarm(S, j, due)


@core
def join_overdue(S: State, j: Int, params: Int, memory: Int, dearness: float) -> None:
    """Job `j`, which waits without a grant and is called, joins the overdue jobs if it has waited so long."""
    if not S.jobs[j].overdue and _overdue_from(S, j, params, dearness) <= S.g[0].now:
        append_overdue(S, j, memory)


@core
def _share_gpus(S: State, params: Int) -> float:
    """What several jobs with a grant request at most."""
    return S.params[params + SHARE] * S.gpus.shape[0]


@core
def _excess(S: State, j: Int, params: Int) -> float:
    """How many times the share job `j` alone requests, at least 1."""
    return max(1.0, S.jobs[j].asked / _share_gpus(S, params))


@core
def _grant_ms(S: State, j: Int, params: Int) -> float:
    """For how long job `j` goes first: where grants allow it, long enough to keep half of what it does then."""
    grant = S.params[params + GRANT_MS]
    least = min(grant, np.floor(2.0 * cost_ms(S, np.inf)))
    return max(1.0, least, np.floor(grant / _excess(S, j, params)))


@core
def next_grant(S: State, params: Int, memory: Int) -> Int:
    """The overdue job that is granted the first place now, -1 if none."""
    M = S.memory
    j = np.int64(M[memory + FIRST]) - 1
    while j >= 0 and S.jobs[j].patient_until > S.g[0].now:
        j = S.jobs[j].behind
    if j < 0:
        return j
    if S.g[0].now < M[memory + NONE_UNTIL]:
        wake_at(S, np.int64(M[memory + NONE_UNTIL]))
        return np.int64(-1)
    granted = M[memory + GRANTED_GPUS] + S.jobs[j].asked
    if granted > S.jobs[j].asked and granted > _share_gpus(S, params):
        return np.int64(-1)
    unlink_overdue(S, j, memory)
    M[memory + GRANTED_GPUS] = granted
    S.jobs[j].granted = S.jobs[j].executed + _grant_ms(S, j, params)
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
def _end_grant(S: State, j: Int, params: Int, memory: Int, has_run: Int) -> None:
    """Job `j`, which has run for so long, ranks as any other again."""
    M, J = S.memory, S.jobs[j]
    gone_first = max(0.0, has_run - J.granted + _grant_ms(S, j, params))
    pause = np.floor(gone_first * (_excess(S, j, params) - 1.0))
    M[memory + NONE_UNTIL] = S.g[0].now + min(pause, 2.0**53)
    M[memory + GRANTED_GPUS] -= J.asked
    J.granted = 0.0


@core
def grant_ends_at(S: State, j: Int, params: Int, memory: Int) -> Int:
    """When the grant of running job `j` ends; it does if that is now. NEVER if there is none."""
    J, now = S.jobs[j], S.g[0].now
    has_run = J.executed + now - J.settled
    if goes_first(S, j) and has_run >= J.granted:
        _end_grant(S, j, params, memory, has_run)
        note_worse(S, j)
    return now + np.int64(J.granted) - has_run if goes_first(S, j) else np.int64(NEVER)


@core
def let_lapse(S: State, j: Int, params: Int, memory: Int) -> None:
    """The grant of job `j`, which waits, was of no use: it is overdue again."""
    J = S.jobs[j]
    _end_grant(S, j, params, memory, np.int64(J.executed))
    J.patient_until = S.g[0].now + (np.int64(S.params[params + GRANT_MS]) << min(J.lapses, MOST_DOUBLINGS))
    J.lapses += 1
    append_overdue(S, j, memory)


@core
def has_started(S: State, j: Int, memory: Int) -> None:
    """Job `j` waits no more."""
    S.jobs[j].lapses = 0
    S.jobs[j].patient_until = 0
    if S.jobs[j].overdue:
        unlink_overdue(S, j, memory)


@core
def has_ended(S: State, j: Int, params: Int, memory: Int) -> None:
    """Job `j` is no more."""
    has_started(S, j, memory)
    if goes_first(S, j):
        _end_grant(S, j, params, memory, np.int64(S.jobs[j].executed))
