"""The audit: every invariant of the state, checked after every pass when asked for. Slow and obvious."""

import numpy as np

from pointsman.engine.index.bits import bit, count
from pointsman.engine.jit.compile import core
from pointsman.engine.placement.eligible import admits
from pointsman.engine.placement.occupancy import WHOLE, bytes_of, jobs_on, sits
from pointsman.engine.state.codes import HELD, PENDING, RUNNING, STARTING, STOPPING
from pointsman.engine.state.invariants import (
    CLAIMED,
    CLASS,
    COUNTS,
    GANG,
    GPU_TWICE,
    INDEX,
    KEY,
    LOADS,
    MASK,
    PROGRESS,
    QUEUES,
    SHARED,
    SUBMITTED,
    TIMES,
)
from pointsman.engine.state.records import CLAIMING, Int, State, World


@core
def _parts_hold(S: State, j: Int) -> Int:
    """GPUs that the parts of job `j` list and whose occupant it is; -1 where they disagree."""
    held = np.int64(0)
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        for b in range(S.nodes[P.node].gpus):
            if P.mask & bit(b) != 0:
                if not sits(S, j, S.nodes[P.node].gpu0 + b):
                    return np.int64(-1)
                held += 1
        i = P.next
    return held


@core
def _one_alternative_holds(S: State, j: Int) -> bool:
    """Whether some alternative of the class of job `j` admits all nodes that it is on."""
    C = S.classes[S.jobs[j].cls]
    for a in range(C.alt, C.alt_end):
        holds = True
        i = S.jobs[j].part
        while i >= 0:
            holds = holds and admits(S, S.alts[a], S.nodes[S.parts[i].node].pool)
            i = S.parts[i].next
        if holds:
            return True
    return False


@core
def _is_of_its_class(S: State, j: Int) -> bool:
    J = S.jobs[j]
    C = S.classes[J.cls]
    limited = J.queue if S.queues[J.queue].limit >= 0 else np.int64(-1)
    if J.asked != C.gpus or C.queue != limited or (0 <= J.bucket < S.g[0].classes and J.bucket != J.cls):
        return False
    i = J.part
    while i >= 0:
        if C.per_node > 0 and S.parts[i].gpus != C.per_node:
            return False
        i = S.parts[i].next
    return _one_alternative_holds(S, j)


@core
def _work_is_in_bounds(S: State, W: World, j: Int) -> bool:
    """Comparisons are such that none holds for what is not a number."""
    J = S.jobs[j]
    now = S.g[0].now
    work = W.truth[j].work + 1e-6
    if not 0.0 <= J.done <= work or J.settled > now:
        return False
    if not (0.0 <= J.restored < np.inf and 0.0 <= J.lost < np.inf):
        return False
    if not (abs(J.waited) < np.inf and abs(J.slowed) < np.inf):
        return False
    if J.state != RUNNING:
        return True
    if not (J.restored <= J.done_when_rated <= work and 0.0 <= J.rate < np.inf and J.rated <= now):
        return False
    return J.done_when_rated + np.floor(J.rate * (now - J.rated) * 1024.0) / 1024.0 <= work


@core
def _times_add_up(S: State, j: Int) -> bool:
    """Whether job `j` ran no longer than it has been started, held what it ran on, and, where nothing else takes time,
    no more.
    """
    J = S.jobs[j]
    C = S.classes[J.cls]
    g = S.g[0]
    if J.submit > g.now or J.pend_since > g.now or J.started > g.now or (0 <= J.first_start < J.submit):
        return False
    since = g.now - J.first_start if J.first_start >= 0 else np.int64(0)
    running = g.now - J.settled if J.state == RUNNING else np.int64(0)
    executed = J.executed + running
    attained = J.attained + J.gpus * running
    held = J.held + (J.gpus * (g.now - J.held_since) if J.gpus > 0 else np.int64(0))
    if not (J.executed >= 0 and executed <= since and J.attained >= 0 and J.held >= 0):
        return False
    if executed == 0 and J.done > 0.0:
        return False
    if not C.min_gpus * executed <= attained <= C.max_gpus * executed:
        return False
    if not attained <= held <= C.max_gpus * since or (C.min_gpus == C.max_gpus and held % C.gpus != 0):
        return False
    return held == attained or g.start_ms + g.stop_ms + g.restore_ms + g.rebatch_ms > 0


@core
def _audit_job(S: State, W: World, j: Int) -> Int:
    J = S.jobs[j]
    if not 0 <= J.cls < S.classes.shape[0]:
        return CLASS
    if not 0 <= J.queue < S.queues.shape[0]:
        return QUEUES
    gpus = _parts_hold(S, j)
    if gpus < 0:
        return GPU_TWICE
    C = S.classes[J.cls]
    if gpus != J.gpus or ((J.state == PENDING or J.state == HELD) and gpus != 0):
        return GANG
    if J.state != PENDING and J.state != HELD and not C.min_gpus <= gpus <= C.max_gpus:
        return GANG
    if not _is_of_its_class(S, j):
        return CLASS
    if not _work_is_in_bounds(S, W, j):
        return PROGRESS
    if not _times_add_up(S, j):
        return TIMES
    if J.bucket >= 0 and (np.isnan(J.key) or np.isnan(J.aux)):
        return KEY
    if not 0 <= J.row < W.clock[0].arrived:
        return SUBMITTED
    if S.g[0].row_mask < 0 and W.outcomes[J.row].state != 0:  # else the row has been another's before
        return SUBMITTED
    return np.int64(0)


@core
def _audit_jobs(S: State, W: World) -> Int:
    pending = running = starting = stopping = aside = held = queued = np.int64(0)
    for j in range(S.g[0].slots):
        J = S.jobs[j]
        if J.state == 0:
            continue
        failure = np.int64(_audit_job(S, W, np.int64(j)))
        if failure != 0:
            return failure
        held += J.gpus
        if J.state == PENDING:
            pending += 1
            queued += J.asked
        elif J.state == STARTING:
            starting += 1
        elif J.state == RUNNING:
            running += 1
        elif J.state == HELD:
            aside += 1
        else:
            stopping += 1
    g = S.g[0]
    if pending != g.pending or running != g.running or starting != g.starting or stopping != g.stopping:
        return COUNTS
    if queued != g.queued_gpus:
        return COUNTS
    C = W.clock[0]
    if C.arrived > C.jobs or C.arrived != C.ended + pending + starting + running + stopping + aside:
        return SUBMITTED
    occupied = np.int64(0)
    for x in range(S.gpus.shape[0]):
        occupied += jobs_on(S, x)
    return COUNTS if occupied != held else np.int64(0)


@core
def _audit_nodes(S: State) -> Int:
    free = np.int64(0)
    for n in range(S.nodes.shape[0]):
        N = S.nodes[n]
        for b in range(N.gpus):
            if (N.held & bit(b) != 0) != (S.occupants[N.gpu0 + b, 0] >= 0):
                return MASK
            if (N.free_mask & bit(b) != 0) != ((N.held | N.claimed) & bit(b) == 0):
                return MASK
        if count(N.free_mask) != N.free:
            return MASK
        P = S.pools[N.pool]
        word = P.bits + N.free * (P.leaves + P.tops) + P.tops + (N.rank >> 6)
        if (S.words[word] & bit(N.rank & 63) != 0) != (N.state == 0):
            return INDEX
        if N.state == 0:
            free += N.free
    return COUNTS if free != S.g[0].free else np.int64(0)


@core
def _count_unclaimed(S: State) -> Int:
    """GPUs of stopping jobs that no job claims."""
    unclaimed = np.int64(0)
    for j in range(S.g[0].slots):
        i = S.jobs[j].part if S.jobs[j].state == STOPPING else np.int64(-1)
        while i >= 0:
            unclaimed += count(S.parts[i].mask & ~S.nodes[S.parts[i].node].claimed)
            i = S.parts[i].next
    return unclaimed


@core
def _audit_claims(S: State) -> Int:
    """Whether claims are of waiting jobs, each GPU of one, which is free or held by a job that stops, on an UP node."""
    claimed = idle = np.int64(0)
    for i in range(S.g[0].claims):
        C = S.claims[i]
        J = S.jobs[C.next]
        N = S.nodes[C.node]
        if J.state != PENDING or J.claims == 0 or (J.claims == CLAIMING) != (J.bucket < 0):
            return CLAIMED
        if N.state != 0 or C.mask & ~N.claimed != 0 or count(C.mask) != C.gpus:
            return CLAIMED
        for b in range(N.gpus):
            v = S.occupants[N.gpu0 + b, 0]
            if C.mask & bit(b) != 0 and v >= 0 and S.jobs[v].state != STOPPING:
                return CLAIMED
        claimed += C.gpus
    for n in range(S.nodes.shape[0]):
        N = S.nodes[n]
        claimed -= count(N.claimed)
        idle += count(N.claimed & ~N.held)
    known = _count_unclaimed(S) == S.g[0].unclaimed and idle == S.g[0].idle_claimed
    return CLAIMED if claimed != 0 or not known else np.int64(0)


@core
def _audit_sharing(S: State) -> Int:
    """Whether what jobs take of each GPU is what is missing there."""
    for n in range(S.nodes.shape[0]):
        N = S.nodes[n]
        for b in range(N.gpus):
            X = S.gpus[N.gpu0 + b]
            size = milli = np.int64(0)
            for o in range(X.used):
                size += bytes_of(S, S.occupants[N.gpu0 + b, o], n)
                milli += S.classes[S.jobs[S.occupants[N.gpu0 + b, o]].cls].milli
            divided = N.fractions & bit(b) != 0
            if X.used > S.g[0].jobs_per_gpu or size + X.free_bytes != N.bytes or X.free_bytes < 0:
                return SHARED
            if milli + X.free_milli != WHOLE or (divided and X.free_milli < 0):
                return SHARED
            if (N.shared & bit(b) != 0) != (X.used > 1):
                return SHARED
    return np.int64(0)


@core
def _audit_queues(S: State) -> Int:
    for q in range(S.queues.shape[0]):
        held = np.int64(0)
        for j in range(S.g[0].slots):
            if S.jobs[j].state > 1 and S.jobs[j].queue == q:
                held += S.jobs[j].gpus
        for i in range(S.g[0].claims):
            if S.jobs[S.claims[i].next].queue == q:
                held += S.claims[i].gpus
        if held != S.queues[q].held or (S.queues[q].limit >= 0 and held > S.queues[q].limit):
            return QUEUES
    return np.int64(0)


@core
def _audit_loads(S: State) -> Int:
    """Whether what factors count of running jobs is gone when none runs."""
    if S.g[0].running == 0:
        for i in range(S.factor_loads.shape[0]):
            if S.factor_loads[i] != 0:
                return LOADS
    return np.int64(0)


@core
def audit(S: State, W: World) -> Int:
    """The first invariant found broken (see FAILURES), 0 if none."""
    failure = np.int64(_audit_jobs(S, W))
    if failure == 0:
        failure = np.int64(_audit_nodes(S))
    if failure == 0:
        failure = np.int64(_audit_claims(S))
    if failure == 0:
        failure = np.int64(_audit_queues(S))
    if failure == 0 and S.g[0].jobs_per_gpu > 1:
        failure = np.int64(_audit_sharing(S))
    if failure == 0:
        failure = np.int64(_audit_loads(S))
    return failure
