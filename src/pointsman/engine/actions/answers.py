"""How a verb is answered: OK, or the Reason for which it is refused. What a policy asks is validated here only.

Whether a place is found for a job is answered where it is looked for (`verbs.start`).
"""

import numpy as np

from pointsman.engine.index.bits import count, lowest
from pointsman.engine.index.queues import over_limit
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.placement.occupancy import memory_left, room
from pointsman.engine.state.codes import (
    GANG_INCOMPLETE,
    GPU_TAKEN,
    MEMORY,
    NOT_ELIGIBLE,
    NOT_PENDING,
    NOT_RUNNING,
    NOT_SUPPORTED,
    OK,
    PENDING,
    PROTECTED,
    QUOTA,
    RUNNING,
    THIS_PASS,
)
from pointsman.engine.state.records import ACCUMULATIONS, Int, State
from pointsman.engine.state.state_pointer import open_state


@cold
def accumulates(address: Int, j: Int, accumulation: Int) -> bool:
    """Whether job `j` can do `accumulation` steps: a power of two, up to its samples."""
    S = open_state(address)
    if accumulation < 1 or accumulation >> ACCUMULATIONS != 0 or accumulation & (accumulation - 1) != 0:
        return False
    return accumulation == 1 or (
        not S.g[0].counts_iterations and S.subbatches[S.jobs[j].speed * ACCUMULATIONS + lowest(accumulation)].bytes > 0
    )


@core
def _answer_of_state(S: State, j: Int) -> Int:
    """Whether job `j` waits, and can do the steps of accumulation that a policy gave it."""
    if S.jobs[j].state != PENDING:
        return NOT_PENDING
    if S.jobs[j].accumulation != 1 and not accumulates(S.g[0].address, j, S.jobs[j].accumulation):
        return NOT_SUPPORTED
    return OK


@core
def answer_to_start(S: State, j: Int) -> Int:
    """Whether job `j` may start, wherever there is room for it."""
    answer = _answer_of_state(S, j)
    return QUOTA if answer == OK and over_limit(S, j) else answer


@core
def answer_to_start_on(S: State, j: Int) -> Int:
    """Whether job `j` may start on the GPUs that a policy chose: (node, mask) in State.place[:placed]."""
    answer = _answer_of_state(S, j)
    return place_for(S.g[0].address, j) if answer == OK else answer


@core
def _eligible(S: State, c: Int, n: Int) -> bool:
    C = S.classes[c]
    for a in range(C.alt, C.alt_end):
        for i in range(S.alts[a].pool, S.alts[a].pool_end):
            if S.ints[i] == S.nodes[n].pool:
                return True
    return False


@core
def _one_alternative(S: State, c: Int) -> bool:
    """Whether the nodes in State.place all belong to one alternative of class `c`."""
    C = S.classes[c]
    for a in range(C.alt, C.alt_end):
        within = np.int64(0)
        for k in range(S.g[0].placed):
            pool = S.nodes[S.place[k].node].pool
            for i in range(S.alts[a].pool, S.alts[a].pool_end):
                if S.ints[i] == pool:
                    within += 1
        if within == S.g[0].placed:
            return True
    return False


@core
def _part_of_place(S: State, j: Int, i: Int) -> Int:
    """Whether job `j` may have part `i` of State.place: OK, or why not."""
    P = S.place[i]
    if P.node < 0 or P.node >= S.nodes.shape[0]:
        return NOT_ELIGIBLE
    if S.nodes[P.node].state != 0 or not _eligible(S, S.jobs[j].cls, P.node):
        return NOT_ELIGIBLE
    if P.mask == 0:
        return GPU_TAKEN
    for k in range(i):
        if S.place[k].node == P.node:
            return GPU_TAKEN
    return room(S, j, P.node, P.mask)


@core
def _has_shape(S: State, per_node: Int) -> bool:
    """Whether each node in State.place gives `per_node` GPUs; 0: any number."""
    for i in range(S.g[0].placed):
        if per_node > 0 and S.place[i].gpus != per_node:
            return False
    return True


@cold
def place_for(address: Int, j: Int) -> Int:
    """Whether job `j` may have the GPUs that a policy chose, (node, mask) in State.place[:placed]: OK, or why not. Its
    own count as free.
    """
    S = open_state(address)
    J = S.jobs[j]
    C = S.classes[J.cls]
    gpus = np.int64(0)
    for i in range(S.g[0].placed):
        answer = _part_of_place(S, j, np.int64(i))
        if answer != OK:
            return answer
        S.place[i].gpus = count(S.place[i].mask)
        gpus += S.place[i].gpus
    if gpus < C.min_gpus or gpus > C.max_gpus or not _has_shape(S, C.per_node):
        return GANG_INCOMPLETE
    if not _one_alternative(S, J.cls):
        return NOT_ELIGIBLE
    Q = S.queues[J.queue]
    return QUOTA if Q.limit >= 0 and Q.held - J.gpus + gpus > Q.limit else OK


@core
def answer_to_preempt(S: State, j: Int) -> Int:
    """Whether job `j` may be preempted."""
    if S.jobs[j].state != RUNNING:
        return NOT_RUNNING
    if S.jobs[j].started_pass == S.g[0].pass_id:
        return THIS_PASS
    return PROTECTED if _is_protected(S, j) else OK


@core
def _is_protected(S: State, j: Int) -> bool:
    """Whether running job `j` may never be preempted, or not yet."""
    return S.jobs[j].pinned != 0 or S.g[0].now - S.jobs[j].started < S.g[0].min_run_ms


@core
def may_preempt(S: State, j: Int) -> bool:
    """Whether job `j` could be preempted in this cycle, and what it holds would be free then."""
    J = S.jobs[j]
    if J.state != RUNNING or J.started_pass == S.g[0].pass_id or _is_protected(S, j):
        return False
    return S.g[0].jobs_per_gpu == 1 or J.alone == J.gpus


@core
def answer_to_resize(S: State, j: Int) -> Int:
    """Whether job `j` may have the GPUs in State.place[:placed] instead of its own, of which it may keep some."""
    if S.jobs[j].state != RUNNING:
        return NOT_RUNNING
    if S.jobs[j].started_pass == S.g[0].pass_id:
        return THIS_PASS
    if S.g[0].counts_iterations:
        return NOT_SUPPORTED
    return place_for(S.g[0].address, j)


@core
def answer_to_rebatch(S: State, j: Int, accumulation: Int) -> Int:
    """Whether job `j` may go on with `accumulation` steps."""
    if S.jobs[j].state != RUNNING:
        return NOT_RUNNING
    if not accumulates(S.g[0].address, j, accumulation):
        return NOT_SUPPORTED
    if accumulation != S.jobs[j].accumulation and S.g[0].jobs_per_gpu > 1:
        return OK if memory_left(S.g[0].address, j, accumulation, False) >= 0 else MEMORY
    return OK


@core
def answer_to_admit(S: State, j: Int) -> Int:
    """Whether job `j` may send, if it waits to."""
    if not S.g[0].counts_iterations:
        return NOT_SUPPORTED
    return OK if S.jobs[j].state == RUNNING else NOT_RUNNING
