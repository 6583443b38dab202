"""Dally: delay scheduling, network-sensitive preemption and auto-tuned timers (Sharma et al., arXiv 2401.16492).

Its parts are `delay`, `preemption`, `offering` and `tuner`. The paper's text gives the structure; formulas
and defaults are ours where a parameter says so.
"""

from typing import ClassVar, Self

from pydantic import model_validator

from pointsman.policies.dally.declared import Dally, DelayMemory
from pointsman.policies.dally.offering import offer
from pointsman.policies.dally.preemption import bar_of, got_worse, sink, watch
from pointsman.policies.dally.turns import be_called, begin_to_wait
from pointsman.policies.parts.moving import improve_places
from pointsman.policies.parts.offers import next_offered
from pointsman.policies.parts.preemption.bounded_waiting import has_ended
from pointsman.policies.parts.preemption.turns import grant_first_places, others_are_held_back
from pointsman.policies.sdk import (
    NEVER,
    PENDING,
    RUNNING,
    VICTIMS,
    Event,
    Int,
    State,
    core,
    parameter,
    view_of,
)

FINISH, CANCEL, LEVEL, TIMER = int(Event.FINISH), int(Event.CANCEL), int(Event.LEVEL), int(Event.TIMER)
params, memory = view_of(Dally), view_of(DelayMemory)


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
    node_timer_ms: ClassVar[float] = float(NEVER)
    rack_timer_ms: ClassVar[float] = float(NEVER)


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
        has_ended(S, j)
    elif kind == LEVEL and J.state == RUNNING:
        got_worse(S, j)
    elif kind == TIMER and J.state == PENDING:
        be_called(S, j, 1.0)
    elif J.state == PENDING and J.bucket < 0:
        sink(S, j)
        begin_to_wait(S, j, 1.0)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate."""
    watch(S, j)


@core
def decide(S: State) -> None:
    """Offer what is free to the waiting jobs in order; then move running jobs to better places."""
    P = params(S)
    grant_first_places(S, P.quantum_ms)
    while True:
        j = next_offered(S)
        if j < 0:
            break
        offer(S, j, bar_of(S, j))
        for i in range(S.g[0].victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                sink(S, v)
                begin_to_wait(S, v, 1.0)
    if P.preempts and not others_are_held_back(S):
        improve_places(S, P.round_ms, memory(S).moves, True)
