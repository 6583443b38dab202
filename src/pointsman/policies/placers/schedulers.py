"""Schedulers that share a cluster: which of them a job belongs to, and jobs that one forwards to another.

A scheduler owns whole racks, and a job may use those of its scheduler only: its demand class says so
(`engine.setup.schedulers`). To forward a job is to give it the class of the same demand under another scheduler.
Schedulers may take time to decide: each decides about one job after another, all of them side by side.
"""

import numpy as np

from pointsman.policies.placers.declared import SINCE_STEP, Placer, PlacerMemory
from pointsman.policies.placers.waiting.patience import takes_what_is_free
from pointsman.policies.sdk import (
    Int,
    State,
    alternative_with_room,
    before,
    cold,
    core,
    dequeue,
    enqueue,
    free_gpus,
    view_of,
    wake_at,
)

params, memory = view_of(Placer), view_of(PlacerMemory)


@core
def scheduler_of(S: State, j: Int) -> Int:
    """The scheduler that job `j` belongs to."""
    return S.jobs[j].cls % S.g[0].schedulers


@core
def class_under(S: State, c: Int, scheduler: Int) -> Int:
    """The class with the demand of class `c` whose jobs belong to `scheduler`."""
    return c - c % S.g[0].schedulers + scheduler


@core
def was_forwarded(S: State, j: Int) -> bool:
    """Whether job `j` has been forwarded, which happens once at most."""
    return bool(S.jobs[j].level != 0)


@core
def forward_to(S: State, j: Int, scheduler: Int) -> None:
    """Waiting job `j` belongs to another scheduler from now on. When, and from which, its `level` notes."""
    J = S.jobs[j]
    memory(S).forwards += 1
    J.level = S.g[0].now * SINCE_STEP + scheduler_of(S, j) + 1
    key, aux = J.key, J.aux
    dequeue(S, j)
    J.cls = class_under(S, J.cls, scheduler)
    enqueue(S, j, key, aux)


@cold
def destination(S: State, j: Int) -> Int:
    """The scheduler to forward waiting job `j` to: of those that can place it now the one with the most free GPUs that
    the job may use; lowest index among equals, -1 if there is none.
    """
    best = np.int64(-1)
    most = np.int64(0)
    if not params(S).forward or was_forwarded(S, j):
        return best
    for p in range(S.g[0].schedulers):
        c = class_under(S, S.jobs[j].cls, np.int64(p))
        if c != S.jobs[j].cls and takes_what_is_free(S, j, c):
            free = free_gpus(S, S.alts[alternative_with_room(S, c)])
            if free > most:
                best = np.int64(p)
                most = free
    return best


@core
def may_decide(S: State, j: Int) -> bool:
    """Whether the scheduler of waiting job `j`, which can start or be forwarded, ends a decision now; else it begins
    one, or goes on.
    """
    if S.g[0].decision_us == 0:
        return True
    now_us = 1000.0 * S.g[0].now
    turns, p = memory(S).turns_us, scheduler_of(S, j)
    ends_us = turns[p]
    if ends_us <= 0.0 or ends_us <= now_us - 1000.0:  # nothing is under way: what ended before now found no job
        begins_us = now_us
        if ends_us < 0.0 and -ends_us > now_us - 1000.0:
            begins_us = max(-ends_us, 1000.0 * S.jobs[j].submit)
        ends_us = begins_us + S.g[0].decision_us
        turns[p] = ends_us
    if ends_us <= now_us:
        return True
    wake_at(S, np.int64(np.ceil(ends_us / 1000.0)))
    return False


@core
def goes_first(S: State, j: Int, best: Int) -> bool:
    """Whether job `j`, -1 if there is none, may be decided about and comes before job `best`, -1 if none was found."""
    return bool(j >= 0 and may_decide(S, j) and (best < 0 or before(S, j, best)))


@core
def end_decision(S: State, j: Int) -> None:
    """The decision is about job `j`. The next one of its scheduler begins when this ended, if there is a job for it."""
    if S.g[0].decision_us > 0:
        memory(S).turns_us[scheduler_of(S, j)] *= -1.0
