"""Pollux: elastic jobs get GPUs where they add most to the goodput of all (Qiao et al., OSDI 2021).

Found in the paper's own simulator (github.com/petuum/adaptdl, osdi21-artifact): the fitness (power mean, p = -1, of
goodput over that of a fair share, 0.001 added), the factor for restarts, rounds of 60 s, at most twice the GPUs ever
held, at most one distributed job on a node. Ours: the search (theirs is a genetic algorithm), gangs wider than a node
have whole nodes, and throughput and noise are those of the tables where Pollux fits them as it goes. Priorities are
ignored, as there: the fitness alone decides. A rigid gang that no one type of GPU could hold so (it mixes types, or its
nodes are of several sizes) is started as `semantics.md` §3 says, on what a round leaves free.
"""

import numpy as np

from pointsman.policies.pollux.declared import QUEUES, TYPES, Pollux, PolluxMemory
from pointsman.policies.pollux.packing import WHOLE_NODES, fitness_of_plan, is_owner, pack, stays
from pointsman.policies.pollux.search import (
    could_hold,
    fitness_of_now,
    is_elastic,
    kept,
    line,
    may_change,
    share_out,
    stand_in_line,
    take_back,
)
from pointsman.policies.sdk import (
    OK,
    PENDING,
    RUNNING,
    STARTING,
    Int,
    State,
    bit,
    cold,
    core,
    preempt,
    resize,
    start,
    start_on,
    view_of,
    wake_at,
)

params, memory = view_of(Pollux), view_of(PolluxMemory)
BETTER = 1e-9
"""By how much, relatively, a plan must be fitter to be carried out."""
DONE = -1


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins the line; so does one found starting."""
    if j >= 0:
        _rejoin(S, j)


@core
def on_run(S: State, j: Int) -> None:
    """So does one that already ran when the policy took over."""
    _rejoin(S, j)


@core
def decide(S: State) -> None:
    """A round at every multiple of the interval, as long as there are jobs; if none of them got a GPU in it, the next
    is only after something has happened.
    """
    every = params(S).interval_ms
    now = S.g[0].now
    if S.buckets[line(S)].first < 0:
        return
    if now % every == 0:
        _begin(S)
        if _plan(S):
            _carry_out(S)
        _start_the_rest(S)
        if S.g[0].running + S.g[0].starting + S.g[0].stopping == 0:
            return
    wake_at(S, now - now % every + every)


@cold
def _begin(S: State) -> None:
    """Count the GPUs and jobs of each type; waiting jobs are each bound to the type with most GPUs for each of its
    jobs.
    """
    M = memory(S)
    for k in range(TYPES):
        M.seeking[k] = 0.0
        M.total[k] = 0.0
    for n in range(S.nodes.shape[0]):
        if S.nodes[n].state == 0:
            M.total[S.nodes[n].gpu_type] += S.nodes[n].gpus
    j = S.buckets[line(S)].first
    while j >= 0:
        if S.jobs[j].state != PENDING:
            K = kept(S, j)
            K.gpu_type = max(S.jobs[j].gpu_type, np.int64(0))
            M.seeking[K.gpu_type] += 1.0
            K.most_held = max(K.most_held, S.jobs[j].gpus)
        j = S.jobs[j].later
    j = S.buckets[line(S)].first
    while j >= 0:
        if S.jobs[j].state == PENDING:
            kept(S, j).gpu_type = _least_sought(S, j)
            M.seeking[kept(S, j).gpu_type] += 1.0
        j = S.jobs[j].later


@core
def _least_sought(S: State, j: Int) -> Int:
    """Return the GPU type that can hold job `j` and has the most GPUs per job that seeks it; the lowest of equals."""
    best = np.int64(0)
    most = -1.0
    for k in range(S.g[0].types):
        kept(S, j).gpu_type = k
        share = memory(S).total[k] / (1.0 + memory(S).seeking[k])
        if share > most and could_hold(S, j):
            best = np.int64(k)
            most = share
    return best


@core
def _count_free(S: State) -> None:
    """What there is to give away of each type, and to each queue with a limit."""
    M = memory(S)
    for k in range(TYPES):
        M.free[k] = 0.0
    for q in range(min(S.queues.shape[0], QUEUES)):
        M.left[q] = S.queues[q].limit - S.queues[q].held if S.queues[q].limit >= 0 else np.inf
    for n in range(S.nodes.shape[0]):
        if S.nodes[n].state == 0:
            M.free[S.nodes[n].gpu_type] += S.nodes[n].free
    j = S.buckets[line(S)].first
    while j >= 0:
        if may_change(S, j):
            take_back(S, j, np.float64(S.jobs[j].gpus))
        j = S.jobs[j].later


@cold
def _plan_once(S: State, afresh: bool) -> float:
    """Make a plan; how fit it is."""
    _count_free(S)
    share_out(S)
    pack(S, afresh)
    return fitness_of_plan(S)


@core
def _plan(S: State) -> bool:
    """Make the fitter of the two plans; whether it is fitter than leaving all as it is."""
    now = fitness_of_now(S)
    fresh = _plan_once(S, True)
    kept = _plan_once(S, False)
    if fresh > kept:
        _plan_once(S, True)
    return max(fresh, kept) > now + BETTER * abs(now)


@cold
def _carry_out(S: State) -> None:
    """Carry the plan out, job by job as the GPUs come free; jobs that wait for each other's stay as they are."""
    j = S.buckets[line(S)].first
    while j >= 0:
        after = S.jobs[j].later
        if not may_change(S, j) or stays(S, j):
            kept(S, j).gpus = DONE
        elif kept(S, j).gpus == 0:
            preempt(S, j, OK)
            kept(S, j).gpus = DONE
            _rejoin(S, j)
        j = after
    moved = True
    while moved:
        moved = False
        j = S.buckets[line(S)].first
        while j >= 0:
            after = S.jobs[j].later
            if kept(S, j).gpus > 0 and _locate(S, j) and _change(S, j):
                kept(S, j).gpus = DONE
                moved = True
            j = after


@cold
def _start_the_rest(S: State) -> None:
    """Rigid gangs that no plan has a place for start wherever they can."""
    j = S.buckets[line(S)].first
    while j >= 0:
        after = S.jobs[j].later
        if S.jobs[j].state == PENDING and not is_elastic(S, j) and not could_hold(S, j):
            start(S, j, OK)
            _rejoin(S, j)
        j = after


@core
def _rejoin(S: State, j: Int) -> None:
    """Job `j` may have been taken out of the line by a verb."""
    J = S.jobs[j]
    if J.bucket < 0 and (J.state == PENDING or J.state == STARTING or J.state == RUNNING):
        stand_in_line(S, j)


@cold
def _change(S: State, j: Int) -> bool:
    """Job `j` starts on State.place, or changes to it; whether it could."""
    J = S.jobs[j]
    again = J.first_start >= 0
    answer = start_on(S, j, OK) if J.state == PENDING else resize(S, j, OK)
    _rejoin(S, j)
    if answer == OK and again:
        J.level += 1
    return bool(answer == OK)


@cold
def _locate(S: State, j: Int) -> bool:
    """Note in State.place the GPUs that job `j` is to have; whether they are all free now, or its own."""
    g = S.g[0]
    g.placed = 0
    left = kept(S, j).gpus
    if kept(S, j).node != WHOLE_NODES:
        left -= _pick(S, j, kept(S, j).node, left)
        return left == 0
    for n in range(S.nodes.shape[0]):
        if left > 0 and is_owner(S, j, n):
            left -= _pick(S, j, n, min(left, S.nodes[n].gpus))
    return left == 0


@cold
def _pick(S: State, j: Int, n: Int, gpus: Int) -> Int:
    """Note `gpus` GPUs of node `n` for job `j`, its own first; how many there were."""
    own = np.int64(0)
    i = S.jobs[j].part
    while i >= 0:
        if S.parts[i].node == n:
            own = S.parts[i].mask
        i = S.parts[i].next
    picked = np.int64(0)
    mask = np.int64(0)
    for mine in range(2):
        source = own if mine == 0 else S.nodes[n].free_mask
        for b in range(S.nodes[n].gpus):
            if picked < gpus and source & bit(b) != 0 and mask & bit(b) == 0:
                mask |= bit(b)
                picked += 1
    S.place[S.g[0].placed].node = n
    S.place[S.g[0].placed].mask = mask
    S.g[0].placed += 1
    return picked
