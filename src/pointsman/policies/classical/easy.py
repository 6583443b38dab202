"""EASY backfilling with a reservation of concrete GPUs (Lifka, JSSPP 1995, "The ANL/IBM SP scheduling system").

The reservation of GPUs rather than of their number is ours: a gang needs GPUs in the right places.
"""

from typing import ClassVar

import numpy as np

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
    blocked,
    close_queue,
    core,
    count,
    delay_of_start,
    enqueue,
    first_below,
    first_waiting,
    fits,
    give,
    insert,
    milliseconds,
    parameter,
    remove,
    reserve,
    running_index,
    set_alarm,
    start,
    take,
    told_rate,
)

LEVEL = int(Event.LEVEL)
BACKFILLED = int(Reason.Backfilled)
OVERRUN_FLOOR_MS, OVERRUN_DIVISOR = 0, 1  # params


class Easy(CompiledPolicy):
    """FIFO, but the head that must wait gets a reservation, and jobs behind it may start if they do not touch it
    or end before it.
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
    overrun_share: float = parameter(0.1, "and at least this share of the time it has run", gt=0, le=1)

    def parameters(self) -> list[float]:
        return [milliseconds(self.overrun_floor_s), 1.0 / self.overrun_share]


@core
def _expect_end(S: State, j: Int, end: float) -> None:
    """Job `j`, which holds GPUs, is estimated to end at `end`."""
    J = S.jobs[j]
    if J.bucket >= 0:
        remove(S, j)
    J.key = end
    J.aux = np.inf
    S.buckets[running_index(S)].by_key = 1
    insert(S, running_index(S), j)


@core
def _left(S: State, j: Int) -> float:
    """What is left of the estimate of job `j`, nominal ms."""
    return S.jobs[j].estimate - S.jobs[j].done


@core
def _estimated_run_ms(S: State, j: Int) -> float:
    """Wall time that the estimate of job `j` leaves it at the rate of its place."""
    left = _left(S, j)
    return np.ceil(left / told_rate(S, j)) if left > 0.0 else 0.0


@core
def wait(S: State, j: Int, key: float) -> None:
    """Job `j` waits in its class at `key`, findable by its estimate."""
    enqueue(S, j, key, _left(S, j) + (S.g[0].restore_ms if S.jobs[j].started >= 0 else 0))


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A waiting job joins its class, findable by its estimate; a job that overruns is estimated anew, and so is one
    found starting.
    """
    if j < 0:
        return
    J = S.jobs[j]
    if kind == LEVEL and J.state == RUNNING:
        elapsed = S.g[0].now - J.started
        more = max(np.int64(S.params[OVERRUN_FLOOR_MS]), np.int64(np.ceil(elapsed / S.params[OVERRUN_DIVISOR])))
        _expect_end(S, j, np.float64(S.g[0].now + more))
        set_alarm(S, j, S.g[0].now + more)
    elif J.state == PENDING and J.bucket < 0:
        wait(S, j, 0.0)
    elif J.state == STARTING and J.bucket < 0:  # under the policy before this one
        began = J.settled + (J.pause if J.pause > 0 else delay_of_start(S, j))
        _expect_end(S, j, began + _estimated_run_ms(S, j))


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate, and with it an estimated end."""
    end = S.g[0].now + _estimated_run_ms(S, j)
    _expect_end(S, j, end)
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
        _expect_end(S, j, S.g[0].now + delay + _estimated_run_ms(S, j))
    return answer


@core
def _start_heads(S: State) -> Int:
    """Start jobs in order; the first that cannot be placed, -1 if there is none."""
    while True:
        j = first_waiting(S)
        if j < 0:
            return j
        answer = _try(S, j, OK)
        if answer != OK and answer != QUOTA:
            return j


@core
def _hide(S: State) -> None:
    """Reserved GPUs that are free count as taken."""
    for i in range(S.g[0].reserved):
        R = S.reserve[i]
        R.next = R.mask & S.nodes[R.node].free_mask
        if R.next != 0:
            take(S, R.node, R.next, count(R.next))


@core
def _unhide(S: State) -> None:
    for i in range(S.g[0].reserved):
        R = S.reserve[i]
        if R.next != 0:
            give(S, R.node, R.next, count(R.next))


@core
def _mark_classes(S: State) -> None:
    """Note which classes fit beside the reservation; block those that do not fit at all."""
    _hide(S)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if not blocked(S, c):
            S.classes[c].fits = fits(S, c)
    _unhide(S)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if not blocked(S, c) and S.classes[c].fits == 0 and not fits(S, c):
            block(S, c)


@core
def _next_backfill(S: State, bound: float) -> Int:
    """The first waiting job, in order, that fits beside the reservation, or anywhere if its estimate is within
    `bound`.
    """
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if not blocked(S, c):
            j = S.buckets[c].first if S.classes[c].fits else first_below(S, c, bound)
            if j >= 0 and (best < 0 or before(S, j, best)):
                best = j
    return best


@core
def decide(S: State) -> None:
    """Start heads; reserve for the first that must wait; backfill around it."""
    head = _start_heads(S)
    if head < 0 or S.g[0].free == 0:
        return
    bound = reserve(S, head) - S.g[0].now - S.g[0].start_ms
    while True:
        _mark_classes(S)
        j = _next_backfill(S, bound)
        if j < 0:
            return
        beside = S.jobs[j].aux > bound
        if beside:
            _hide(S)
        _try(S, j, BACKFILLED)
        if beside:
            _unhide(S)
