"""Dally's network-sensitive preemption: by the service a job really received, and towards better places.

A job's service is its GPUs times the nominal work it has done: its attained service times how fast it ran compared with
its best level, so who is slowed by the network counts as poor. Services are compared by levels that double (ours: a
job is preempted only for one that has received about half as much or less).
"""

import numpy as np

from pointsman.engine.compile import core
from pointsman.engine.eligible import free_gpus
from pointsman.engine.eviction import release_on_paper, start_or_evict, take_back
from pointsman.engine.memo import note_worse
from pointsman.engine.ordered import first_below, insert, next_below, remove
from pointsman.engine.placing import fits, place
from pointsman.engine.records import Int, State
from pointsman.engine.verbs import (
    OK,
    may_preempt,
    preempt,
    preempt_released,
    running_index,
    set_alarm,
    start,
    start_placed,
    wake_at,
    work_done,
)
from pointsman.policies.dally_delay import DELAY_PARAMS, NETWORK, NEVER, accepted, best_level, looser, rate_at
from pointsman.policies.dally_tuner import NODE, TUNER_MEMORY
from pointsman.types import Reason

PREEMPTS, FIRST_LEVEL, LEVELS, QUANTUM_MS, ROUND_MS = range(DELAY_PARAMS, DELAY_PARAMS + 5)  # params
MOVED_AT = TUNER_MEMORY  # memory: State.g.freed when moves were last looked for
MIGRATED = int(Reason.Migrated)


@core
def _service(S: State, j: Int) -> float:
    """GPU-ms that job `j` has really received by when it was last settled."""
    return S.jobs[j].asked * S.jobs[j].done


@core
def _threshold(S: State, level: Int) -> float:
    """Service at which a job leaves `level`: the first threshold, doubled so many times."""
    return S.params[FIRST_LEVEL] * (np.int64(1) << level)


@core
def sink(S: State, j: Int) -> None:
    """Let job `j` down to the level of its service."""
    J = S.jobs[j]
    while J.level < S.params[LEVELS] and _service(S, j) >= _threshold(S, J.level):
        J.level += 1


@core
def _misplaced(S: State, j: Int) -> bool:
    """Whether running job `j` would run faster at its best level."""
    return S.jobs[j].locality > best_level(S, j) and rate_at(S, j, best_level(S, j)) > S.jobs[j].rate


@core
def watch(S: State, j: Int) -> None:
    """Running job `j` is called when it sinks a level, and when it has run its quantum and may be preempted."""
    J = S.jobs[j]
    if J.bucket >= 0:
        remove(S, j)
    sink(S, j)
    due = NEVER
    if S.g[0].now < J.started + np.int64(S.params[QUANTUM_MS]):
        due = J.started + np.int64(S.params[QUANTUM_MS])
    else:
        J.key = np.float64(J.level)
        J.aux = 0.0 if _misplaced(S, j) else np.inf
        insert(S, running_index(S), j)
    if J.level < S.params[LEVELS] and J.rate > 0.0:
        left = _threshold(S, J.level) - _service(S, j)
        due = min(due, S.g[0].now + np.int64(np.ceil(left / (J.asked * J.rate))))
    set_alarm(S, j, due)


@core
def _lacks_gpus(S: State, j: Int) -> bool:
    """Whether fewer GPUs are free than job `j` needs, wherever they are."""
    C = S.classes[S.jobs[j].cls]
    for a in range(C.alt, C.alt_end):
        if free_gpus(S, S.alts[a]) >= C.gpus:
            return False
    return True


@core
def start_or_preempt(S: State, j: Int) -> Int:
    """Start job `j` at a level it accepts, or, if GPUs are short, in the place of running jobs with more service."""
    g = S.g[0]
    g.within = accepted(S, j)
    g.victims = 0
    if S.params[PREEMPTS] == 0.0 or fits(S, S.jobs[j].cls) or not _lacks_gpus(S, j):
        return start(S, j, OK)
    if S.jobs[j].asked <= S.alts[S.classes[S.jobs[j].cls].alt].gpus:
        g.within = NODE
    return start_or_evict(S, j, S.jobs[j].key, running_index(S))


@core
def _is_worth_it(S: State, v: Int, level: Int) -> bool:
    """Whether running job `v` would win more at `level` than the move costs; what is left of it is its estimate, or as
    much as it has done.
    """
    V = S.jobs[v]
    g = S.g[0]
    done = work_done(S, v)
    left = done if np.isnan(V.estimate) else V.estimate - done
    better = rate_at(S, v, level)
    return left / V.rate - left / better > g.stop_ms + g.start_ms + g.restore_ms + g.lost_ms / better


@core
def _move(S: State, v: Int) -> None:
    """Move running job `v` to a tighter level if there is room and it pays."""
    V = S.jobs[v]
    level = best_level(S, v)
    while level < V.locality and level < NETWORK and may_preempt(S, v) and _is_worth_it(S, v, level):
        S.g[0].within = level
        release_on_paper(S, v)
        if fits(S, V.cls):
            if S.g[0].stop_ms > 0:
                take_back(S, v)
                preempt(S, v, MIGRATED)
            else:
                place(S, V.cls)
                preempt_released(S, v, MIGRATED)
                start_placed(S, v, OK)
            return
        take_back(S, v)
        level = looser(level)


@core
def improve_places(S: State) -> None:
    """At the next round after GPUs came free, jobs slowed by their place are moved to better ones, poorest first."""
    g = S.g[0]
    v = first_below(S, running_index(S), 0.0)
    if S.params[PREEMPTS] == 0.0 or v < 0 or S.memory[MOVED_AT] == g.freed:
        return
    every = np.int64(S.params[ROUND_MS])
    if g.now % every != 0:
        wake_at(S, g.now - g.now % every + every)
        return
    S.memory[MOVED_AT] = g.freed
    while v >= 0:
        following = next_below(S, v, 0.0)
        _move(S, v)
        v = following


@core
def got_worse(S: State, j: Int) -> None:
    """Running job `j` sank a level or came to the end of its quantum."""
    watch(S, j)
    note_worse(S, j)
