"""Dally's network-sensitive preemption: by the service a job really received, and towards better places.

A job's service is its attained service: the GPUs it has held, times the time. With `sensitive` it is its GPUs times the
nominal work it has done, so who is slowed by the network counts as poor. The paper's text allows both; what is measured
speaks for the first. Services are compared by levels that double (ours:
a job is preempted only for one that has received about half as much or less).
"""

import numpy as np

from pointsman.policies.dally.delay import DELAY_PARAMS
from pointsman.policies.dally.tuner import TUNER_MEMORY
from pointsman.policies.parts.levels import NODE, best_level
from pointsman.policies.parts.moving import misplaced
from pointsman.policies.parts.offers import accepted
from pointsman.policies.parts.preemption.bounded_waiting import BOUND_MEMORY, BOUND_PARAMS, grant_ends_at
from pointsman.policies.parts.preemption.cost import surcharge
from pointsman.policies.parts.preemption.turns import key_as_victim
from pointsman.policies.sdk import (
    OK,
    RESOURCES,
    Int,
    State,
    after,
    alternative_with_room,
    core,
    fits,
    insert,
    note_worse,
    remove,
    running_index,
    set_alarm,
    start,
    start_or_evict,
)

PREEMPTS, FIRST_LEVEL, LEVELS, QUANTUM_MS, ROUND_MS, SENSITIVE = range(DELAY_PARAMS, DELAY_PARAMS + 6)  # params
PREEMPTION_PARAMS = BOUND = DELAY_PARAMS + 6
"""From here on those of `bounded_waiting`."""
COST_WEIGHT = BOUND + BOUND_PARAMS
OVERDUE = TUNER_MEMORY + 1
"""From here on in State.memory: the jobs that have waited too long."""
PREEMPTION_MEMORY = OVERDUE + BOUND_MEMORY


@core
def _service(S: State, j: Int) -> float:
    """GPU-ms that job `j` has really received by when it was last settled, or, if that does not count, has held."""
    if S.params[SENSITIVE] == 0.0:
        return np.float64(S.jobs[j].attained)
    return S.jobs[j].asked * S.jobs[j].done


@core
def _threshold(S: State, level: Int) -> float:
    """Service at which a job leaves `level`: the first threshold, doubled so many times."""
    return S.params[FIRST_LEVEL] * (np.int64(1) << level)


@core
def _sunk(S: State, level: Int, service: float) -> Int:
    """The level, `level` or lower, of so much service."""
    while level < S.params[LEVELS] and service >= _threshold(S, level):
        level += 1
    return level


@core
def sink(S: State, j: Int) -> None:
    """Let job `j` down to the level of its service, and as a victim (s3) to that of what is left of it after what
    preemptions cost.
    """
    J = S.jobs[j]
    J.level = _sunk(S, J.level, _service(S, j))
    J.s3 = _sunk(S, np.int64(J.s3), _service(S, j) - surcharge(S, j, S.params[COST_WEIGHT]))


@core
def bar_of(S: State, j: Int) -> float:
    """The level above which running jobs are worse than waiting job `j`: that of the least service of its own, with
    what preemptions cost.
    """
    level = S.jobs[j].level
    least = _threshold(S, level - 1) if level > 0 else 0.0
    return np.float64(_sunk(S, level, least + surcharge(S, j, S.params[COST_WEIGHT])))


@core
def watch(S: State, j: Int) -> None:
    """Running job `j` is called when it sinks a level, and when it has run its quantum and may be preempted."""
    J = S.jobs[j]
    if J.bucket >= 0:
        remove(S, j)
    sink(S, j)
    due = grant_ends_at(S, j, np.int64(BOUND), np.int64(OVERDUE))
    if S.g[0].now < J.started + np.int64(S.params[QUANTUM_MS]):
        due = min(due, J.started + np.int64(S.params[QUANTUM_MS]))
    else:
        J.key = key_as_victim(S, j, J.s3)
        J.aux = 0.0 if misplaced(S, j) else np.inf
        insert(S, running_index(S), j)
    if J.s3 < S.params[LEVELS] and J.rate > 0.0:
        left = _threshold(S, np.int64(J.s3)) + surcharge(S, j, S.params[COST_WEIGHT]) - _service(S, j)
        rate = J.rate if S.params[SENSITIVE] != 0.0 else 1.0
        due = min(due, after(S.g[0].now, left, J.asked * rate))
    set_alarm(S, j, due)


@core
def start_or_preempt(S: State, j: Int, bar: float) -> Int:
    """Start job `j` at a level it accepts, or, if GPUs are short, in the place of running jobs whose key is above
    `bar`.
    """
    g = S.g[0]
    g.within = accepted(S, j)
    if fits(S, S.jobs[j].cls):
        return start(S, j, OK)
    if S.params[PREEMPTS] == 0.0 or alternative_with_room(S, S.jobs[j].cls) >= 0:
        return RESOURCES
    if best_level(S, j) == NODE:
        g.within = NODE
    return start_or_evict(S, j, bar, running_index(S))


@core
def got_worse(S: State, j: Int) -> None:
    """Running job `j` sank a level or came to the end of its quantum."""
    watch(S, j)
    note_worse(S, j)
