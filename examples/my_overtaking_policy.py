"""A compiled policy that declares a parameter, what it keeps, and what it keeps of each job."""

from typing import ClassVar

import numpy as np

from pointsman.policies.sdk import (
    OK,
    PENDING,
    QUOTA,
    CompiledPolicy,
    Knowledge,
    OfJob,
    Record,
    block,
    close_queue,
    core,
    enqueue,
    first_waiting,
    parameter,
    start,
    view_of,
    whole,
)


class Memory(Record):
    """What the policy keeps."""

    starts = whole("how many jobs have started")


class Kept(OfJob):
    """What it keeps of each job."""

    passed_at = whole("1 + the starts so far when it first found no room; 0: it has not been tried")


class Overtaking(CompiledPolicy):
    """First come, first served, but a limited number of jobs with room may overtake one without."""

    name: ClassVar[str] = "overtaking"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = __file__
    memory: ClassVar[type[Record]] = Memory
    kept: ClassVar[type[OfJob]] = Kept

    most_overtakes: int = parameter(100, "number of jobs that may overtake a waiting job", ge=0)


params, memory, kept = view_of(Overtaking), view_of(Memory), view_of(Kept)


@core
def on_event(S, kind, j):
    """Put a pending job into the index of its demand class, in order of submission."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        enqueue(S, j, 0.0, np.inf)


@core
def on_run(S, j):
    """This policy does not track running jobs."""


@core
def decide(S):
    """Start jobs in order of submission, until one has been overtaken often enough."""
    P, M = params(S), memory(S)
    j = first_waiting(S)
    while j >= 0:
        K, reason = kept(S, j), start(S, j, OK)
        if reason == OK:
            M.starts += 1
        elif reason == QUOTA:
            close_queue(S, j)
        else:
            if K.passed_at == 0:
                K.passed_at = 1 + M.starts
            if 1 + M.starts - K.passed_at >= P.most_overtakes:
                return
            block(S, S.jobs[j].cls)
        j = first_waiting(S)
