"""Dally: delay scheduling, network-sensitive preemption and auto-tuned timers (Sharma et al., arXiv 2401.16492).

Its parts are `delay`, `preemption`, `offering` and `tuner`. The paper's text gives the structure; formulas
and defaults are ours where a parameter says so.
"""

from typing import Any, ClassVar, Self

import numpy as np
from pydantic import model_validator

from pointsman.policies.dally.offering import offer
from pointsman.policies.dally.preemption import (
    BOUND,
    OVERDUE,
    PREEMPTS,
    QUANTUM_MS,
    ROUND_MS,
    bar_of,
    got_worse,
    sink,
    watch,
)
from pointsman.policies.dally.tuner import TUNER_MEMORY
from pointsman.policies.dally.turns import be_called, begin_to_wait
from pointsman.policies.parts.levels import NODE, delay_of
from pointsman.policies.parts.moving import improve_places
from pointsman.policies.parts.offers import next_offered
from pointsman.policies.parts.preemption.bounded_waiting import has_ended
from pointsman.policies.parts.preemption.evicting_policy import EvictingPolicy
from pointsman.policies.parts.preemption.turns import grant_first_places, others_are_held_back
from pointsman.policies.sdk import (
    NEVER,
    PENDING,
    RUNNING,
    VICTIMS,
    Delay,
    Event,
    Int,
    Knowledge,
    Profile,
    Progress,
    State,
    core,
    milliseconds,
    parameter,
)

FINISH, CANCEL, LEVEL, TIMER = int(Event.FINISH), int(Event.CANCEL), int(Event.LEVEL), int(Event.TIMER)


class DelayScheduling(EvictingPolicy):
    """Each job waits for a node, then a rack, for at most a timer tuned from recent waits; jobs slowed by the network
    move when a better place becomes free.
    """

    needs: ClassVar[Knowledge] = "none"
    profiles: ClassVar[tuple[Profile, ...]] = ("places",)
    progress: ClassVar[Progress] = "work"
    placement: ClassVar[str] = "tightest"
    takes_whole_gpus: ClassVar[bool] = True
    needs_rates: ClassVar[bool] = True
    tuned: ClassVar[bool] = True

    node_timer_s: float = parameter(7200.0, "initial timer for waiting for one node", unit="s", ge=0)
    rack_timer_s: float = parameter(14_400.0, "initial timer for waiting for one rack", unit="s", ge=0)
    history_s: float = parameter(86_400.0, "span of recent waits that timers are tuned from", unit="s", gt=0)
    least_entries: int = parameter(5, "waits required before timers are tuned", ge=1)
    deviations: float = parameter(1.0, "standard deviations by which a timer exceeds the mean wait", ge=0)
    shortest_timer_s: float = parameter(0.0, "minimum of a tuned timer", unit="s", ge=0)
    longest_timer_s: float = parameter(86_400.0, "maximum of a tuned timer", unit="s", ge=0)
    epsilon: float = parameter(0.0, "wait for a level only if the next one is slower by more than this share", ge=0)
    quantum_s: float = parameter(1800.0, "minimum run time before a job can be preempted", unit="s", ge=0)
    round_s: float = parameter(60.0, "interval at which better placements are searched", unit="s", gt=0)

    def delay_of(self, job: Any) -> Delay | None:
        """Until the timer of its level ends."""
        return delay_of(job, job["s0"] if job["s2"] == NODE else job["s1"])

    def _delays_ms(
        self, preempts: bool, first_level: float = 0.0, levels: int = 0, *, sensitive: bool = False
    ) -> list[float]:
        """Parameters of timers, evictions and moves, times in ms."""
        tuner = [self.tuned, max(1.0, milliseconds(self.history_s)), self.least_entries, self.deviations]
        tuner += [milliseconds(self.shortest_timer_s), milliseconds(self.longest_timer_s), *self._timers_ms()]
        preemption = [preempts, milliseconds(first_level), levels, milliseconds(self.quantum_s)]
        preemption += [max(1.0, milliseconds(self.round_s)), sensitive]
        return [float(x) for x in (*tuner, self.epsilon, *preemption)]

    def _timers_ms(self) -> tuple[float, float]:
        return milliseconds(self.node_timer_s), milliseconds(max(self.node_timer_s, self.rack_timer_s))


class Dally(DelayScheduling):
    """Each job waits for a node, then a rack, for at most a timer tuned from recent waits; jobs that received the least
    service run first and may preempt; jobs slowed by the network move when a better place becomes free.
    """

    name: ClassVar[str] = "dally"
    hooks: ClassVar[str] = "pointsman.policies.dally.dally"
    source: ClassVar[str] = "Sharma et al., GPU Cluster Scheduling for Network-Sensitive Deep Learning, 2024"
    preempts: ClassVar[bool] = True

    first_level_gpu_s: float = parameter(
        3250.0, "service at which a job leaves the first level; each further level is twice as much", unit="GPU-s", gt=0
    )
    levels: int = parameter(12, "number of times that a job can move down a level", ge=0, le=40)
    sensitive: bool = parameter(False, "service is GPUs times nominal work done; else GPUs times time they were held")

    def parameters(self) -> list[float]:
        delays = self._delays_ms(self.preempts, self.first_level_gpu_s, self.levels, sensitive=self.sensitive)
        return [*delays, *self._bound_ms(), self.cost_weight]


class DallyManual(Dally):
    """Dally with fixed timers."""

    name: ClassVar[str] = "dally-manual"
    tuned: ClassVar[bool] = False


class DallyNoWait(Dally):
    """Dally that takes any offer at once."""

    name: ClassVar[str] = "dally-nowait"
    tuned: ClassVar[bool] = False
    node_timer_s: float = parameter(0.0, "maximum wait for one node", unit="s", ge=0, le=0)
    rack_timer_s: float = parameter(0.0, "maximum wait for one rack", unit="s", ge=0, le=0)


class DallyConsolidated(Dally):
    """Dally that waits for its best level for ever."""

    name: ClassVar[str] = "dally-consolidated"
    tuned: ClassVar[bool] = False

    def _timers_ms(self) -> tuple[float, float]:
        return float(NEVER), float(NEVER)


class DallyNoPreempt(Dally):
    """Dally without preemption."""

    name: ClassVar[str] = "dally-nopreempt"
    preempts: ClassVar[bool] = False

    @model_validator(mode="after")
    def _has_nothing_to_weigh(self) -> Self:
        if self.cost_weight > 0 or self.patience_s > 0:
            raise ValueError("nothing is preempted: cost_weight and patience_s must be 0")
        return self


class DallyWholeNodes(DallyNoWait):
    """Dally that places a gang on one node or on whole nodes, and waits for these; so it needs no timers."""

    name: ClassVar[str] = "dally-whole-nodes"
    placement: ClassVar[str] = "consolidated"


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """Jobs that wait start their timers and settle for less when these pass; running jobs sink with their service."""
    if j < 0:
        return
    J = S.jobs[j]
    if kind == FINISH or kind == CANCEL:
        has_ended(S, j, np.int64(BOUND), np.int64(OVERDUE))
    elif kind == LEVEL and J.state == RUNNING:
        got_worse(S, j)
    elif kind == TIMER and J.state == PENDING:
        be_called(S, j, np.int64(BOUND), 1.0)
    elif J.state == PENDING and J.bucket < 0:
        sink(S, j)
        begin_to_wait(S, j, np.int64(BOUND), 1.0)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate."""
    watch(S, j)


@core
def decide(S: State) -> None:
    """Offer what is free to the waiting jobs in order; then move running jobs to better places."""
    grant_first_places(S, np.int64(BOUND), np.int64(OVERDUE), S.params[QUANTUM_MS])
    while True:
        j = next_offered(S)
        if j < 0:
            break
        offer(S, j, bar_of(S, j))
        for i in range(S.g[0].victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                sink(S, v)
                begin_to_wait(S, v, np.int64(BOUND), 1.0)
    if S.params[PREEMPTS] != 0.0 and not others_are_held_back(S):
        improve_places(S, np.int64(S.params[ROUND_MS]), np.int64(TUNER_MEMORY), np.int64(1))
