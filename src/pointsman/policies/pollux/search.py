"""How many GPUs each job should have in the next round: Pollux's fitness (Qiao et al., OSDI 2021, §4.2), climbed by the
gain of each further GPU. A plain deterministic search, ours, in the place of the authors' genetic algorithm.
"""

import numpy as np

from pointsman.policies.pollux.declared import QUEUES, Planned, Pollux, PolluxMemory
from pointsman.policies.sdk import (
    LOCALITIES,
    PENDING,
    RUNNING,
    Int,
    State,
    admits,
    cold,
    core,
    insert,
    remove,
    running_index,
    view_of,
)

params, memory, kept = view_of(Pollux), view_of(PolluxMemory), view_of(Planned)
NO_SPEED = 1e-3
"""Added to all speedups, as the authors do: a job without GPUs is very unfit, not infinitely."""
ANY = -1
"""Instead of a locality: the best one for the number of GPUs."""


@core
def line(S: State) -> Int:
    """The index of all jobs that wait or run, by row."""
    return running_index(S) + np.int64(2)


@core
def _race(S: State) -> Int:
    """The index of jobs that may yet get GPUs in this plan, by what the next ones gain."""
    return running_index(S) + np.int64(3)


@cold
def stand_in_line(S: State, j: Int) -> None:
    """Job `j` is one of those the next round looks at."""
    S.jobs[j].key = np.float64(S.jobs[j].row)
    S.jobs[j].aux = np.inf
    S.buckets[line(S)].by_key = 1
    insert(S, line(S), j)


@core
def widest(S: State) -> Int:
    """The most GPUs for which goodputs are known; below 1 where all jobs are rigid."""
    return S.told_goodputs.shape[1] // LOCALITIES - 1


@cold
def goodput(S: State, j: Int, gpus: Int, locality: Int) -> float:
    """Return the goodput of job `j` on `gpus` GPUs of its type at `locality`, or at the best one with `ANY`."""
    row = (S.jobs[j].speed + kept(S, j).gpu_type) * S.g[0].stages + S.jobs[j].stage
    if locality != ANY:
        return S.told_goodputs[row, gpus * LOCALITIES + locality]
    most = 0.0
    for k in range(LOCALITIES):
        most = max(most, S.told_goodputs[row, gpus * LOCALITIES + k])
    return most


@core
def is_elastic(S: State, j: Int) -> bool:
    """Whether job `j` can do with another number of GPUs than it asks for."""
    return bool(widest(S) > 0 and goodput(S, j, np.int64(1), np.int64(ANY)) > 0.0)


@core
def may_change(S: State, j: Int) -> bool:
    """Whether this round decides on job `j`: it waits, or is elastic, runs and is on nodes that take work."""
    J = S.jobs[j]
    if J.state != RUNNING or J.started_pass == S.g[0].pass_id or not is_elastic(S, j):
        return J.state == PENDING
    i = J.part
    while i >= 0:
        if S.nodes[S.parts[i].node].state != 0:
            return False
        i = S.parts[i].next
    return True


@core
def takes(S: State, j: Int, n: Int) -> bool:
    """Whether node `n` is one for job `j`: it takes work, is eligible, and of the job's type."""
    N = S.nodes[n]
    if N.state != 0 or N.gpu_type != kept(S, j).gpu_type:
        return False
    C = S.classes[S.jobs[j].cls]
    for a in range(C.alt, C.alt_end):
        if admits(S, S.alts[a], N.pool):
            return True
    return False


@cold
def could_hold(S: State, j: Int) -> bool:
    """Whether the nodes of its type could hold job `j` as plans are made: on one of them, or on whole ones."""
    elastic = is_elastic(S, j)
    asked = S.jobs[j].asked
    size = unit(S, j)
    whole = np.int64(0)
    for n in range(S.nodes.shape[0]):
        if takes(S, j, n):
            if elastic or S.nodes[n].gpus >= asked:
                return True
            whole += size if S.nodes[n].gpus == size else 0
    return whole >= asked


@core
def unit(S: State, j: Int) -> Int:
    """GPUs of the largest node for job `j`; wider gangs have whole nodes of this size."""
    C = S.classes[S.jobs[j].cls]
    most = np.int64(0)
    for a in range(C.alt, C.alt_end):
        for i in range(S.alts[a].pool, S.alts[a].pool_end):
            if S.pools[S.ints[i]].gpu_type == kept(S, j).gpu_type:
                most = max(most, S.pools[S.ints[i]].gpus)
    return most


@core
def most_gpus(S: State, j: Int) -> Int:
    """The most that elastic job `j` may have: twice as many as it ever had, to learn how it scales step by step."""
    return min(widest(S), max(np.int64(1), 2 * kept(S, j).most_held))


@core
def within_limit(S: State, j: Int) -> float:
    """GPUs that the limit of its queue still leaves job `j` in this plan."""
    return memory(S).left[S.jobs[j].queue] if S.jobs[j].queue < QUEUES else np.inf


@core
def take_back(S: State, j: Int, gpus: float) -> None:
    """Take back `gpus` GPUs that were meant for job `j`: they may be given to others."""
    memory(S).free[kept(S, j).gpu_type] += gpus
    if S.jobs[j].queue < QUEUES:
        memory(S).left[S.jobs[j].queue] += gpus


@core
def _fair_gpus(S: State, j: Int) -> Int:
    """An equal share of the GPUs of the type of job `j`, rounded up, that each job there would have."""
    kind = kept(S, j).gpu_type
    share = np.int64(np.ceil(memory(S).total[kind] / max(1.0, memory(S).seeking[kind])))
    return max(share, np.int64(1))


@cold
def speedup(S: State, j: Int, gpus: Int, locality: Int) -> float:
    """How much faster than on a fair share job `j` learns; without a model, by the number of its GPUs."""
    if gpus == 0:
        return 0.0
    fair = _fair_gpus(S, j)
    if not is_elastic(S, j):
        return np.float64(gpus) / fair
    fair = min(fair, widest(S))
    while goodput(S, j, fair, np.int64(ANY)) <= 0.0:
        fair -= 1
    return goodput(S, j, gpus, locality) / goodput(S, j, fair, np.int64(ANY))


@cold
def restart_factor(S: State, j: Int) -> float:
    """What is left of the speed of job `j` if its restarts, with one more, are shared out over its age so far: at its
    first start nothing is lost, and later never all.
    """
    J = S.jobs[j]
    if J.first_start < 0:
        return 1.0
    age = max(1.0, np.float64(S.g[0].now - J.submit))
    return max(1.0, age - J.level * params(S).restart_ms) / (age + params(S).restart_ms)


@core
def fitness(S: State, speed: float) -> float:
    """What a speedup adds to the fitness of an allocation: a power of it, the mean of which is the power mean."""
    p = params(S).power
    if p == 0.0:
        return np.log(speed + NO_SPEED)
    power = (speed + NO_SPEED) ** p
    return power if p > 0.0 else -power


@cold
def fitness_now(S: State, j: Int) -> float:
    """Return what job `j` adds to the fitness if it keeps its GPUs, or waits on."""
    if S.jobs[j].state == PENDING:
        return fitness(S, 0.0)
    return fitness(S, speedup(S, j, S.jobs[j].gpus, S.jobs[j].locality))


@cold
def fitness_moved(S: State, j: Int, gpus: Int, locality: Int) -> float:
    """Return what job `j` adds to the fitness if it moves to `gpus` GPUs at `locality`; with 0, if it waits."""
    if gpus == 0:
        return fitness(S, 0.0)
    return fitness(S, restart_factor(S, j) * speedup(S, j, gpus, locality))


@cold
def fitness_of_now(S: State) -> float:
    """The sum over the jobs of which this round decides, if all is left as it is."""
    total = 0.0
    j = S.buckets[line(S)].first
    while j >= 0:
        if may_change(S, j):
            total += fitness_now(S, j)
        j = S.jobs[j].later
    return total


@core
def _fitness_of(S: State, j: Int, gpus: Int) -> float:
    """Return what job `j` adds to the fitness on `gpus` GPUs: at the best locality, or where it is, if better."""
    moved = fitness_moved(S, j, gpus, np.int64(ANY))
    return max(moved, fitness_now(S, j)) if gpus == S.jobs[j].gpus else moved


@core
def _next_size(S: State, j: Int, gpus: Int) -> Int:
    """What job `j` may have if `gpus` are too few."""
    if not is_elastic(S, j):
        return S.jobs[j].asked
    whole = unit(S, j)
    return gpus + (1 if gpus < whole else whole)


@cold
def _best_step(S: State, j: Int) -> tuple[float, Int]:
    """The number of GPUs to which job `j` is best raised, by the gain in fitness of each further one, and this gain."""
    J, K = S.jobs[j], kept(S, j)
    now = K.gpus
    elastic = is_elastic(S, j)
    more = min(memory(S).free[K.gpu_type], within_limit(S, j))
    most = min(now + np.int64(more), most_gpus(S, j) if elastic else J.asked)
    base = _fitness_of(S, j, now)
    best = 0.0
    size = now
    gpus = now if now == J.asked and not elastic else _next_size(S, j, now)
    while now < gpus <= most:
        gain = (_fitness_of(S, j, gpus) - base) / (gpus - now)
        if gain > best:
            best = gain
            size = gpus
        if not elastic:
            break
        gpus = _next_size(S, j, gpus)
    return best, size


@core
def _enter(S: State, j: Int, gain: float) -> None:
    """Job `j` races for its next GPUs, or has all it is to have."""
    if gain > 0.0:
        S.jobs[j].key = -gain
        insert(S, _race(S), j)
    else:
        stand_in_line(S, j)


@cold
def share_out(S: State) -> None:
    """Decide how many GPUs all jobs in line are to have: each next GPU goes to whom it makes the cluster fittest."""
    race = _race(S)
    S.buckets[race].by_key = 1
    j = S.buckets[line(S)].first
    while j >= 0:
        after = S.jobs[j].later
        if may_change(S, j):
            kept(S, j).gpus = 0
            gain, _ = _best_step(S, j)
            if gain > 0.0:
                remove(S, j)
                _enter(S, j, gain)
        j = after
    while S.buckets[race].first >= 0:
        j = S.buckets[race].first
        J = S.jobs[j]
        believed = -J.key
        remove(S, j)
        gain, size = _best_step(S, j)
        if gain >= believed or S.buckets[race].first < 0 or gain >= -S.jobs[S.buckets[race].first].key:
            take_back(S, j, np.float64(kept(S, j).gpus - size))
            kept(S, j).gpus = size
            gain, _ = _best_step(S, j)
        _enter(S, j, gain)
