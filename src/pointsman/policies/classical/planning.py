"""The cycle of conservative backfilling: jobs of the plan start when it says, the next ones join it, and those behind a
full plan start where they delay none of it.

`conservative` and `multifactor` share it. The demand classes of jobs that are yet to be tried have the first of them in
State.lists[VICTIMS]. Only the jobs before one that could start now are planned: while none could, no plan is needed.
"""

from typing import Any, ClassVar

import numpy as np

from pointsman.policies.classical.easy import Easy, estimated_run_ms, work_left
from pointsman.policies.classical.easy import on_run as easy_on_run
from pointsman.policies.parts.plan.joining import find_bounds, has_place_now, join_plan, may_still_start
from pointsman.policies.parts.plan.reservations import (
    PlanningMemory,
    Reserved,
    break_plan,
    drop_plan,
    first_begin,
    forget_started,
    is_broken,
    is_full,
    last_planned,
    note_place,
    planned,
    reservation,
    reservations_of,
)
from pointsman.policies.parts.plan.windows import begin_windows, note_holder, show_all, show_open_now
from pointsman.policies.parts.reserving.reserved_gpus import expect_end
from pointsman.policies.sdk import (
    ACTIVE,
    OK,
    VICTIMS,
    Event,
    Int,
    Reason,
    Record,
    State,
    before,
    block_nodes,
    blocked,
    close_queue,
    core,
    delay_of_start,
    derived,
    enqueue,
    first_after,
    next_below,
    nodes_blocked,
    over_limit,
    reach_of,
    start,
    start_on,
    view_of,
)

BACKFILLED = int(Reason.Backfilled)
FINISH, STARTED, TIMER, SUBMIT = int(Event.FINISH), int(Event.STARTED), int(Event.TIMER), int(Event.SUBMIT)


class Planning(Easy):
    """What policies with a plan have in common."""

    memory: ClassVar[type[Record]] = PlanningMemory

    @derived
    def backfills_rest(self) -> bool:
        """Whether jobs behind a full plan may backfill; else they start in order alone."""
        return False

    def reservations(self, state: Any) -> list[Reserved]:
        """The plan of the last cycle, in order; nothing where jobs are not backfilled by one."""
        return reservations_of(state.memory)


params = view_of(Planning)


@core
def length_of(S: State, j: Int) -> float:
    """How long waiting job `j` is expected to hold its GPUs, ms."""
    return delay_of_start(S, j) + max(1.0, np.ceil(work_left(S, j)))


@core
def wait_planned(S: State, j: Int, key: float) -> None:
    """Job `j` waits at `key`, findable by how long it takes; the plan breaks if it goes ahead of jobs of the plan."""
    enqueue(S, j, key, length_of(S, j))
    last = last_planned(S)
    if last >= 0 and before(S, j, last):
        break_plan(S)


@core
def note_event(S: State, kind: Int, j: Int) -> None:
    """The plan breaks by all that it did not foresee: ends at another time than estimated, overruns, failures."""
    if kind == FINISH:
        if S.jobs[j].key != S.g[0].now:
            break_plan(S)
    elif kind != STARTED and kind != TIMER and kind != SUBMIT:
        break_plan(S)


@core
def on_run(S: State, j: Int) -> None:
    """As EASY; the plan breaks if the job is estimated to end at another time."""
    end = S.jobs[j].key
    easy_on_run(S, j)
    if S.jobs[j].key != end:
        break_plan(S)


@core
def _note_start(S: State, j: Int, delay: Int, length: float) -> None:
    """Job `j` has started, which takes `delay` ms, and was to hold its GPUs for `length` ms."""
    expect_end(S, j, S.g[0].now + delay + estimated_run_ms(S, j))
    if S.jobs[j].key != S.g[0].now + length:
        break_plan(S)


@core
def _start_planned(S: State) -> bool:
    """Start the jobs whose reservations begin now; whether all could be."""
    if planned(S) == 0 or first_begin(S) > S.g[0].now:
        return True
    for k in range(planned(S)):
        R = reservation(S, k)
        if R.begin == S.g[0].now:
            j = R.job
            note_place(S, np.int64(k))
            delay = delay_of_start(S, j)
            if start_on(S, j, OK) != OK:
                S.g[0].placed = 0
                return False
            _note_start(S, j, delay, R.end - S.g[0].now)
    forget_started(S, VICTIMS)
    return True


@core
def _begin_cycle(S: State) -> None:
    """Every class has its first job behind the last of the plan before it."""
    last = last_planned(S)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        S.lists[VICTIMS, c] = S.buckets[c].first if last < 0 else first_after(S, c, last)


@core
def _next(S: State) -> Int:
    """The next job to be tried, in order; -1 if there is none."""
    best = np.int64(-1)
    for i in range(S.g[0].active):
        j = S.lists[VICTIMS, S.lists[ACTIVE, i]]
        if j >= 0 and not blocked(S, S.lists[ACTIVE, i]) and (best < 0 or before(S, j, best)):
            best = j
    return best


@core
def _go_past(S: State, j: Int) -> None:
    """Job `j` has been tried."""
    if S.lists[VICTIMS, S.jobs[j].cls] == j:
        S.lists[VICTIMS, S.jobs[j].cls] = S.jobs[j].later


@core
def _first_that_could_start(S: State) -> Int:
    """The first job to be tried, in order, that is short enough to start now; -1 if there is none."""
    find_bounds(S)
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        bound = np.float64(S.classes[c].fits)
        if bound > 0.0:
            j = S.lists[VICTIMS, c]
            if S.jobs[j].aux > bound:
                j = next_below(S, j, bound)
            if j >= 0 and (best < 0 or before(S, j, best)):
                best = j
    return best


@core
def _start_now(S: State, j: Int) -> bool:
    """Start job `j` on GPUs that are open to it now; one whose queue is at its limit closes it."""
    _go_past(S, j)
    if over_limit(S, j):
        close_queue(S, j)
        return False
    delay, length = delay_of_start(S, j), length_of(S, j)
    show_open_now(S, length)
    if start(S, j, BACKFILLED if planned(S) > 0 else OK) != OK:
        return False
    _note_start(S, j, delay, length)
    note_holder(S, j)
    return True


@core
def _plan_up_to(S: State, next_start: Int) -> bool:
    """Plan the jobs before one that could start now; whether it still could then, with all before it planned."""
    while not is_full(S):
        j = _next(S)
        if j == next_start:
            return True
        _go_past(S, j)
        if over_limit(S, j):
            close_queue(S, j)
            if blocked(S, S.jobs[next_start].cls):
                return False
        else:
            join_plan(S, j, length_of(S, j))
            if not may_still_start(S, next_start, length_of(S, next_start)):
                return False
    return params(S).backfills_rest


@core
def _try_in_order(S: State) -> None:
    """Start jobs, those before each planned, until none could start or, unless they may backfill, the plan is full."""
    while params(S).backfills_rest or not is_full(S):
        j = _first_that_could_start(S)
        if j < 0:
            return
        if has_place_now(S, j, length_of(S, j)) and _plan_up_to(S, j):
            _start_now(S, j)


@core
def _block(S: State, j: Int) -> None:
    """Job `j` waits, and so do those behind it that could use one of its nodes."""
    S.reaches[reach_of(S, j)].blocked = S.g[0].pass_id
    block_nodes(S, j, np.inf)


@core
def _next_in_order(S: State) -> Int:
    """The first job to be tried whose nodes are not all blocked; -1 if there is none."""
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        j = S.lists[VICTIMS, c]
        may = j >= 0 and not blocked(S, c) and S.reaches[S.classes[c].reach].blocked != S.g[0].pass_id
        if may and (best < 0 or before(S, j, best)):
            best = j
    return best


@core
def _start_in_order(S: State) -> None:
    """As `fifo`: a job that finds no place, or could use a node of such a job ahead of it, blocks its nodes."""
    while S.g[0].free > 0:
        j = _next_in_order(S)
        if j < 0:
            return
        S.lists[VICTIMS, S.jobs[j].cls] = S.jobs[j].later
        R = S.reaches[reach_of(S, j)]
        n = nodes_blocked(S, reach_of(S, j))
        delay, length = delay_of_start(S, j), length_of(S, j)
        if n < R.pool_end - R.pool and over_limit(S, j):
            close_queue(S, j)
        elif n == 0 and start(S, j, OK) == OK:
            _note_start(S, j, delay, length)
        else:
            _block(S, j)


@core
def start_in_order(S: State) -> None:
    """The cycle without backfilling."""
    for i in range(S.g[0].active):
        S.lists[VICTIMS, S.lists[ACTIVE, i]] = S.buckets[S.lists[ACTIVE, i]].first
    _start_in_order(S)


@core
def start_by_plan(S: State) -> None:
    """The cycle with backfilling: see the module."""
    if is_broken(S) or not _start_planned(S):
        drop_plan(S)
    if S.g[0].has_queue_limits:
        break_plan(S)
    if S.g[0].free == 0 or S.g[0].pending == 0:
        return
    _begin_cycle(S)
    if _next(S) < 0:
        return
    begin_windows(S)
    _try_in_order(S)
    S.g[0].reserved = 0
    show_all(S)
    if not params(S).backfills_rest and is_full(S):
        for k in range(planned(S)):
            _block(S, reservation(S, k).job)
        _start_in_order(S)
