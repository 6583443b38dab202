"""Dally's network-sensitive preemption: by the service a job really received, and towards better places.

A job's service is its attained service: the GPUs it has held, times the time. With `sensitive` it is its GPUs times the
nominal work it has done, so who is slowed by the network counts as poor. The paper's text allows both; what is measured
speaks for the first. Services are compared by levels that double (ours:
a job is preempted only for one that has received about half as much or less).
"""

import numpy as np

from pointsman.policies.dally.declared import Dally, DallyKept, DelayScheduling
from pointsman.policies.parts.levels import NODE, best_level
from pointsman.policies.parts.moving import misplaced
from pointsman.policies.parts.offers import accepted
from pointsman.policies.parts.preemption.bounded_waiting import grant_ends_at
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
    view_of,
)

delays = view_of(DelayScheduling)
params, kept = view_of(Dally), view_of(DallyKept)


@core
def _service(S: State, j: Int) -> float:
    """GPU-ms that job `j` has really received by when it was last settled, or, if that does not count, has held."""
    if not params(S).sensitive:
        return np.float64(S.jobs[j].attained)
    return S.jobs[j].asked * S.jobs[j].done


@core
def _threshold(S: State, level: Int) -> float:
    """Return the service (GPU-ms) at which a job leaves `level`: the first threshold, doubled `level` times."""
    return params(S).first_level_gpu_ms * (np.int64(1) << level)


@core
def _sunk(S: State, level: Int, service: float) -> Int:
    """The level, `level` or lower, of so much service."""
    while level < params(S).levels and service >= _threshold(S, level):
        level += 1
    return level


@core
def sink(S: State, j: Int) -> None:
    """Let job `j` down to the level of its service, and as a victim to that of what is left of it after what
    preemptions cost.
    """
    J, K = S.jobs[j], kept(S, j)
    J.level = _sunk(S, J.level, _service(S, j))
    K.victim_level = _sunk(S, K.victim_level, _service(S, j) - surcharge(S, j, params(S).cost_weight))


@core
def bar_of(S: State, j: Int) -> float:
    """The level above which running jobs are worse than waiting job `j`: that of the least service of its own, with
    what preemptions cost.
    """
    level = S.jobs[j].level
    least = _threshold(S, level - 1) if level > 0 else 0.0
    return np.float64(_sunk(S, level, least + surcharge(S, j, params(S).cost_weight)))


@core
def watch(S: State, j: Int) -> None:
    """Running job `j` is called when it sinks a level, and when it has run its quantum and may be preempted."""
    J = S.jobs[j]
    if J.bucket >= 0:
        remove(S, j)
    sink(S, j)
    P, level = params(S), kept(S, j).victim_level
    due = grant_ends_at(S, j)
    if S.g[0].now < J.started + P.quantum_ms:
        due = min(due, J.started + P.quantum_ms)
    else:
        J.key = key_as_victim(S, j, np.float64(level))
        J.aux = 0.0 if misplaced(S, j) else np.inf
        insert(S, running_index(S), j)
    if level < P.levels and J.rate > 0.0:
        left = _threshold(S, level) + surcharge(S, j, P.cost_weight) - _service(S, j)
        rate = J.rate if P.sensitive else 1.0
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
    if not delays(S).preempts or alternative_with_room(S, S.jobs[j].cls) >= 0:
        return RESOURCES
    if best_level(S, j) == NODE:
        g.within = NODE
    return start_or_evict(S, j, bar, running_index(S))


@core
def got_worse(S: State, j: Int) -> None:
    """Running job `j` sank a level or came to the end of its quantum."""
    watch(S, j)
    note_worse(S, j)
