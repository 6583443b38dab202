"""The eviction rule of the preemptive policies (``docs/reference/semantics.md`` §7), on a free index that can be taken back.

Running jobs stand in one index ordered from best to worst. What is released or held on paper is noted in State.undo.
"""

import numpy as np

from pointsman.engine.bits import count
from pointsman.engine.compile import core
from pointsman.engine.freeindex import give, take
from pointsman.engine.ordered import following, preceding
from pointsman.engine.placing import fits, place
from pointsman.engine.queueing import dequeue, enqueue, over_limit
from pointsman.engine.records import HOLDERS, VICTIMS
from pointsman.engine.verbs import (
    OK,
    QUOTA,
    RESOURCES,
    may_preempt,
    occupant_mask,
    preempt_released,
    start,
    start_placed,
    stopping_index,
)
from pointsman.types import Reason

EVICTED = int(Reason.Evicted)
RESERVED = int(Reason.Reserved)


@core
def release_on_paper(S, j):
    """The GPUs of job `j` count as free."""
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        give(S, P.node, P.mask, count(P.mask))
        i = P.next


@core
def take_back(S, j):
    """The GPUs of job `j`, released on paper, are its own again."""
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        take(S, P.node, P.mask, count(P.mask))
        i = P.next


@core
def still_free(S, j):
    """Whether all GPUs of job `j`, released on paper, are still free."""
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        if P.mask & ~S.nodes[P.node].free_mask != 0:
            return False
        i = P.next
    return True


@core
def _worse(S, v, j, bar):
    """Whether running job `v` is strictly worse than waiting job `j`: lower priority, or its key above `bar`."""
    V = S.jobs[v]
    J = S.jobs[j]
    return V.unprio > J.unprio or (V.unprio == J.unprio and V.key > bar)


@core
def _take_back_victims(S, n):
    """Undo the release of the n jobs in State.lists[VICTIMS]."""
    for i in range(n):
        take_back(S, S.lists[VICTIMS, i])


@core
def release_worse(S, j, bar, running):
    """Release strictly worse jobs on paper, worst first, until job `j` fits; the number released, -1 if it never fits."""
    c = S.jobs[j].cls
    n = np.int64(0)
    v = S.buckets[running].last
    while v >= 0 and _worse(S, v, j, bar):
        if may_preempt(S, v):
            release_on_paper(S, v)
            S.lists[VICTIMS, n] = v
            n += 1
            if fits(S, c):
                return n
        v = preceding(S, v)
    _take_back_victims(S, n)
    return np.int64(-1)


@core
def spare_victims(S, n):
    """Released jobs whose GPUs are still free keep running, last released first; the others stay in State.lists."""
    for i in range(n - 1, -1, -1):
        v = S.lists[VICTIMS, i]
        if still_free(S, v):
            take_back(S, v)
            S.lists[VICTIMS, i] = -1


@core
def start_or_evict(S, j, bar, running):
    """Start job `j`, evicting strictly worse running jobs if that makes room.

    `bar`: running jobs of equal priority with a key above it are worse; `running`: the index of running jobs. The evicted jobs are
    in State.lists[VICTIMS][:State.g.victims] (-1: spared) for the policy to queue again. Answers OK, or why the job waits.
    """
    S.g[0].victims = 0
    if S.g[0].stop_ms > 0:
        return _hold_or_evict(S, j, bar, running)
    if fits(S, S.jobs[j].cls):
        return start(S, j, OK)
    n = release_worse(S, j, bar, running)
    if n < 0:
        return RESOURCES
    if over_limit(S, j):
        _take_back_victims(S, n)
        return QUOTA
    place(S, S.jobs[j].cls)
    spare_victims(S, n)
    S.g[0].victims = n
    for i in range(n):
        if S.lists[VICTIMS, i] >= 0:
            preempt_released(S, S.lists[VICTIMS, i], EVICTED)
    return start_placed(S, j, OK)


@core
def _release_stopping(S):
    """The GPUs of STOPPING jobs that nobody holds in this pass count as free."""
    v = S.buckets[stopping_index(S)].first
    while v >= 0:
        i = S.jobs[v].part
        while i >= 0:
            P = S.parts[i]
            mask = P.mask & ~S.nodes[P.node].held
            if mask != 0:
                give(S, P.node, mask, count(mask))
            i = P.next
        v = following(S, v)


@core
def _take_back_unfreed(S, v):
    """What is left in the index of GPUs that job `v` still holds is taken out of it."""
    i = S.jobs[v].part
    while i >= 0:
        P = S.parts[i]
        mask = P.mask & S.nodes[P.node].free_mask
        if mask != 0:
            take(S, P.node, mask, count(mask))
        i = P.next


@core
def _take_back_stopping(S):
    v = S.buckets[stopping_index(S)].first
    while v >= 0:
        _take_back_unfreed(S, v)
        v = following(S, v)


@core
def _hold_place(S, j):
    """Nobody but job `j` gets the GPUs in State.place before the end of this pass, and it is not looked at again."""
    g = S.g[0]
    dequeue(S, j)
    S.lists[HOLDERS, g.holders] = j
    g.holders += 1
    for i in range(g.placed):
        P = S.place[i]
        S.nodes[P.node].held |= P.mask
        S.undo[g.undo].node = P.node
        S.undo[g.undo].mask = P.mask & ~occupant_mask(S, P.node)
        g.undo += 1
    g.placed = 0


@core
def end_holds(S):
    """The pass is over: what was held in it is free again."""
    g = S.g[0]
    for i in range(g.undo):
        U = S.undo[i]
        if U.mask != 0:
            give(S, U.node, U.mask, count(U.mask))
        S.nodes[U.node].held = 0
    g.undo = 0
    for i in range(g.holders):
        j = S.lists[HOLDERS, i]
        enqueue(S, j, S.jobs[j].key, S.jobs[j].aux)
    g.holders = 0


@core
def _hold_or_evict(S, j, bar, running):
    """`start_or_evict` where stopping takes time: a job that needs GPUs of stopping jobs holds its place."""
    if fits(S, S.jobs[j].cls):
        return start(S, j, OK)
    _release_stopping(S)
    n = np.int64(0)
    if not fits(S, S.jobs[j].cls):
        n = release_worse(S, j, bar, running)
    if n < 0:
        _take_back_stopping(S)
        return RESOURCES
    if over_limit(S, j):
        _take_back_victims(S, n)
        _take_back_stopping(S)
        return QUOTA
    place(S, S.jobs[j].cls)
    spare_victims(S, n)
    for i in range(n):
        if S.lists[VICTIMS, i] >= 0:
            preempt_released(S, S.lists[VICTIMS, i], EVICTED)
    _take_back_stopping(S)
    _hold_place(S, j)
    return RESERVED
