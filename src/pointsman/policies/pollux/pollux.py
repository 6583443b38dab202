"""Pollux: elastic jobs get GPUs where they add most to the goodput of all (Qiao et al., OSDI 2021).

Found in the paper's own simulator (github.com/petuum/adaptdl, osdi21-artifact): the fitness (power mean, p = -1, of
goodput over that of a fair share, 0.001 added), the factor for restarts, rounds of 60 s, at most twice the GPUs ever
held, at most one distributed job on a node. Ours: the search (theirs is a genetic algorithm), gangs wider than a node
have whole nodes, and throughput and noise are those of the tables where Pollux fits them as it goes. Priorities are
ignored, as there: the fitness alone decides. A rigid gang that no one type of GPU could hold so (it mixes types, or its
nodes are of several sizes) is started as `semantics.md` §3 says, on what a round leaves free.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.pollux.packing import (
    WHOLE_NODES,
    fitness_of_plan,
    is_owner,
    pack,
    stays,
)
from pointsman.policies.pollux.search import (
    FREE,
    LEFT,
    QUEUES,
    SEEKING,
    TOTAL,
    TYPES,
    could_hold,
    fitness_of_now,
    is_elastic,
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
    CompiledPolicy,
    Int,
    Knowledge,
    Profile,
    Progress,
    State,
    bit,
    cold,
    core,
    milliseconds,
    parameter,
    preempt,
    resize,
    start,
    start_on,
    wake_at,
)

INTERVAL_MS = 0  # params; the others are in pollux_search
BETTER = 1e-9
"""By how much, relatively, a plan must be fitter to be carried out."""
DONE = -1.0


class Pollux(CompiledPolicy):
    """Every minute all jobs get the GPUs with which they learn fastest together: elastic ones any number, adapting
    their batch; a restart must pay. Priorities are ignored.
    """

    name: ClassVar[str] = "pollux"
    needs: ClassVar[Knowledge] = "none"
    profiles: ClassVar[tuple[Profile, ...]] = ("goodput",)
    progress: ClassVar[Progress] = "work"
    hooks: ClassVar[str] = "pointsman.policies.pollux.pollux"
    rate_model: ClassVar[str] = "goodput"
    places_itself: ClassVar[bool] = True
    takes_whole_gpus: ClassVar[bool] = True
    keeps_shapes: ClassVar[bool] = False
    source: ClassVar[str] = "Qiao et al., Pollux: Co-adaptive Cluster Scheduling, OSDI 2021"

    interval_s: float = parameter(60.0, "interval between rounds", unit="s", source="paper", gt=0)
    power: float = parameter(
        -1.0, "p of the power mean of speedups: the lower, the fairer", source="paper", ge=-10, le=1
    )
    restart_s: float = parameter(30.0, "cost of a restart that the search assumes", unit="s", source="paper", ge=0)

    def parameters(self) -> list[float]:
        return [max(1.0, milliseconds(self.interval_s)), self.power, milliseconds(self.restart_s)]


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
    every = np.int64(S.params[INTERVAL_MS])
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
    for k in range(TYPES):
        S.memory[SEEKING + k] = 0.0
        S.memory[TOTAL + k] = 0.0
    for n in range(S.nodes.shape[0]):
        if S.nodes[n].state == 0:
            S.memory[TOTAL + S.nodes[n].gpu_type] += S.nodes[n].gpus
    j = S.buckets[line(S)].first
    while j >= 0:
        if S.jobs[j].state != PENDING:
            S.jobs[j].s3 = np.float64(max(S.jobs[j].gpu_type, np.int64(0)))
            S.memory[SEEKING + np.int64(S.jobs[j].s3)] += 1.0
            S.jobs[j].s0 = max(S.jobs[j].s0, np.float64(S.jobs[j].gpus))
        j = S.jobs[j].later
    j = S.buckets[line(S)].first
    while j >= 0:
        if S.jobs[j].state == PENDING:
            S.jobs[j].s3 = np.float64(_least_sought(S, j))
            S.memory[SEEKING + np.int64(S.jobs[j].s3)] += 1.0
        j = S.jobs[j].later


@core
def _least_sought(S: State, j: Int) -> Int:
    """Of the types of GPU that could hold job `j`, the one with most of them for each job; ties: the lowest."""
    best = np.int64(0)
    most = -1.0
    for k in range(S.g[0].types):
        S.jobs[j].s3 = np.float64(k)
        share = S.memory[TOTAL + k] / (1.0 + S.memory[SEEKING + k])
        if share > most and could_hold(S, j):
            best = np.int64(k)
            most = share
    return best


@core
def _count_free(S: State) -> None:
    """What there is to give away of each type, and to each queue with a limit."""
    for k in range(TYPES):
        S.memory[FREE + k] = 0.0
    for q in range(min(S.queues.shape[0], QUEUES)):
        S.memory[LEFT + q] = S.queues[q].limit - S.queues[q].held if S.queues[q].limit >= 0 else np.inf
    for n in range(S.nodes.shape[0]):
        if S.nodes[n].state == 0:
            S.memory[FREE + S.nodes[n].gpu_type] += S.nodes[n].free
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
            S.jobs[j].s1 = DONE
        elif S.jobs[j].s1 == 0:
            preempt(S, j, OK)
            S.jobs[j].s1 = DONE
            _rejoin(S, j)
        j = after
    moved = True
    while moved:
        moved = False
        j = S.buckets[line(S)].first
        while j >= 0:
            after = S.jobs[j].later
            if S.jobs[j].s1 > 0 and _locate(S, j) and _change(S, j):
                S.jobs[j].s1 = DONE
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
    left = np.int64(S.jobs[j].s1)
    if S.jobs[j].s2 != WHOLE_NODES:
        left -= _pick(S, j, np.int64(S.jobs[j].s2), left)
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
