"""Shortest remaining time first, preemptive.

While a job runs at rate 1 its remaining time falls as the clock rises, so their sum is a key that stays put. The few
jobs with
another rate get their keys anew before running jobs are compared.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.parts.preemption.bounded_waiting import goes_first, grant_ends_at, has_ended
from pointsman.policies.parts.preemption.cost import cost_ms
from pointsman.policies.parts.preemption.evicting_policy import EvictingPolicy
from pointsman.policies.parts.preemption.turns import (
    be_called,
    grant_first_places,
    key_as_victim,
    note_answer,
    take_turn,
)
from pointsman.policies.sdk import (
    OFF_RATE,
    PENDING,
    RUNNING,
    VICTIMS,
    Event,
    Int,
    Knowledge,
    Progress,
    State,
    block,
    core,
    dequeue,
    enqueue,
    first_waiting,
    insert_later,
    parameter,
    remove,
    running_index,
    set_alarm,
    start_or_evict,
    view_of,
    work_done,
)

FINISH, CANCEL, LEVEL, TIMER = int(Event.FINISH), int(Event.CANCEL), int(Event.LEVEL), int(Event.TIMER)


class Srtf(EvictingPolicy):
    """The jobs with the least remaining time run; one that does not fit evicts running jobs that have strictly
    more left.
    """

    name: ClassVar[str] = "srtf"
    needs: ClassVar[Knowledge] = "oracle"
    progress: ClassVar[Progress] = "work"
    hooks: ClassVar[str] = "pointsman.policies.classical.srtf"
    takes_whole_gpus: ClassVar[bool] = True
    source: ClassVar[str] = (
        "Schrage, A proof of the optimality of the shortest remaining processing time discipline, 1968"
    )

    margin_s: float = parameter(
        0.0, "a victim must have more than this much longer to run than its evictor", unit="s", ge=0
    )


params = view_of(Srtf)


@core
def _wait(S: State, j: Int) -> None:
    """Job `j` joins its class by its remaining time."""
    enqueue(S, j, S.jobs[j].estimate - S.jobs[j].done, np.inf)
    take_turn(S, j, np.int64(0), 1.0)


@core
def _place_running(S: State, j: Int) -> None:
    """Put running job `j` where its remaining time belongs now."""
    J = S.jobs[j]
    if J.bucket >= 0:
        remove(S, j)
    if goes_first(S, j):
        set_alarm(S, j, grant_ends_at(S, j))
    J.key = key_as_victim(S, j, J.estimate - work_done(S, j) + S.g[0].now)
    J.aux = np.inf
    insert_later(S, running_index(S), j)


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """Jobs that wait join their class, and are called when they have waited too long; running jobs lose their grant."""
    if j < 0:
        return
    J = S.jobs[j]
    if kind == FINISH or kind == CANCEL:
        has_ended(S, j)
    elif kind == LEVEL and J.state == RUNNING:
        _place_running(S, j)
    elif kind == TIMER and J.state == PENDING:
        dequeue(S, j)
        be_called(S, j, 1.0)
        _wait(S, j)
    elif J.state == PENDING and J.bucket < 0:
        _wait(S, j)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate."""
    _place_running(S, j)


@core
def _bar_of(S: State, j: Int) -> float:
    """What the key of a victim of waiting job `j` must exceed."""
    margin = params(S).margin_ms + np.floor(2.0 * params(S).cost_weight * cost_ms(S, np.inf))
    return -np.inf if goes_first(S, j) else S.jobs[j].key + S.g[0].now + margin


@core
def decide(S: State) -> None:
    """Start waiting jobs in order of remaining time, evicting running jobs with strictly more."""
    g = S.g[0]
    if g.pending == 0:
        return
    for i in range(g.off_rate):
        _place_running(S, S.lists[OFF_RATE, i])
    grant_first_places(S, np.int64(0))
    while True:
        j = first_waiting(S)
        if j < 0:
            break
        if note_answer(S, j, start_or_evict(S, j, _bar_of(S, j), running_index(S))):
            block(S, S.jobs[j].cls)
        for i in range(g.victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                _wait(S, v)
