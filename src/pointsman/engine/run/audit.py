"""The audit: every invariant of the state, checked after every pass when asked for. Slow and obvious."""

import numpy as np

from pointsman.engine.index.bits import bit, count
from pointsman.engine.jit.compile import core
from pointsman.engine.placement.occupancy import WHOLE, bytes_of, jobs_on, sits
from pointsman.engine.state.records import Int, State, World

GPU_TWICE, GANG, MASK, INDEX, COUNTS, QUEUES, PROGRESS, HELD, OVERBOOKED, TASKS, SHARED = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
)
FAILURES = {
    GPU_TWICE: "a GPU is held by a job that does not list it, or by two",
    GANG: "a job holds neither none nor all of its GPUs",
    MASK: "the free GPUs of a node are not those that nobody holds",
    INDEX: "a node is not indexed by its number of free GPUs",
    COUNTS: "the counters of jobs or free GPUs are off",
    QUEUES: "a queue's count of held GPUs is off or above its limit",
    PROGRESS: "a job's progress is negative or beyond its work",
    HELD: "a hold outlived its pass",
    OVERBOOKED: "the rings of an uplink are miscounted, or get more of it than it has",
    SHARED: "a GPU has more jobs than it may, or its memory or fractions are overdrawn or miscounted",
    TASKS: "a GPU does two tasks or none while one is ready, its memory is overdrawn, or transfers are miscounted",
}


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
def _audit_jobs(S: State, W: World) -> Int:
    pending = running = starting = stopping = held = queued = np.int64(0)
    for j in range(S.g[0].slots):
        J = S.jobs[j]
        if J.state == 0:
            continue
        gpus = _parts_hold(S, j)
        if gpus < 0:
            return GPU_TWICE
        C = S.classes[J.cls]
        if gpus != J.gpus or (J.state == 1 and gpus != 0) or (J.state != 1 and not C.min_gpus <= gpus <= C.max_gpus):
            return GANG
        if J.done < 0.0 or J.done > W.truth[j].work + 1e-6 or J.settled > S.g[0].now:
            return PROGRESS
        held += gpus
        if J.state == 1:
            pending += 1
            queued += J.asked
        elif J.state == 2:
            starting += 1
        elif J.state == 3:
            running += 1
        else:
            stopping += 1
    g = S.g[0]
    if pending != g.pending or running != g.running or starting != g.starting or stopping != g.stopping:
        return COUNTS
    if queued != g.queued_gpus:
        return COUNTS
    occupied = np.int64(0)
    for x in range(S.gpus.shape[0]):
        occupied += jobs_on(S, x)
    return COUNTS if occupied != held else np.int64(0)


@core
def _audit_nodes(S: State) -> Int:
    free = np.int64(0)
    for n in range(S.nodes.shape[0]):
        N = S.nodes[n]
        if N.held != 0:
            return HELD
        for b in range(N.gpus):
            if (N.free_mask & bit(b) != 0) != (S.occupants[N.gpu0 + b, 0] < 0):
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
        if held != S.queues[q].held or (S.queues[q].limit >= 0 and held > S.queues[q].limit):
            return QUEUES
    return np.int64(0)


@core
def audit(S: State, W: World) -> Int:
    """The first invariant found broken (see FAILURES), 0 if none."""
    failure = np.int64(_audit_jobs(S, W))
    if failure == 0:
        failure = np.int64(_audit_nodes(S))
    if failure == 0:
        failure = np.int64(_audit_queues(S))
    if failure == 0 and S.g[0].jobs_per_gpu > 1:
        failure = np.int64(_audit_sharing(S))
    return failure
