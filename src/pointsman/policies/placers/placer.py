"""What all placers have in common: jobs start in the order of `fifo-backfill`, on GPUs that the policy notes."""

from typing import ClassVar

import numpy as np

from pointsman.policies.parts.backfill import first_that_fits
from pointsman.policies.sdk import (
    OK,
    PENDING,
    QUOTA,
    CompiledPolicy,
    Int,
    Knowledge,
    State,
    block,
    close_queue,
    core,
    enqueue,
    free_gpus,
    start_on,
)


class Placer(CompiledPolicy):
    """Jobs are tried in the order of their submission and start if they fit; none waits for a job ahead of it."""

    needs: ClassVar[Knowledge] = "none"
    placement: ClassVar[str] = "tightest"  # under which any free GPUs will do
    takes_whole_gpus: ClassVar[bool] = True
    source: ClassVar[str] = "a baseline of Zhao and Wu (MARL), IEEE TNSM 2022, arXiv 2112.13354"


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        enqueue(S, j, 0.0, np.inf)


@core
def on_run(S: State, j: Int) -> None:
    """Nothing to know about running jobs."""


@core
def next_gang(S: State) -> Int:
    """The first waiting job, in order, for which there are enough free GPUs, wherever they are; -1 if there is none."""
    return first_that_fits(S) if S.g[0].free > 0 else np.int64(-1)


@core
def alternative_of(S: State, j: Int) -> Int:
    """The first alternative of job `j` with enough free GPUs; -1 if none has."""
    C = S.classes[S.jobs[j].cls]
    for a in range(C.alt, C.alt_end):
        if free_gpus(S, S.alts[a]) >= C.gpus:
            return np.int64(a)
    return np.int64(-1)


@core
def start_there(S: State, j: Int) -> None:
    """Job `j` starts on the GPUs noted in State.place; if it may not, no job like it is tried in this cycle."""
    c = S.jobs[j].cls
    answer = start_on(S, j, OK)
    if answer == QUOTA:
        close_queue(S, j)
    elif answer != OK:
        block(S, c)
