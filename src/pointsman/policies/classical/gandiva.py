"""Gandiva's time-slicing and migration (Xiao et al., OSDI 2018, §3), as the baseline of network-sensitive schedulers.

`gandiva-packing` also packs jobs in pairs on GPUs, as an oracle. What is left out: growing and shrinking of jobs.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.classical.packing import pack
from pointsman.policies.parts.moving import Moves, improve_places, misplaced
from pointsman.policies.parts.preemption.protection import protected_until
from pointsman.policies.sdk import (
    NEVER,
    OK,
    PENDING,
    QUOTA,
    RESERVED,
    RUNNING,
    VICTIMS,
    CompiledPolicy,
    Event,
    Int,
    Knowledge,
    Profile,
    Progress,
    Record,
    State,
    block,
    close_queue,
    core,
    derived,
    enqueue,
    first_waiting,
    fits,
    insert,
    note_worse,
    parameter,
    part,
    remove,
    running_index,
    set_alarm,
    start_or_evict,
    view_of,
)

LEVEL, TIMER, STOPPED = int(Event.LEVEL), int(Event.TIMER), int(Event.STOPPED)


class GandivaMemory(Record):
    """What it keeps."""

    moves = part(Moves, "of moves to better places")


class Gandiva(CompiledPolicy):
    """First come, first served at the tightest level that has room; where jobs wait, those that have run a time slice
    make way for them, and come back in turn; jobs slowed by their place are moved when a better one becomes free.
    """

    name: ClassVar[str] = "gandiva"
    needs: ClassVar[Knowledge] = "none"
    profiles: ClassVar[tuple[Profile, ...]] = ("places",)
    progress: ClassVar[Progress] = "work"
    hooks: ClassVar[str] = "pointsman.policies.classical.gandiva"
    memory: ClassVar[type[Record]] = GandivaMemory
    placement: ClassVar[str] = "tightest"
    takes_whole_gpus: ClassVar[bool] = True
    needs_rates: ClassVar[bool] = True
    source: ClassVar[str] = "Xiao et al., Gandiva: Introspective Cluster Scheduling for Deep Learning, OSDI 2018"

    slice_s: float = parameter(60.0, "minimum run time before a job can be preempted", unit="s", source="paper", gt=0)
    round_s: float = parameter(60.0, "interval at which better placements are searched", unit="s", gt=0)

    @derived
    def least_gain(self) -> float:
        """More than this must a pair get done together, of what each would alone; 0: jobs are not packed."""
        return 0.0


params, memory = view_of(Gandiva), view_of(GandivaMemory)


@core
def _wait(S: State, j: Int, made_way: bool) -> None:
    """Job `j` takes its place behind those that wait already; who has made way, behind those that come within a slice:
    until then it takes what is free, but does not have its like make way.
    """
    turn = S.jobs[j].pend_since + (params(S).slice_ms if made_way else 0)
    enqueue(S, j, np.float64(turn), np.inf)
    if made_way:
        set_alarm(S, j, turn)


@core
def _end_slice(S: State, j: Int) -> None:
    """Running job `j` has had its slice: it may be preempted, who began earliest first."""
    J = S.jobs[j]
    if J.bucket >= 0:
        remove(S, j)
    J.key = -np.float64(J.started)
    J.aux = 0.0 if misplaced(S, j) else np.inf
    insert(S, running_index(S), j)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate: it is called at the end of its slice."""
    end = protected_until(S, j, params(S).slice_ms)
    if S.g[0].now >= end:
        _end_slice(S, j)
        end = NEVER
    set_alarm(S, j, end)


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """Jobs that wait queue up; slices end."""
    if j < 0:
        return
    if kind == LEVEL and S.jobs[j].state == RUNNING:
        on_run(S, j)
        if S.jobs[j].bucket >= 0:
            note_worse(S, j)
    elif S.jobs[j].state == PENDING and S.jobs[j].bucket < 0 and kind != TIMER:
        _wait(S, j, kind == STOPPED)


@core
def _give_up(S: State, j: Int) -> None:
    """There is no place for job `j` in this pass, nor for those that ask for as much: but they may pack well."""
    if params(S).least_gain > 0.0:
        S.classes[S.jobs[j].cls].blocked = S.g[0].pass_id
    else:
        block(S, S.jobs[j].cls)


@core
def decide(S: State) -> None:
    """Start waiting jobs in turn, in the place of jobs that have had their slice where there is no room."""
    while S.g[0].pending > 0:
        j = first_waiting(S)
        if j < 0:
            break
        if params(S).least_gain > 0.0 and not fits(S, S.jobs[j].cls) and pack(S.g[0].address, j, params(S).least_gain):
            continue
        early = S.jobs[j].key > S.g[0].now
        reason = start_or_evict(S, j, np.inf if early else -np.inf, running_index(S))
        if reason == QUOTA:
            close_queue(S, j)
        elif reason != OK and reason != RESERVED:
            _give_up(S, j)
            if early:
                S.classes[S.jobs[j].cls].failed_at = -1  # others, or itself later, may evict more
        for i in range(S.g[0].victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                _wait(S, v, True)
    improve_places(S, params(S).round_ms, memory(S).moves, True)
