"""What all placers have in common: jobs start in the order of `fifo-backfill` or `sjf-backfill`, each on nodes of its
scheduler, on GPUs that the policy notes.
"""

from typing import Any, ClassVar, Literal

import numpy as np

from pointsman.policies.parts.levels import NETWORK
from pointsman.policies.parts.reserving.overdue_heads import (
    ReservingPolicy,
    follow,
    note_start,
    predict_end,
    serves_overdue,
)
from pointsman.policies.placers.schedulers import (
    MOST,
    destination,
    end_decision,
    forward_to,
    forwards,
    goes_first,
    owner,
    was_forwarded,
)
from pointsman.policies.placers.waiting.heads import AFTER_HEADS, HEADS, OVERDUE, end_cycle, next_around_heads
from pointsman.policies.placers.waiting.patience import is_patient, takes_what_is_free, wait_patiently
from pointsman.policies.sdk import (
    ACTIVE,
    OK,
    QUOTA,
    Delay,
    Int,
    Knowledge,
    Locality,
    Owner,
    State,
    alternative_with_room,
    block,
    close_queue,
    cold,
    core,
    next_below,
    over_limit,
    parameter,
    start,
    start_on,
)

OWN = AFTER_HEADS
"""Where in State.params a policy's own parameters begin."""


Order = Literal["fifo", "sjf"]
IN_WHAT_ORDER = "in what order jobs are tried: fifo, by submission, or sjf, shortest first"


class Placer(ReservingPolicy):
    """Jobs are tried in order and start if they fit; none waits for a job ahead of it."""

    needs: ClassVar[Knowledge] = "none"
    placement: ClassVar[str] = "tightest"  # under which any free GPUs will do
    takes_whole_gpus: ClassVar[bool] = True
    source: ClassVar[str] = "a baseline of Zhao and Wu (MARL), IEEE TNSM 2022, arXiv 2112.13354"

    schedulers: int = parameter(
        1,
        "number of schedulers, each with racks of its own; a job belongs to one of them, drawn by chance",
        ge=1,
        le=MOST,
    )
    order: Order = parameter("fifo", IN_WHAT_ORDER)
    forward: bool = parameter(
        True, "a scheduler that cannot place a job now hands it over, once, to one that can, if there is one"
    )

    @property
    def takes_turns(self) -> bool:  # ty: ignore[incompatible-property-override]
        """Unless jobs that have waited too long go before others."""
        return self.patience_s == 0

    @property
    def durations(self) -> Knowledge | Literal["history"]:
        """Shortest jobs first needs them."""
        return "oracle" if self.order == "sjf" else super().durations

    @property
    def divides_among(self) -> int:
        return self.schedulers

    def owner_of(self, job: Any) -> Owner | None:
        return owner(job, self.schedulers) if self.schedulers > 1 else None

    def forwards(self, memory: Any) -> int:
        return forwards(memory)

    def parameters(self) -> list[float]:
        return self._shared(patience=0.0)

    def _shared(self, patience: float) -> list[float]:
        """What all find there."""
        return [float(self.forward), patience, float(self.order == "sjf"), *self.head_params()]


class PatientPlacer(Placer):
    """A placer whose jobs wait a while for a compact place. Its subclasses have a parameter `patience`."""

    needs: ClassVar[Knowledge] = "oracle"

    patience: float

    def parameters(self) -> list[float]:
        return self._shared(self.patience)

    def delay_of(self, job: Any) -> Delay | None:
        """Until its patience ends a job takes no GPUs beyond one node, or rack, if one could hold it."""
        return None if job["s0"] >= NETWORK else Delay(Locality(int(job["s0"])), int(job["aux"]))


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class."""
    if j >= 0:
        follow(S, kind, j, np.int64(HEADS), np.int64(OVERDUE))
        wait_patiently(S, j)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate."""
    predict_end(S, j, np.int64(0), np.int64(HEADS), np.int64(OVERDUE))


@cold
def _can_start(S: State, j: Int) -> bool:
    """Whether waiting job `j` takes what its scheduler has free, or can be forwarded."""
    return takes_what_is_free(S, j, S.jobs[j].cls) or bool(destination(S, j) >= 0)


@core
def _first_of(S: State, c: Int) -> Int:
    """The first job of class `c` that can start; -1 if there is none."""
    bound = np.inf
    j = S.buckets[c].first
    while j >= 0 and not _can_start(S, j):
        if not was_forwarded(S, j):  # one that was, cannot be again, so another may yet
            if not is_patient(S, j):
                return np.int64(-1)
            bound = np.float64(S.g[0].now)
        j = next_below(S, j, bound)
    return j


@core
def _first_in_order(S: State) -> Int:
    """The first waiting job, in order, that can start; -1 if there is none."""
    best = np.int64(-1)
    if S.g[0].free > 0:
        for i in range(S.g[0].active):
            j = _first_of(S, S.lists[ACTIVE, i])
            if goes_first(S, j, best):
                best = j
    return best


@core
def _closes_a_queue(S: State) -> bool:
    """Close the queue of a job that is first of its class and above its limit; whether there was one."""
    for i in range(S.g[0].active):
        j = _first_of(S, S.lists[ACTIVE, i])
        if j >= 0 and over_limit(S, j):
            close_queue(S, j)
            return True
    return False


@cold
def _next_in_order(S: State) -> Int:
    """The next job, in order, that fits the nodes of its scheduler, perhaps since now; -1 if there is none."""
    if S.g[0].decision_us > 0 and S.g[0].has_queue_limits:
        while _closes_a_queue(S):  # which takes no decision
            pass
    while True:
        j = _first_in_order(S)
        if j < 0:
            return j
        end_decision(S, j)
        if takes_what_is_free(S, j, S.jobs[j].cls):
            return j
        if not over_limit(S, j):
            forward_to(S, j, destination(S, j))
            return j
        close_queue(S, j)


@core
def next_job(S: State) -> Int:
    """The next job to be placed; -1 if there is none."""
    if not serves_overdue(S, np.int64(HEADS)):
        return _next_in_order(S)
    j = next_around_heads(S)
    if j < 0:
        j = _next_in_order(S)
    if j < 0:
        end_cycle(S)
    return j


@core
def alternative_of(S: State, j: Int) -> Int:
    """The first alternative of job `j` with enough free GPUs; -1 if none has."""
    return alternative_with_room(S, S.jobs[j].cls)


@core
def start_there(S: State, j: Int) -> None:
    """Job `j` starts on the GPUs noted in State.place, or, with a shape, where the configured placement puts it; if it
    may not, no job like it is tried in this cycle.
    """
    c = S.jobs[j].cls
    answer = start(S, j, OK) if S.classes[c].per_node > 0 else start_on(S, j, OK)
    if answer == QUOTA:
        close_queue(S, j)
    elif answer == OK:
        note_start(S, j, np.int64(HEADS), np.int64(OVERDUE))
    else:
        block(S, c)
