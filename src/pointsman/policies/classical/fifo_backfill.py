"""FIFO without head blocking: every job that fits starts, in order; the others wait.

Waiting jobs stand in one index for each class, keyed by submit, or by estimate for `sjf-backfill`.
"""

from typing import ClassVar, Literal

import numpy as np

from pointsman.policies.parts.backfill import first_that_fits
from pointsman.policies.parts.overdue_heads import (
    become_head,
    first_overdue,
    follow,
    head_params,
    longest_in_time,
    may_be_head,
    overdue_starts,
    patience_parameter,
    predict_end,
    quantile_parameter,
    serves_overdue,
)
from pointsman.policies.parts.reserved_gpus import hide_reserved, is_behind_head, unhide_reserved
from pointsman.policies.sdk import (
    ACTIVE,
    OK,
    PENDING,
    QUOTA,
    CompiledPolicy,
    Int,
    Knowledge,
    State,
    before,
    blocked,
    close_queue,
    core,
    enqueue,
    first_below,
    fits,
    start,
)

BY_ESTIMATE, HEADS = 0, 1  # params
OVERDUE = np.int64(0)  # memory


class FifoBackfill(CompiledPolicy):
    """Jobs are tried in the order of their submission and start if they fit; none waits for a job ahead of it."""

    name: ClassVar[str] = "fifo-backfill"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = "pointsman.policies.classical.fifo_backfill"

    patience_s: float = patience_parameter()
    run_time_quantile: float = quantile_parameter()
    drain_s: float = 1e9
    cq: float = 0.9

    @property
    def durations(self) -> Knowledge | Literal["history"]:
        return "history" if self.patience_s > 0 and self.needs == "none" else self.needs

    def parameters(self) -> list[float]:
        return [float(self.needs != "none"), *head_params(self.patience_s, self.run_time_quantile, self.drain_s, self.cq)]


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class."""
    if j < 0:
        return
    follow(S, kind, j, np.int64(HEADS), OVERDUE)
    if S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        estimate = S.jobs[j].estimate
        enqueue(
            S,
            j,
            estimate if S.params[BY_ESTIMATE] != 0.0 else 0.0,
            estimate if serves_overdue(S, np.int64(HEADS)) else np.inf,
        )


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate."""
    predict_end(S, j, np.int64(0), np.int64(HEADS), OVERDUE)


@core
def _start(S: State, j: Int) -> Int:
    """Start job `j`; one whose queue is full closes it."""
    answer = start(S, j, OK)
    if answer == QUOTA:
        close_queue(S, j)
    elif answer == OK:
        overdue_starts(S, j, np.int64(HEADS), OVERDUE)
    return answer


@core
def _start_overdue(S: State) -> None:
    """Start the jobs that have waited too long, or reserve GPUs for them."""
    j = first_overdue(S, OVERDUE)
    while j >= 0:
        behind = S.jobs[j].behind
        if may_be_head(S, j):
            answer = _start(S, j)
            if answer != OK and answer != QUOTA:
                become_head(S, j, np.int64(HEADS))
        j = behind


@core
def _first_that_ends_in_time(S: State) -> Int:
    """The first waiting job, in order, that can be placed and ends by the shadow time of all heads; -1 if none."""
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if not blocked(S, c) and is_behind_head(S, c) and fits(S, c):
            j = first_below(S, c, longest_in_time(S, c, np.int64(HEADS), OVERDUE))
            if j >= 0 and (best < 0 or before(S, j, best)):
                best = j
    return best


@core
def _start_all(S: State, in_time: bool) -> None:
    """Start every job that fits, in order; `in_time`: that ends in time."""
    while True:
        j = _first_that_ends_in_time(S) if in_time else first_that_fits(S)
        if j < 0:
            return
        _start(S, j)


@core
def decide(S: State) -> None:
    """Start every job that fits, in order, first those that have waited too long."""
    if S.g[0].free == 0 and S.g[0].fractions == 0:
        return
    S.g[0].reserved = 0
    if serves_overdue(S, np.int64(HEADS)):
        _start_overdue(S)
    if S.g[0].reserved == 0:
        _start_all(S, False)
        return
    _start_all(S, True)
    hide_reserved(S)
    _start_all(S, False)
    unhide_reserved(S)
