"""No job waits for ever, without preemption: one that has waited longer than its limit is tried before all others, and
if it finds no place it is a head, with a reservation as EASY gives it. Ours (``docs/adr/0020``).

When jobs end is predicted by their estimates and by how far completed jobs were from theirs (`run_times`). The shadow
time of a head only moves to earlier times: others that run longer than predicted do not put it off, unless they do for
twice the patience.

Policies that use it are a `ReservingPolicy`.
"""

from typing import Any, ClassVar, Literal

import numpy as np

from pointsman.inputs.durations import duration
from pointsman.policies.parts.preemption.overdue import OverdueJobs, append_overdue, crowding_of, stop_waiting
from pointsman.policies.parts.reserving.reserved_gpus import expect_end, is_behind_head
from pointsman.policies.parts.reserving.run_times import RUN_TIME_BUCKETS, learn_run_time, run_ratio
from pointsman.policies.parts.said_of_waits import said_of_limit
from pointsman.policies.sdk import (
    ACTIVE,
    NEVER,
    PENDING,
    RUNNING,
    STARTING,
    CompiledPolicy,
    Event,
    Int,
    Knowledge,
    Record,
    Standing,
    State,
    block_nodes,
    blocked,
    core,
    delay_of_start,
    milliseconds,
    numbers,
    parameter,
    part,
    reserve,
    set_alarm,
    view_of,
)

FINISH, CANCEL, LEVEL, TIMER = (int(e) for e in (Event.FINISH, Event.CANCEL, Event.LEVEL, Event.TIMER))
MOST_OVERRUN = 2.0
"""A shadow time that has passed by more than this multiple of the patience is given up for a later one."""


class ReservingMemory(Record):
    """What is kept of waits and run times."""

    overdue = part(OverdueJobs, "jobs that have waited longer than their limits")
    run_times = numbers(RUN_TIME_BUCKETS, "completed jobs, by how many times their estimates they ran")


class ReservingPolicy(CompiledPolicy):
    """A policy without preemption that can bound waits by reservations."""

    memory: ClassVar[type[Record]] = ReservingMemory

    patience_s: float = parameter(
        0.0,
        "a job that has waited longer gets a reservation; longer if others waited at its submission; 0: none does",
        unit="s",
        ge=0,
    )
    run_time_quantile: float = parameter(
        0.75, "quantile of run time over estimate, of completed jobs, by which reservations predict ends", gt=0, lt=1
    )

    @property
    def durations(self) -> Knowledge | Literal["history"]:
        """Where the policy requires none, reservations predict by estimates from history."""
        return "history" if self.patience_s > 0 and self.needs == "none" else self.needs

    def standing(self, state: Any, job: Any, now_ms: int) -> Standing | None:
        """When it is tried before others, and when its reservation begins."""
        return standing_of(state, job, now_ms, milliseconds(self.patience_s))


def standing_of(state: Any, job: Any, now_ms: int, patience_ms: float) -> Standing | None:
    """When a waiting job, a record of ``State.jobs``, is tried before others, and when its reservation begins; None if
    waits are not bounded.
    """
    if patience_ms == 0:
        return None
    said = said_of_limit(state, job, now_ms, patience_ms * float(job["crowding"]))
    if job["granted"] > 0:
        begins_in_s = max(0.0, job["granted"] - now_ms) / 1000
        said += f"; its reservation begins in {duration(begins_in_s)}"
    return Standing(said)


params, memory = view_of(ReservingPolicy), view_of(ReservingMemory)


@core
def serves_overdue(S: State) -> bool:
    """Whether jobs that have waited long get reservations."""
    return bool(params(S).patience_ms > 0)


@core
def _left_ms(S: State, j: Int) -> float:
    """How much longer job `j` is predicted to run, at least 1 ms."""
    J = S.jobs[j]
    ran = J.executed + (S.g[0].now - J.settled if J.state == RUNNING else 0)
    ratio = run_ratio(ran, J.estimate, params(S).run_time_quantile, memory(S).run_times)
    return max(1.0, np.ceil(ratio * max(1.0, J.estimate)) - ran)


@core
def predict_end(S: State, j: Int, delay: Int) -> None:
    """Job `j` holds GPUs, and begins to run after `delay` ms, or runs: note when it is predicted to end."""
    if serves_overdue(S):
        end = S.g[0].now + delay + _left_ms(S, j)
        expect_end(S, j, end)
        if S.jobs[j].state == RUNNING and end < NEVER:
            set_alarm(S, j, np.int64(end))


@core
def _overdue_from(S: State, j: Int) -> Int:
    """When waiting job `j` will have waited longer than its limit."""
    J = S.jobs[j]
    limit = np.int64(min(np.floor(params(S).patience_ms * crowding_of(S, j)), 2.0**53))
    return J.pend_since + limit - J.pended


@core
def _watch(S: State, kind: Int, j: Int) -> None:
    """Call waiting job `j` when it will be overdue; it is if it was called and has waited so long."""
    if S.jobs[j].overdue:
        return
    due = _overdue_from(S, j)
    if kind == TIMER and due <= S.g[0].now:
        append_overdue(S, j, memory(S).overdue)
    elif max(due, S.g[0].now + 1) < S.jobs[j].alarm:
        set_alarm(S, j, max(due, S.g[0].now + 1))


@core
def follow(S: State, kind: Int, j: Int) -> None:
    """Something happened to job `j`: it waits, overruns what was predicted, is found starting, or has ended."""
    if not serves_overdue(S):
        return
    J = S.jobs[j]
    if kind == FINISH:
        learn_run_time(S, j, memory(S).run_times)
    elif kind == CANCEL:
        stop_waiting(S, j, memory(S).overdue)
    elif J.state == PENDING:
        _watch(S, kind, j)
    elif kind == LEVEL and J.state == RUNNING:
        predict_end(S, j, np.int64(0))
    elif J.state == STARTING and J.bucket < 0:  # under the policy before this one
        began = J.settled + (J.pause if J.pause > 0 else delay_of_start(S, j))
        predict_end(S, j, began - S.g[0].now)


@core
def _may_be_heads(S: State, c: Int) -> bool:
    """Whether overdue jobs of class `c` are to be tried before others: their queue is open, and no head could use their
    nodes.
    """
    return not blocked(S, c) and not is_behind_head(S, c)


@core
def _some_may_be_heads(S: State) -> bool:
    """Whether there are such classes among those that wait."""
    for i in range(S.g[0].active):
        if _may_be_heads(S, S.lists[ACTIVE, i]):
            return True
    return False


@core
def first_overdue(S: State) -> Int:
    """The first overdue job that is to be tried before others; -1 if there is none."""
    return next_overdue(S, memory(S).overdue.first - 1)


@core
def next_overdue(S: State, j: Int) -> Int:
    """The next overdue job from `j` on that is to be tried before others; -1 if there is none. Another follows from the
    one `behind` it, which it forgets when it starts.
    """
    if j >= 0 and not _may_be_heads(S, S.jobs[j].cls) and not _some_may_be_heads(S):
        return np.int64(-1)
    while j >= 0 and not _may_be_heads(S, S.jobs[j].cls):
        j = S.jobs[j].behind
    return j


@core
def note_start(S: State, j: Int) -> None:
    """Job `j`, which waited, has started."""
    if serves_overdue(S):
        stop_waiting(S, j, memory(S).overdue)
        S.jobs[j].granted = 0.0
        predict_end(S, j, delay_of_start(S, j) if S.jobs[j].state == STARTING else np.int64(0))


@core
def become_head(S: State, j: Int) -> None:
    """Overdue job `j` has found no place: GPUs are reserved for it until its shadow time."""
    J = S.jobs[j]
    shadow = reserve(S, j)
    if shadow < np.inf:
        given_up = S.g[0].now > J.granted + MOST_OVERRUN * params(S).patience_ms
        J.granted = shadow if J.granted == 0.0 or given_up else min(J.granted, shadow)
        shadow = J.granted
    block_nodes(S, j, shadow)


@core
def ratio_to_come(S: State) -> float:
    """How many times its estimate a job that starts now is predicted to run."""
    return run_ratio(np.int64(0), 1.0, params(S).run_time_quantile, memory(S).run_times)


@core
def longest_in_time(S: State, c: Int, ratio: float) -> float:
    """The greatest estimate with which a job of class `c` is predicted to end by the shadow times of the heads that
    could use its nodes; -inf if there are no such heads.
    """
    if not is_behind_head(S, c):
        return -np.inf
    return (S.reaches[S.classes[c].reach].until - S.g[0].now - S.g[0].start_ms) / ratio
