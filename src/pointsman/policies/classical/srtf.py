"""Shortest remaining time first, preemptive.

While a job runs at rate 1 its remaining time falls as the clock rises, so their sum is a key that stays put. The few
jobs with
another rate get their keys anew before running jobs are compared.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.sdk import (
    OFF_RATE,
    OK,
    PENDING,
    QUOTA,
    RESERVED,
    VICTIMS,
    CompiledPolicy,
    Int,
    Knowledge,
    Progress,
    State,
    block,
    close_queue,
    core,
    enqueue,
    first_waiting,
    insert_later,
    milliseconds,
    parameter,
    remove,
    running_index,
    start_or_evict,
    work_done,
)

MARGIN_MS = 0  # params


class Srtf(CompiledPolicy):
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

    def parameters(self) -> list[float]:
        return [milliseconds(self.margin_s)]


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class by its remaining time."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        enqueue(S, j, S.jobs[j].estimate - S.jobs[j].done, np.inf)


@core
def _place_running(S: State, j: Int) -> None:
    """Put running job `j` where its remaining time belongs now."""
    J = S.jobs[j]
    if J.bucket >= 0:
        remove(S, j)
    J.key = J.estimate - work_done(S, j) + S.g[0].now
    J.aux = np.inf
    insert_later(S, running_index(S), j)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate."""
    _place_running(S, j)


@core
def decide(S: State) -> None:
    """Start waiting jobs in order of remaining time, evicting running jobs with strictly more."""
    g = S.g[0]
    if g.pending == 0:
        return
    for i in range(g.off_rate):
        _place_running(S, S.lists[OFF_RATE, i])
    while True:
        j = first_waiting(S)
        if j < 0:
            break
        reason = start_or_evict(S, j, S.jobs[j].key + g.now + S.params[MARGIN_MS], running_index(S))
        if reason == QUOTA:
            close_queue(S, j)
        elif reason != OK and reason != RESERVED:
            block(S, S.jobs[j].cls)
        for i in range(g.victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                enqueue(S, v, S.jobs[v].estimate - S.jobs[v].done, np.inf)
