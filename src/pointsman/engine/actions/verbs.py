"""The verbs: what a policy does, each validated here and nowhere else, answered at once with a Reason.

A verb changes the state (the mirror of the cluster) and marks the job; the world carries the change out after the pass.
"""

import numpy as np

from pointsman.engine.actions.claims import CLAIMED, UNCLAIMED, end_claim_of
from pointsman.engine.actions.eviction_cache import note_freed
from pointsman.engine.actions.factors import begin_running, cease_running
from pointsman.engine.index.bits import count, lowest
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.index.free_gpus import give, take
from pointsman.engine.index.queues import dequeue, over_limit
from pointsman.engine.index.treap import insert
from pointsman.engine.jit.compile import cold, core, exported
from pointsman.engine.placement.occupancy import ITERATIONS, occupy, room, vacate
from pointsman.engine.placement.placing import place, unplace
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.records import ACCUMULATIONS, ADMIT, LEAVE, Int, State
from pointsman.engine.state.state_pointer import call_apart, open_state
from pointsman.types import Event, JobState, Locality, Reason, Verb

PENDING, STARTING, RUNNING, STOPPING = (
    int(s) for s in (JobState.PENDING, JobState.STARTING, JobState.RUNNING, JobState.STOPPING)
)
START, PREEMPT, ADMITS = int(Verb.START), int(Verb.PREEMPT), int(Verb.ADMIT)
TIMER = int(Event.TIMER)
OK, RESOURCES, FRAGMENTATION, QUOTA = (
    int(r) for r in (Reason.OK, Reason.Resources, Reason.Fragmentation, Reason.QuotaExceeded)
)
NOT_PENDING, NOT_RUNNING, THIS_PASS = (int(r) for r in (Reason.NotPending, Reason.NotRunning, Reason.StartedThisPass))
GANG_INCOMPLETE, GPU_TAKEN, NOT_ELIGIBLE = (
    int(r) for r in (Reason.GangIncomplete, Reason.GpuTaken, Reason.GpuNotEligible)
)
NOT_SUPPORTED, PROTECTED = int(Reason.NotSupported), int(Reason.MinRuntimeProtected)
AT_GPU, AT_NODE, AT_RACK, AT_POD, AT_CLUSTER = (int(x) for x in Locality)


@core
def queue_index(S: State, j: Int) -> Int:
    """The index of waiting jobs of the queue of job `j` that are eligible on the same nodes as it, for policies that do
    not order by class.
    """
    return S.g[0].classes + S.classes[S.jobs[j].cls].reach * S.g[0].queues + S.jobs[j].queue


@core
def running_index(S: State) -> Int:
    """The index of running jobs, for policies that order them."""
    return S.g[0].classes + S.g[0].queues * S.reaches.shape[0]


@core
def stopping_index(S: State) -> Int:
    """The index of STOPPING jobs."""
    return running_index(S) + 1


@core
def write_log(S: State, kind: Int, row: Int, attempt: Int, arg: Int, reason: Int, node: Int, mask: Int) -> None:
    """Append a row to the plan log under the current sequence number."""
    g = S.g[0]
    L = S.log[g.logged]
    L.time = g.now
    L.seq = g.seq
    L.kind = kind
    L.row = row
    L.attempt = attempt
    L.arg = arg
    L.reason = reason
    L.node = node
    L.mask = mask
    g.logged += 1


@core
def log_event(S: State, kind: Int, j: Int, arg: Int) -> None:
    """Log an event without parts."""
    if S.g[0].log_on:
        S.g[0].seq += 1
        write_log(S, kind, S.jobs[j].row, S.jobs[j].attempt, arg, OK, np.int64(-1), np.int64(0))


@core
def log_parts(S: State, kind: Int, j: Int, arg: Int, reason: Int) -> None:
    """Log what happens to job `j` with the GPUs it holds."""
    g = S.g[0]
    if g.log_on:
        g.seq += 1
        i = S.jobs[j].part
        while i >= 0:
            P = S.parts[i]
            write_log(S, kind, S.jobs[j].row, S.jobs[j].attempt, arg, reason, P.node, P.mask)
            i = P.next


@core
def work_done(S: State, j: Int) -> float:
    """Nominal ms that running job `j` has done by now, in whole 1/1024 ms: sums of times and work stay exact, and so
    do comparisons between them.
    """
    J = S.jobs[j]
    return J.done_when_rated + np.floor(J.rate * (S.g[0].now - J.rated) * 1024.0) / 1024.0


@cold
def _count_slowed(address: Int, j: Int, elapsed: Int) -> None:
    """Of the time that job `j` has run, what the factors on iterations cost it, and of the rest those on computing."""
    J = open_state(address).jobs[j]
    if J.slow > 1.0:
        J.slowed += (1.0 - 1.0 / J.slow) * elapsed
    if J.slow_computing > 1.0:
        J.slowed += (1.0 - 1.0 / J.slow_computing) * (1.0 - J.waits) * elapsed / J.slow


@core
def settle(S: State, j: Int) -> None:
    """Count the progress of job `j` up to now."""
    J = S.jobs[j]
    now = S.g[0].now
    elapsed = now - J.settled
    if elapsed > 0:
        if J.state == RUNNING:
            J.done = work_done(S, j)
            J.attained += J.gpus * elapsed
            J.executed += elapsed
            J.waited += J.waits * elapsed
            if S.g[0].factors > 0 and S.g[0].contention != ITERATIONS:  # chains count it themselves
                _count_slowed(S.g[0].address, j, elapsed)
        J.settled = now


@core
def leave_network(S: State, j: Int) -> None:
    """Job `j` sends no more."""
    g = S.g[0]
    if g.network != 0 and S.flows[j].first != 0:
        call_apart(g.network, g.address, LEAVE, j)


@core
def lay_parts(S: State, j: Int) -> None:
    """The record of job `j`, which has no parts, says that it is on the GPUs in State.place."""
    J = S.jobs[j]
    g = S.g[0]
    rack = S.nodes[S.place[0].node].rack
    pod = S.nodes[S.place[0].node].pod
    kind = S.nodes[S.place[0].node].gpu_type
    locality = AT_NODE if g.placed == 1 else AT_RACK
    gpus = np.int64(0)
    for i in range(g.placed - 1, -1, -1):
        P = S.place[i]
        N = S.nodes[P.node]
        part = g.free_part
        g.free_part = S.parts[part].next
        S.parts[part].node = P.node
        S.parts[part].mask = P.mask
        S.parts[part].gpus = P.gpus
        S.parts[part].next = J.part
        J.part = part
        gpus += P.gpus
        if N.pod != pod:
            locality = AT_CLUSTER
        elif N.rack != rack and locality < AT_POD:
            locality = AT_POD
        if N.gpu_type != kind:
            kind = np.int64(-1)
    J.gpus = gpus
    J.nodes = g.placed
    J.locality = AT_GPU if gpus == 1 else locality
    J.gpu_type = kind


@cold
def bind(S: State, j: Int) -> None:
    """Job `j` holds the GPUs in State.place."""
    g = S.g[0]
    lay_parts(S, j)
    for i in range(g.placed - 1, -1, -1):
        occupy(S, j, S.place[i].node, S.place[i].mask)
    S.jobs[j].held_since = g.now
    S.queues[S.jobs[j].queue].held += S.jobs[j].gpus
    g.placed = 0


@cold
def unbind(S: State, j: Int, index: bool) -> None:
    """Job `j` holds no GPUs any more; with `index` they are free in the index too."""
    J = S.jobs[j]
    i = J.part
    while i >= 0:
        P = S.parts[i]
        emptied = vacate(S, j, P.node, P.mask)
        claimed = emptied & S.nodes[P.node].claimed
        if claimed != 0:
            S.g[0].came_free |= CLAIMED
            S.g[0].idle_claimed += count(claimed)
        if index and emptied != claimed:
            give(S, P.node, emptied & ~claimed, count(emptied & ~claimed))
            S.g[0].came_free |= UNCLAIMED
        S.g[0].changes += 1
        if J.state == STOPPING:
            S.g[0].unclaimed -= count(P.mask & ~S.nodes[P.node].claimed)
            S.nodes[P.node].stopping &= ~emptied
        else:  # else others could claim it already; of shared GPUs, who stays may be evicted from all of its own
            note_freed(S, P.node, emptied if S.g[0].jobs_per_gpu == 1 else np.int64(-1), np.int64(-1))
        following = P.next
        P.next = S.g[0].free_part
        S.g[0].free_part = i
        i = following
    S.queues[J.queue].held -= J.gpus
    J.held += J.gpus * (S.g[0].now - J.held_since)
    J.part = -1
    J.gpus = 0


@core
def delay_of_start(S: State, j: Int) -> Int:
    """How long a start of job `j` takes: longer if it has run before and must be restored."""
    return S.g[0].start_ms + (S.g[0].restore_ms if S.jobs[j].started >= 0 else 0)


@cold
def _commence(S: State, j: Int, reason: Int) -> None:
    """Job `j`, whose GPUs are in State.place, starts."""
    J = S.jobs[j]
    g = S.g[0]
    if J.claims:
        end_claim_of(g.address, j)
    dequeue(S, j)
    bind(S, j)
    g.pending -= 1
    g.queued_gpus -= J.asked
    J.pended += g.now - J.pend_since
    J.attempt += 1
    J.started_pass = g.pass_id
    J.alarm = NEVER
    J.settled = g.now
    delay = delay_of_start(S, j)
    if J.first_start < 0:
        J.first_start = g.now
    J.rate = 0.0
    if delay > 0:
        J.state = STARTING
        g.starting += 1
    else:
        J.state = RUNNING
        J.started = g.now
        J.restored = J.done
        J.done_when_rated = J.done
        J.rated = g.now
        g.running += 1
        begin_running(S, j)
    mark(S, j)
    log_parts(S, START, j, J.accumulation, reason)


@core
def _refused(S: State, j: Int, answer: Int) -> Int:
    """Job `j`, which the policy may have given an accumulation, is not started after all."""
    if S.jobs[j].state == PENDING:
        S.jobs[j].accumulation = 1
    return answer


@cold
def accumulates(address: Int, j: Int, accumulation: Int) -> bool:
    """Whether job `j` can do so many steps of accumulation: a power of two, up to its samples."""
    S = open_state(address)
    if accumulation < 1 or accumulation >> ACCUMULATIONS != 0 or accumulation & (accumulation - 1) != 0:
        return False
    return accumulation == 1 or (
        S.g[0].contention != ITERATIONS
        and S.subbatches[S.jobs[j].speed * ACCUMULATIONS + lowest(accumulation)].bytes > 0
    )


@core
def start_placed(S: State, j: Int, reason: Int) -> Int:
    """Start job `j` on the GPUs already taken and noted in State.place; they are given back on refusal."""
    if S.jobs[j].state != PENDING:
        unplace(S)
        return NOT_PENDING
    if over_limit(S, j):
        unplace(S)
        return QUOTA
    _commence(S, j, reason)
    return OK


@exported("int64(State, int64, int64)")
def start(S: State, j: Int, reason: Int) -> Int:
    """Start job `j` on GPUs of the configured placement. Logged with `reason`; answers OK or why not."""
    if S.jobs[j].state != PENDING:
        return NOT_PENDING
    if S.jobs[j].accumulation != 1 and not accumulates(S.g[0].address, j, S.jobs[j].accumulation):
        return _refused(S, j, NOT_SUPPORTED)
    if over_limit(S, j):
        return _refused(S, j, QUOTA)
    if not place(S, S.jobs[j].cls):
        return _refused(S, j, RESOURCES if S.jobs[j].asked > S.g[0].free else FRAGMENTATION)
    _commence(S, j, reason)
    return OK


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
    """Whether each node in State.place gives so many GPUs; 0: any number."""
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
def take_place(S: State) -> None:
    """What is free of the GPUs in State.place is free no more."""
    for i in range(S.g[0].placed):
        free = S.place[i].mask & S.nodes[S.place[i].node].free_mask
        if free != 0:
            take(S, S.place[i].node, free, count(free))


@cold
def start_on(S: State, j: Int, reason: Int) -> Int:
    """Start job `j` on the GPUs a policy chose: (node, mask) in State.place[:placed], not taken yet."""
    if S.jobs[j].state != PENDING:
        return NOT_PENDING
    if S.jobs[j].accumulation != 1 and not accumulates(S.g[0].address, j, S.jobs[j].accumulation):
        return _refused(S, j, NOT_SUPPORTED)
    answer = place_for(S.g[0].address, j)
    if answer != OK:
        return _refused(S, j, answer)
    take_place(S)
    _commence(S, j, reason)
    return OK


@core
def _is_protected(S: State, j: Int) -> bool:
    """Whether running job `j` may never be preempted, or not yet."""
    return S.jobs[j].pinned != 0 or S.g[0].now - S.jobs[j].started < S.g[0].min_run_ms


@core
def may_preempt(S: State, j: Int) -> bool:
    """Whether job `j` could be preempted in this pass, and what it holds would be free then."""
    J = S.jobs[j]
    if J.state != RUNNING or J.started_pass == S.g[0].pass_id or _is_protected(S, j):
        return False
    return S.g[0].jobs_per_gpu == 1 or J.alone == J.gpus


@core
def since_checkpoint(S: State, j: Int, done: float) -> float:
    """Nominal ms of work since the last checkpoint of job `j`, which runs and has done so much; 0 if it writes none."""
    every, work = S.g[0].checkpoint_ms, done - S.jobs[j].restored
    return work - np.floor(work / every) * every if every > 0.0 else 0.0


@core
def at_risk(S: State, j: Int, done: float) -> float:
    """Nominal ms of work that job `j`, which runs and has done so much, would lose by a preemption."""
    lost = S.g[0].lost_ms
    if S.g[0].loses_since_checkpoint:
        lost += since_checkpoint(S, j, done)
    return min(lost, done)


@core
def lose(S: State, j: Int, work: float) -> None:
    """Job `j` loses so much of what it has done."""
    J = S.jobs[j]
    J.reached = max(J.reached, J.done)
    J.done -= work
    J.lost += work


@core
def note_stopping(S: State, j: Int) -> None:
    """What job `j` holds may be claimed."""
    S.g[0].unclaimed += S.jobs[j].gpus
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        S.nodes[P.node].stopping |= P.mask
        note_freed(S, P.node, P.mask, np.int64(-1))
        i = P.next


@core
def _begin_to_stop(S: State, j: Int) -> None:
    """Job `j`, which stands in no index, holds its GPUs until it has stopped."""
    J = S.jobs[j]
    J.state = STOPPING
    S.g[0].stopping += 1
    J.key = 0.0
    J.aux = np.inf
    insert(S, stopping_index(S), j)
    note_stopping(S, j)


@cold
def _stop(S: State, j: Int, reason: Int, index: bool) -> None:
    J = S.jobs[j]
    g = S.g[0]
    settle(S, j)
    leave_network(S, j)
    cease_running(S, j)
    dequeue(S, j)
    lost = at_risk(S, j, J.done)
    lose(S, j, lost)
    g.preempted_gpu_ms += J.gpus * (lost + g.stop_ms + g.start_ms + g.restore_ms)
    J.rate = 0.0
    J.alarm = NEVER
    J.preempts += 1
    g.preempts += 1
    g.running -= 1
    log_parts(S, PREEMPT, j, np.int64(0), reason)
    mark(S, j)
    if g.stop_ms > 0:
        _begin_to_stop(S, j)
    else:
        unbind(S, j, index)
        become_pending(S, j)


@cold
def withdraw(S: State, j: Int) -> None:
    """Job `j`, which is STARTING or RUNNING, stops for no other's sake: nothing of it is lost, or counted, by that."""
    J = S.jobs[j]
    settle(S, j)
    leave_network(S, j)
    if J.state == RUNNING:
        cease_running(S, j)
        S.g[0].running -= 1
    else:
        S.g[0].starting -= 1
    dequeue(S, j)
    J.rate = 0.0
    J.pause = 0
    J.alarm = NEVER
    mark(S, j)
    _begin_to_stop(S, j)


@core
def become_pending(S: State, j: Int) -> None:
    """Job `j`, which holds nothing, waits."""
    J = S.jobs[j]
    g = S.g[0]
    J.state = PENDING
    J.pend_since = g.now
    J.settled = g.now
    J.accumulation = 1
    g.pending += 1
    g.queued_gpus += J.asked


@core
def preempt(S: State, j: Int, reason: Int) -> Int:
    """Preempt job `j`; the policy queues it again. Answers OK or why not."""
    if S.jobs[j].state != RUNNING:
        return NOT_RUNNING
    if S.jobs[j].started_pass == S.g[0].pass_id:
        return THIS_PASS
    if _is_protected(S, j):
        return PROTECTED
    _stop(S, j, reason, True)
    return OK


@core
def preempt_released(S: State, j: Int, reason: Int) -> None:
    """Preempt job `j`, whose GPUs the index already counts as free."""
    _stop(S, j, reason, False)


@core
def set_alarm(S: State, j: Int, time: Int) -> None:
    """Wake the policy for job `j` at `time` ms: LEVEL while it runs, TIMER while it waits."""
    S.jobs[j].alarm = time
    mark(S, j)


@core
def wake_at(S: State, time: Int) -> None:
    """Have a pass at `time` ms at the latest."""
    if time > S.g[0].now and time < S.g[0].wake:
        S.g[0].wake = time


@core
def admit(S: State, j: Int) -> Int:
    """Let the transfer of job `j` begin, which waits. Answers OK or why not."""
    g = S.g[0]
    if g.contention != ITERATIONS:
        return NOT_SUPPORTED
    if S.jobs[j].state != RUNNING:
        return NOT_RUNNING
    answer = call_apart(g.network, g.address, ADMIT, j)
    if answer == OK:
        log_event(S, ADMITS, j, np.int64(0))
    return answer
