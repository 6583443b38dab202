"""Tiresias: discretised two-dimensional least attained service (Gu et al., NSDI 2019, §3.2).

The two dimensions are GPUs and time: a job sinks through the levels as its GPU-seconds pass the thresholds.
"""

from itertools import pairwise
from typing import ClassVar

import numpy as np
from pydantic import PositiveFloat, field_validator

from pointsman.policies.sdk import (
    OK,
    PARAMETERS,
    PENDING,
    QUOTA,
    RESERVED,
    RUNNING,
    VICTIMS,
    CompiledPolicy,
    Event,
    Int,
    Knowledge,
    Progress,
    State,
    block,
    close_queue,
    core,
    dequeue,
    enqueue,
    first_waiting,
    insert_later,
    milliseconds,
    note_worse,
    parameter,
    remove,
    running_index,
    set_alarm,
    start_or_evict,
)

LEVEL, TIMER = int(Event.LEVEL), int(Event.TIMER)
PROMOTE_KNOB, LEVELS, THRESHOLDS = 0, 1, 2  # params; thresholds in GPU-ms


class Tiresias(CompiledPolicy):
    """Jobs with little attained service go before those with much, first come first served within a level; they evict
    only from
    lower levels. What is left out: Tiresias' skew-based consolidation, which needs model profiles.
    """

    name: ClassVar[str] = "tiresias"
    needs: ClassVar[Knowledge] = "none"
    progress: ClassVar[Progress] = "service"
    hooks: ClassVar[str] = "pointsman.policies.classical.tiresias"
    takes_whole_gpus: ClassVar[bool] = True
    source: ClassVar[str] = "Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019"

    thresholds_gpu_s: tuple[PositiveFloat, ...] = parameter(
        (3250.0, 7200.0),
        "attained service at which a job sinks a level",
        unit="GPU-s",
        source="paper",
        min_length=1,
        max_length=PARAMETERS - 3,
    )
    promote_knob: float = parameter(
        0.0,
        "promote a job that has waited this many times as long as it has run; 0: never",
        source="paper, off by default",
        ge=0,
        le=1e6,
    )

    @field_validator("thresholds_gpu_s", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: object) -> object:
        return (value,) if isinstance(value, int | float) else value

    @field_validator("thresholds_gpu_s")
    @classmethod
    def _must_rise(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if any(a >= b for a, b in pairwise(value)):
            raise ValueError("thresholds must rise")
        return value

    def parameters(self) -> list[float]:
        return [self.promote_knob, float(len(self.thresholds_gpu_s)), *map(milliseconds, self.thresholds_gpu_s)]


@core
def _attained(S: State, j: Int) -> Int:
    """GPU-ms of service that count for the level of job `j`: all of it, or what came since its promotion."""
    return S.jobs[j].attained - np.int64(S.jobs[j].s0)


@core
def sink(S: State, j: Int) -> None:
    """Let job `j` down to the level of its attained service."""
    J = S.jobs[j]
    while J.level < S.params[LEVELS] and _attained(S, j) >= np.int64(S.params[THRESHOLDS + J.level]):
        J.level += 1


@core
def wait(S: State, j: Int) -> None:
    """Job `j` waits at its level; if promotion is on, it will not wait for ever."""
    J = S.jobs[j]
    sink(S, j)
    enqueue(S, j, np.float64(J.level), np.inf)
    executed = J.executed - np.int64(J.s1)
    if S.params[PROMOTE_KNOB] > 0.0 and J.level > 0 and executed > 0:
        set_alarm(S, j, J.pend_since + np.int64(np.ceil(S.params[PROMOTE_KNOB] * executed)))


@core
def _place_running(S: State, j: Int) -> None:
    """Put running job `j` into its level and have it called at the next threshold."""
    J = S.jobs[j]
    if J.bucket >= 0:
        remove(S, j)
    J.key = np.float64(J.level)
    J.aux = np.inf
    insert_later(S, running_index(S), j)
    if J.level < S.params[LEVELS]:
        left = np.int64(S.params[THRESHOLDS + J.level]) - _attained(S, j)
        set_alarm(S, j, S.g[0].now + (left + J.gpus - 1) // J.gpus)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate, or another policy left it: it is called when it reaches the next threshold."""
    sink(S, j)
    _place_running(S, j)


@core
def _promote(S: State, j: Int) -> None:
    """Job `j` has waited for its share of its run time: it is at the first level again."""
    J = S.jobs[j]
    J.s0 = np.float64(J.attained)
    J.s1 = np.float64(J.executed)
    J.level = 0
    dequeue(S, j)
    wait(S, j)


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """Jobs that wait join their level, running jobs sink at thresholds, waiting jobs are promoted by a timer."""
    if j < 0:
        return
    J = S.jobs[j]
    if kind == LEVEL and J.state == RUNNING:
        sink(S, j)
        _place_running(S, j)
        note_worse(S, j)
    elif kind == TIMER and J.state == PENDING:
        _promote(S, j)
    elif J.state == PENDING and J.bucket < 0:
        wait(S, j)


@core
def decide(S: State) -> None:
    """Start waiting jobs level by level, evicting running jobs of strictly lower levels."""
    g = S.g[0]
    if g.pending == 0:
        return
    while True:
        j = first_waiting(S)
        if j < 0:
            break
        reason = start_or_evict(S, j, S.jobs[j].key, running_index(S))
        if reason == QUOTA:
            close_queue(S, j)
        elif reason != OK and reason != RESERVED:
            block(S, S.jobs[j].cls)
        for i in range(g.victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                wait(S, v)
