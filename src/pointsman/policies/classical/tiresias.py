"""Tiresias: discretised two-dimensional least attained service (Gu et al., NSDI 2019, §3.2).

The two dimensions are GPUs and time: a job sinks through the levels as its GPU-seconds pass the thresholds.
"""

from itertools import pairwise
from typing import ClassVar

import numpy as np
from pydantic import PositiveFloat, field_validator

from pointsman.policies.parts.offers import Offered
from pointsman.policies.parts.preemption.bounded_waiting import goes_first, grant_ends_at, has_ended
from pointsman.policies.parts.preemption.cost import surcharge
from pointsman.policies.parts.preemption.evicting_policy import EvictingPolicy
from pointsman.policies.parts.preemption.turns import (
    be_called,
    grant_first_places,
    key_as_victim,
    note_answer,
    take_turn,
)
from pointsman.policies.sdk import (
    NEVER,
    PENDING,
    RUNNING,
    VICTIMS,
    Event,
    Int,
    Knowledge,
    OfJob,
    Progress,
    State,
    block,
    core,
    dequeue,
    derived,
    enqueue,
    first_waiting,
    insert_later,
    note_worse,
    parameter,
    remove,
    running_index,
    set_alarm,
    start_or_evict,
    view_of,
    whole,
)

FINISH, CANCEL, LEVEL, TIMER = int(Event.FINISH), int(Event.CANCEL), int(Event.LEVEL), int(Event.TIMER)
MOST_THRESHOLDS = 63


class Kept(Offered):
    """What it keeps of a job."""

    promoted_attained = whole("GPU time that it had got when it was last promoted", unit="GPU-ms")
    promoted_executed_ms = whole("how long it had run then", unit="ms")
    victim_level = whole("its level as a victim: that of its service less what preemptions cost")


class Tiresias(EvictingPolicy):
    """Jobs with little attained service go before those with much, first come first served within a level; they evict
    only from
    lower levels. What is left out: Tiresias' skew-based consolidation, which needs model profiles.
    """

    name: ClassVar[str] = "tiresias"
    needs: ClassVar[Knowledge] = "none"
    progress: ClassVar[Progress] = "service"
    hooks: ClassVar[str] = "pointsman.policies.classical.tiresias"
    kept: ClassVar[type[OfJob]] = Kept
    takes_whole_gpus: ClassVar[bool] = True
    source: ClassVar[str] = "Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019"

    thresholds_gpu_s: tuple[PositiveFloat, ...] = parameter(
        (3250.0, 7200.0),
        "attained service at which a job sinks a level",
        unit="GPU-s",
        source="paper",
        min_length=1,
        max_length=MOST_THRESHOLDS,
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

    @derived
    def levels(self) -> int:
        """How many thresholds there are."""
        return len(self.thresholds_gpu_s)


params, kept = view_of(Tiresias), view_of(Kept)


@core
def _attained(S: State, j: Int) -> Int:
    """GPU-ms of service that count for the level of job `j`: all of it, or what came since its promotion."""
    return S.jobs[j].attained - kept(S, j).promoted_attained


@core
def _threshold(S: State, level: Int) -> Int:
    """GPU-ms of service at which a job leaves `level`."""
    return np.int64(params(S).thresholds_gpu_ms[level])


@core
def _cost(S: State, j: Int) -> Int:
    """How much more service a preemption of job `j` must gain, or one for it, for what it costs."""
    return np.int64(surcharge(S, j, params(S).cost_weight))


@core
def _sunk(S: State, level: Int, service: Int) -> Int:
    """The level, `level` or lower, of so much service."""
    while level < params(S).levels and service >= _threshold(S, level):
        level += 1
    return level


@core
def _sink(S: State, j: Int) -> None:
    """Let job `j` down to the level of its attained service, and as a victim to that of what is left of it after what
    preemptions cost.
    """
    J, K = S.jobs[j], kept(S, j)
    J.level = _sunk(S, J.level, _attained(S, j))
    K.victim_level = _sunk(S, K.victim_level, _attained(S, j) - _cost(S, j))


@core
def bar_of(S: State, j: Int) -> float:
    """The level above which running jobs are worse than waiting job `j`: that of the least service of its own, with
    what preemptions cost.
    """
    if goes_first(S, j):
        return -np.inf
    level = S.jobs[j].level
    least = _threshold(S, level - 1) if level > 0 else np.int64(0)
    return np.float64(_sunk(S, level, least + _cost(S, j)))


@core
def _promoted_at(S: State, j: Int) -> Int:
    """When waiting job `j` is promoted, `NEVER` if not."""
    J = S.jobs[j]
    knob = params(S).promote_knob
    executed = J.executed - kept(S, j).promoted_executed_ms
    if knob == 0.0 or J.level == 0 or executed == 0 or goes_first(S, j):
        return np.int64(NEVER)
    return max(S.g[0].now, J.pend_since + np.int64(np.ceil(knob * executed)))


@core
def wait(S: State, j: Int) -> None:
    """Job `j` waits at its level; if promotion is on, or waits are bounded, it will not wait for ever."""
    _sink(S, j)
    enqueue(S, j, np.float64(S.jobs[j].level), np.inf)
    if _promoted_at(S, j) < NEVER:
        set_alarm(S, j, _promoted_at(S, j))
    take_turn(S, j, np.int64(0), 1.0)


@core
def _place_running(S: State, j: Int) -> None:
    """Put running job `j` into its level and have it called at the next threshold, and when its grant ends."""
    J, level = S.jobs[j], kept(S, j).victim_level
    if J.bucket >= 0:
        remove(S, j)
    due = grant_ends_at(S, j)
    J.key = key_as_victim(S, j, np.float64(level))
    J.aux = np.inf
    insert_later(S, running_index(S), j)
    if level < params(S).levels:
        left = _threshold(S, level) + _cost(S, j) - _attained(S, j)
        due = min(due, S.g[0].now + (left + J.gpus - 1) // J.gpus)
    set_alarm(S, j, due)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate, or another policy left it: it is called when it reaches the next threshold."""
    _sink(S, j)
    _place_running(S, j)


@core
def _promote(S: State, j: Int) -> None:
    """Job `j` has waited for its share of its run time: it is at the first level again."""
    J, K = S.jobs[j], kept(S, j)
    K.promoted_attained = J.attained
    K.promoted_executed_ms = J.executed
    J.level = 0
    K.victim_level = 0


@core
def _be_called(S: State, j: Int) -> None:
    """A timer of waiting job `j` has passed."""
    dequeue(S, j)
    be_called(S, j, 1.0)
    if _promoted_at(S, j) <= S.g[0].now:
        _promote(S, j)
    wait(S, j)


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """Jobs that wait join their level, running jobs sink at thresholds, waiting jobs are promoted by a timer."""
    if j < 0:
        return
    J = S.jobs[j]
    if kind == FINISH or kind == CANCEL:
        has_ended(S, j)
    elif kind == LEVEL and J.state == RUNNING:
        _sink(S, j)
        _place_running(S, j)
        note_worse(S, j)
    elif kind == TIMER and J.state == PENDING:
        _be_called(S, j)
    elif J.state == PENDING and J.bucket < 0:
        wait(S, j)


@core
def decide(S: State) -> None:
    """Start waiting jobs level by level, evicting running jobs of strictly lower levels."""
    g = S.g[0]
    if g.pending == 0:
        return
    grant_first_places(S, np.int64(0))
    while True:
        j = first_waiting(S)
        if j < 0:
            break
        if note_answer(S, j, start_or_evict(S, j, bar_of(S, j), running_index(S))):
            block(S, S.jobs[j].cls)
        for i in range(g.victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                wait(S, v)
