"""What a preemption costs, and how much it must gain. Ours.

Its cost is GPU time: the work of the victim that is lost, and the time to stop it, to start and to restore it. A job is
preempted for another only if its rank exceeds the other's by a multiple of its own cost and of the other's, which may
be preempted in turn. The multiple is larger where preemptions have taken more than their budget of GPU time.
"""

import numpy as np

from pointsman.policies.sdk import Int, Record, State, core, number, since_checkpoint, whole

PERIOD_MS = 600_000
"""The budget is looked at once in so long."""
STEPS = 4.0
"""In which what a preemption loses is counted between two checkpoints."""
HOUR_MS = 3.6e6
HIGHEST = 2.0**20
HIGHEST_GPU_MS = 2.0**53


class Budget(Record):
    """What preemptions may take."""

    scarcity = number("by how much their costs count for more; 0 stands for 1")
    period = whole("the last period in which it was looked at")


@core
def _cost_of_losing(S: State, lost: float, done: float) -> float:
    """Return the cost (ms for each GPU) of a preemption: work lost, at most `done`, and to stop, start and restore."""
    g = S.g[0]
    return np.float64(min(lost, done) + g.stop_ms + g.start_ms + g.restore_ms)


@core
def cost_ms(S: State, done: float) -> float:
    """Return the cost (ms for each GPU) of the preemption of a job that has done the work `done` (ms).

    If it loses its work since the last checkpoint, that is taken to be half a checkpoint interval.
    """
    g = S.g[0]
    lost = g.lost_ms + (0.5 * g.checkpoint_ms if g.loses_since_checkpoint else 0.0)
    return _cost_of_losing(S, lost, done)


@core
def surcharge(S: State, j: Int, weight: float) -> float:
    """`weight` times what a preemption of job `j` costs at most, in whole GPU-ms."""
    return np.float64(min(np.floor(weight * S.jobs[j].asked * cost_ms(S, np.inf)), HIGHEST_GPU_MS))


@core
def cost_now_ms(S: State, j: Int, done: float) -> float:
    """Return the cost (ms for each GPU) of the preemption of running job `j`, which has done the work `done` (ms).

    It is the greatest cost until the job has done `cost_changes_at`.
    """
    g = S.g[0]
    if not g.loses_since_checkpoint:
        return cost_ms(S, done)
    step = g.checkpoint_ms / STEPS
    return _cost_of_losing(S, g.lost_ms + (np.floor(since_checkpoint(S, j, done) / step) + 1.0) * step, done)


@core
def cost_changes_at(S: State, j: Int, done: float) -> float:
    """What running job `j`, which has done so much, will have done when its preemption costs more or less; infinite if
    it writes no checkpoints that count.
    """
    g = S.g[0]
    if not g.loses_since_checkpoint:
        return np.inf
    step, restored = g.checkpoint_ms / STEPS, S.jobs[j].restored
    return restored + (np.floor((done - restored) / step) + 1.0) * step


@core
def scarcity(budget: Budget) -> float:
    """By how much costs count for more than they are."""
    return max(1.0, budget.scarcity)


@core
def _needed(S: State, share: float) -> float:
    """The least power of two that is not below the square of what preemptions have taken over their budget, this share
    of all GPU time; preemptions of more than an hour have a smaller one.
    """
    cost, d = cost_ms(S, np.inf), 1.0
    if cost > 0.0:
        taken = S.g[0].preempted_gpu_ms / (S.gpus.shape[0] * S.g[0].now)
        over = taken / (share * min(1.0, HOUR_MS / cost))
        while d < over * over and d < HIGHEST:
            d *= 2.0
    return d


@core
def review_budget(S: State, budget: Budget, share: float) -> bool:
    """Whether costs count for more or less than before, since a new period has begun."""
    period = S.g[0].now // PERIOD_MS
    if budget.period == period:
        return False
    budget.period = period
    before = scarcity(budget)
    budget.scarcity = _needed(S, share)
    return bool(budget.scarcity != before)
