"""EASY backfilling with a reservation of concrete GPUs (Lifka, JSSPP 1995, "The ANL/IBM SP scheduling system").

The reservation of GPUs rather than of their number is ours: a gang needs GPUs in the right places.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.parts.reserving.reserved_gpus import expect_end, hide_reserved, unhide_reserved
from pointsman.policies.sdk import (
    ACTIVE,
    NEVER,
    OK,
    PENDING,
    QUOTA,
    RUNNING,
    STARTING,
    CompiledPolicy,
    Event,
    Int,
    Knowledge,
    Profile,
    Progress,
    Reason,
    State,
    before,
    block,
    block_nodes,
    blocked,
    close_queue,
    core,
    delay_of_start,
    enqueue,
    first_below,
    fits,
    nodes_blocked,
    parameter,
    reserve,
    set_alarm,
    start,
    told_rate,
    view_of,
)

LEVEL = int(Event.LEVEL)
BACKFILLED = int(Reason.Backfilled)


class Easy(CompiledPolicy):
    """FIFO, but a head that must wait gets a reservation, and jobs behind it may start if they do not touch it
    or end before it. Jobs that could use no node of one head may have another.
    """

    name: ClassVar[str] = "easy"
    needs: ClassVar[Knowledge] = "estimate"
    profiles: ClassVar[tuple[Profile, ...]] = ("places",)
    progress: ClassVar[Progress] = "work"
    hooks: ClassVar[str] = "pointsman.policies.classical.easy"
    takes_whole_gpus: ClassVar[bool] = True
    needs_rates: ClassVar[bool] = True
    source: ClassVar[str] = "Lifka, The ANL/IBM SP scheduling system, JSSPP 1995"

    overrun_floor_s: float = parameter(
        60.0, "a job past its estimated end is given at least this much more", unit="s", gt=0
    )
    overrun_share: float = parameter(0.1, "and at least this share of its run time so far", gt=0, le=1)


params = view_of(Easy)


@core
def work_left(S: State, j: Int) -> float:
    """What is left of the estimate of job `j`, nominal ms."""
    return S.jobs[j].estimate - S.jobs[j].done


@core
def estimated_run_ms(S: State, j: Int) -> float:
    """Wall time that the estimate of job `j` leaves it at the rate of its place."""
    left = work_left(S, j)
    return np.ceil(left / told_rate(S, j)) if left > 0.0 else 0.0


@core
def wait(S: State, j: Int, key: float) -> None:
    """Job `j` waits in its class at `key`, findable by its estimate."""
    enqueue(S, j, key, work_left(S, j) + (S.g[0].restore_ms if S.jobs[j].started >= 0 else 0))


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A waiting job joins its class, findable by its estimate; a job that overruns is estimated anew, and so is one
    found starting.
    """
    if j < 0:
        return
    J = S.jobs[j]
    if kind == LEVEL and J.state == RUNNING:
        P, elapsed = params(S), S.g[0].now - J.started
        more = max(P.overrun_floor_ms, np.int64(np.ceil(elapsed / (1.0 / P.overrun_share))))
        expect_end(S, j, np.float64(S.g[0].now + more))
        set_alarm(S, j, S.g[0].now + more)
    elif J.state == PENDING and J.bucket < 0:
        wait(S, j, 0.0)
    elif J.state == STARTING and J.bucket < 0:  # under the policy before this one
        began = J.settled + (J.pause if J.pause > 0 else delay_of_start(S, j))
        expect_end(S, j, began + estimated_run_ms(S, j))


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate, and with it an estimated end."""
    end = S.g[0].now + estimated_run_ms(S, j)
    expect_end(S, j, end)
    if end < NEVER:
        set_alarm(S, j, np.int64(end))


@core
def _try(S: State, j: Int, reason: Int) -> Int:
    """Start job `j`; one whose queue is full closes it."""
    delay = delay_of_start(S, j)
    answer = start(S, j, reason)
    if answer == QUOTA:
        close_queue(S, j)
    elif answer == OK:
        expect_end(S, j, S.g[0].now + delay + estimated_run_ms(S, j))
    return answer


@core
def _mark_classes(S: State) -> None:
    """Note which classes behind a head fit beside what is reserved; block those that do not fit at all."""
    hide_reserved(S)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if _is_behind(S, c) and not blocked(S, c):
            S.classes[c].fits = fits(S, c)
    unhide_reserved(S)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if _is_behind(S, c) and not blocked(S, c) and S.classes[c].fits == 0 and not fits(S, c):
            block(S, c)


@core
def _is_behind(S: State, c: Int) -> bool:
    """Whether jobs of class `c` could use nodes of a head that waits."""
    return bool(S.reaches[S.classes[c].reach].blocked == S.g[0].pass_id)


@core
def _bound(S: State, c: Int) -> float:
    """How long jobs of class `c` may take to end before the head whose nodes they could use starts."""
    return S.reaches[S.classes[c].reach].until - S.g[0].now - S.g[0].start_ms


@core
def _next(S: State) -> Int:
    """The first waiting job, in order, that is behind no head, or fits beside what is reserved, or anywhere if its
    estimate is within the bound.
    """
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if not blocked(S, c):
            j = S.buckets[c].first
            if _is_behind(S, c) and S.classes[c].fits == 0:
                j = first_below(S, c, _bound(S, c))
            if j >= 0 and (best < 0 or before(S, j, best)):
                best = j
    return best


@core
def _reserve(S: State, head: Int) -> None:
    """GPUs are kept for job `head`, and its nodes are blocked for jobs that would delay it."""
    block_nodes(S, head, reserve(S, head))
    for r in range(S.reaches.shape[0]):
        if nodes_blocked(S, r) > 0:
            S.reaches[r].blocked = S.g[0].pass_id


@core
def _starts(S: State, j: Int) -> bool:
    """Start job `j`, which is behind no head. If it finds no place it is a head, for which GPUs are reserved."""
    answer = _try(S, j, OK)
    if answer == OK or answer == QUOTA:
        return True
    _reserve(S, j)
    return False


@core
def _backfill(S: State, j: Int) -> None:
    """Start job `j` on GPUs that are not reserved, or anywhere if it ends soon enough."""
    beside = S.jobs[j].aux > _bound(S, S.jobs[j].cls)
    if beside:
        hide_reserved(S)
    _try(S, j, BACKFILLED)
    if beside:
        unhide_reserved(S)


@core
def decide(S: State) -> None:
    """In order, start jobs; those that must wait and are behind no other get a reservation; backfill around these."""
    S.g[0].reserved = 0
    heads = False
    while S.g[0].free > 0:
        if heads:
            _mark_classes(S)
        j = _next(S)
        if j < 0:
            return
        if _is_behind(S, S.jobs[j].cls):
            _backfill(S, j)
        elif not _starts(S, j):
            heads = True
