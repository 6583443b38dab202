"""Offers to waiting jobs of which each takes places up to a level of its own (``docs/reference/semantics.md`` §7).

The jobs of a demand class stand in one index; `aux` tells how loose a place each takes, so that the first one that
takes what is left is found without looking at the others.
"""

from typing import Any

import numpy as np

from pointsman.policies.parts.levels import NETWORK, looser
from pointsman.policies.sdk import (
    ACTIVE,
    NEVER,
    Delay,
    Int,
    Locality,
    OfJob,
    State,
    before,
    core,
    enqueue,
    first_below,
    try_for_more,
    view_of,
    whole,
)


class Offered(OfJob):
    """What is kept of a job to which places are offered."""

    level = whole("the loosest level that it takes while it waits")


kept = view_of(Offered)


def delay_of(job: Any, timer_ms: float) -> Delay | None:
    """The delay of a waiting job, a record of ``State.jobs``, with this timer from when it began to wait."""
    level = Offered(job).level
    if level >= NETWORK:
        return None
    return Delay(Locality(int(level)), None if timer_ms >= NEVER else int(job["pend_since"]) + int(timer_ms))


@core
def accepted(S: State, j: Int) -> Int:
    """The loosest level that waiting job `j` takes now."""
    return kept(S, j).level


@core
def queue_for(S: State, j: Int, key: float, level: Int) -> None:
    """Job `j` waits at `key` for places at `level` or tighter."""
    if S.jobs[j].claims and level > accepted(S, j):
        try_for_more(S, j)
    kept(S, j).level = level
    enqueue(S, j, key, -np.float64(level))


@core
def _first_of(S: State, c: Int) -> Int:
    """The first waiting job of class `c` that has not been passed over in this pass, -1 if none."""
    C = S.classes[c]
    if C.queue >= 0 and S.queues[C.queue].closed == S.g[0].pass_id:
        return -1
    if C.blocked != S.g[0].pass_id:
        return S.buckets[c].first
    return -1 if C.fits == NETWORK else first_below(S, c, -float(looser(C.fits)))


@core
def next_offered(S: State) -> Int:
    """The first waiting job, in order of service, then submit, that has not been passed over; -1 if none."""
    best = -1
    for i in range(S.g[0].active):
        j = _first_of(S, S.lists[ACTIVE, i])
        if j >= 0 and (best < 0 or before(S, j, best)):
            best = j
    return best


@core
def pass_over(S: State, j: Int) -> None:
    """No job of the class of `j` that accepts no looser level than it is looked at again in this pass."""
    C = S.classes[S.jobs[j].cls]
    C.blocked = S.g[0].pass_id
    C.fits = accepted(S, j)
