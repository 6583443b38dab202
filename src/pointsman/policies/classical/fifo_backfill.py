"""FIFO without head blocking: every job that fits starts, in order; the others wait.

Waiting jobs stand in one index for each class, keyed by submit, or by estimate for `sjf-backfill`. With a `patience_s`,
those that have waited too long get reservations (`overdue_heads`), around which the others start.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.parts.backfill import first_that_fits
from pointsman.policies.parts.reserving.overdue_heads import (
    ReservingPolicy,
    become_head,
    first_overdue,
    follow,
    longest_in_time,
    next_overdue,
    note_start,
    predict_end,
    ratio_to_come,
    serves_overdue,
)
from pointsman.policies.parts.reserving.reserved_gpus import hide_reserved, unhide_reserved
from pointsman.policies.sdk import (
    ACTIVE,
    OK,
    PENDING,
    QUOTA,
    Int,
    Knowledge,
    State,
    before,
    blocked,
    close_queue,
    core,
    derived,
    enqueue,
    first_below,
    fits,
    start,
    view_of,
)


class FifoBackfill(ReservingPolicy):
    """Jobs are tried in the order of their submission and start if they fit; none waits for a job ahead of it."""

    name: ClassVar[str] = "fifo-backfill"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = "pointsman.policies.classical.fifo_backfill"

    @property
    def takes_whole_gpus(self) -> bool:  # ty: ignore[incompatible-property-override]
        """Where it reserves GPUs."""
        return self.patience_s > 0

    @derived
    def by_estimate(self) -> bool:
        """Whether the shortest go first, not the earliest."""
        return self.needs != "none"


params = view_of(FifoBackfill)


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class."""
    if j < 0:
        return
    follow(S, kind, j)
    J = S.jobs[j]
    if J.state == PENDING and J.bucket < 0:
        key = J.estimate if params(S).by_estimate else 0.0
        enqueue(S, j, key, J.estimate if serves_overdue(S) else np.inf)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate."""
    predict_end(S, j, np.int64(0))


@core
def _start(S: State, j: Int) -> Int:
    """Start job `j`; one whose queue is full closes it."""
    answer = start(S, j, OK)
    if answer == QUOTA:
        close_queue(S, j)
    elif answer == OK:
        note_start(S, j)
    return answer


@core
def _start_overdue(S: State) -> None:
    """Start the jobs that have waited too long, or reserve GPUs for them."""
    j = first_overdue(S)
    while j >= 0:
        behind = np.int64(S.jobs[j].behind)
        answer = _start(S, j)
        if answer != OK and answer != QUOTA:
            become_head(S, j)
        j = next_overdue(S, behind)


@core
def _first_in_time(S: State, ratio: float) -> Int:
    """The first waiting job, in order, that fits and ends by the shadow times of heads; -1 if there is none."""
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        longest = longest_in_time(S, c, ratio)
        if longest >= 0.0 and not blocked(S, c) and fits(S, c):
            j = first_below(S, c, longest)
            if j >= 0 and (best < 0 or before(S, j, best)):
                best = j
    return best


@core
def _start_in_time(S: State) -> None:
    """Start every job that fits and ends by the shadow times of the heads that could use its nodes."""
    ratio = ratio_to_come(S)
    j = _first_in_time(S, ratio)
    while j >= 0:
        _start(S, j)
        j = _first_in_time(S, ratio)


@core
def _start_all(S: State) -> None:
    """Start every job that fits, in order."""
    j = first_that_fits(S)
    while j >= 0:
        _start(S, j)
        j = first_that_fits(S)


@core
def decide(S: State) -> None:
    """Start every job that fits, in order; before them those that have waited too long, and around these others."""
    if S.g[0].free == 0 and S.g[0].fractions == 0:
        return
    S.g[0].reserved = 0
    if serves_overdue(S):
        _start_overdue(S)
    if S.g[0].reserved == 0:
        _start_all(S)
        return
    _start_in_time(S)
    hide_reserved(S)
    _start_all(S)
    unhide_reserved(S)
