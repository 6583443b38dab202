"""Tiresias with skew-based consolidation (Gu et al., NSDI 2019, §3.3).

Tiresias' profiler tells from the sizes of a model's tensors whether it suffers when spread, and consolidates only such
jobs. Here the model's profile tells (ours): who runs slower by more than `skew` one level beyond its best is
consolidated, for however long it takes; others take any place, the tightest that has room.
"""

from typing import Any, ClassVar

import numpy as np

from pointsman.policies.classical.tiresias import Tiresias, bar_of, wait
from pointsman.policies.classical.tiresias import on_event as tiresias_on_event
from pointsman.policies.classical.tiresias import on_run as tiresias_on_run
from pointsman.policies.parts.levels import NETWORK, best_level, is_slower_beyond
from pointsman.policies.parts.offers import accepted, delay_of, next_offered, pass_over, queue_for
from pointsman.policies.parts.preemption.bounded_waiting import goes_first
from pointsman.policies.parts.preemption.turns import grant_first_places, note_answer, start_first
from pointsman.policies.sdk import (
    NEVER,
    PENDING,
    VICTIMS,
    Delay,
    Int,
    Profile,
    State,
    core,
    dequeue,
    parameter,
    running_index,
    start_or_evict,
    view_of,
)


class TiresiasSkew(Tiresias):
    """Tiresias that consolidates the jobs that need it, and only those."""

    name: ClassVar[str] = "tiresias-skew"
    hooks: ClassVar[str] = "pointsman.policies.classical.tiresias_skew"
    placement: ClassVar[str] = "tightest"
    profiles: ClassVar[tuple[Profile, ...]] = ("places",)
    needs_rates: ClassVar[bool] = True

    skew: float = parameter(0.1, "consolidate a job that runs slower by more than this share when spread", ge=0)

    def delay_of(self, job: Any) -> Delay | None:
        """For ever: a job that is consolidated takes no other GPUs."""
        return delay_of(job, NEVER)


params = view_of(TiresiasSkew)


@core
def _requeue(S: State, j: Int) -> None:
    """Job `j`, which Tiresias has just queued, waits for the places that it takes."""
    level = best_level(S, j)
    key = S.jobs[j].key
    if goes_first(S, j) or (level < NETWORK and not is_slower_beyond(S, j, level, params(S).skew)):
        level = np.int64(NETWORK)
    dequeue(S, j)
    queue_for(S, j, key, level)


@core
def on_run(S: State, j: Int) -> None:
    """As Tiresias."""
    tiresias_on_run(S, j)


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """As Tiresias."""
    tiresias_on_event(S, kind, j)
    if j >= 0 and S.jobs[j].state == PENDING:
        _requeue(S, j)


@core
def _start(S: State, j: Int) -> Int:
    """Start job `j` on places that it takes, be it in place of others."""
    if goes_first(S, j):
        return start_first(S, j)
    S.g[0].within = accepted(S, j)
    return start_or_evict(S, j, bar_of(S, j), running_index(S))


@core
def decide(S: State) -> None:
    """Offer what is free to waiting jobs level by level, evicting running jobs of strictly lower levels."""
    grant_first_places(S, np.int64(0))
    while S.g[0].pending > 0:
        j = next_offered(S)
        if j < 0:
            break
        if note_answer(S, j, _start(S, j)):
            pass_over(S, j)
        for i in range(S.g[0].victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                wait(S, v)
                _requeue(S, v)
