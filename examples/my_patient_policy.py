"""A compiled policy that preempts, and sets alarms: least remaining time first, unless a job waits too long."""

from typing import ClassVar

import numpy as np

from pointsman.policies.sdk import (
    OK,
    PENDING,
    QUOTA,
    VICTIMS,
    CompiledPolicy,
    Event,
    Knowledge,
    OfJob,
    Progress,
    Record,
    block,
    close_queue,
    core,
    dequeue,
    enqueue,
    first_waiting,
    insert,
    parameter,
    remove,
    running_index,
    set_alarm,
    start_or_evict,
    view_of,
    whole,
    work_done,
)

TIMER = int(Event.TIMER)


class Memory(Record):
    """What the policy keeps."""

    promotions = whole("how many jobs have waited for patience_s")


class Kept(OfJob):
    """What it keeps of each job."""

    late_at = whole("1 + when it had waited for patience_s; 0: it has not", unit="ms")


class PatientSrtf(CompiledPolicy):
    """Least remaining time first. Once a job has waited for `patience_s`, it goes before others and runs to its end."""

    name: ClassVar[str] = "patient-srtf"
    needs: ClassVar[Knowledge] = "estimate"
    progress: ClassVar[Progress] = "work"
    hooks: ClassVar[str] = __file__
    memory: ClassVar[type[Record]] = Memory
    kept: ClassVar[type[OfJob]] = Kept

    patience_s: float = parameter(86_400.0, "time after which a waiting job goes first", unit="s", ge=0)


params, memory, kept = view_of(PatientSrtf), view_of(Memory), view_of(Kept)


@core
def _key(S, j, done):
    """Below 0 for late jobs, in the order in which they became late; else the remaining ms."""
    late_at = kept(S, j).late_at
    if late_at > 0:
        return late_at - 2.0**53
    left = S.jobs[j].estimate - done
    return np.inf if np.isnan(left) else max(left, 0.0)


@core
def _queue(S, j):
    enqueue(S, j, _key(S, j, S.jobs[j].done), np.inf)
    if kept(S, j).late_at == 0:
        set_alarm(S, j, S.jobs[j].pend_since + params(S).patience_ms)


@core
def on_event(S, kind, j):
    """Queue a pending job. One whose alarm goes off is late."""
    if j < 0 or S.jobs[j].state != PENDING:
        return
    if kind == TIMER and kept(S, j).late_at == 0:
        kept(S, j).late_at = 1 + S.g[0].now
        memory(S).promotions += 1
        dequeue(S, j)
    if S.jobs[j].bucket < 0:
        _queue(S, j)


@core
def on_run(S, j):
    """Order running jobs by when they are expected to end; late ones come first, so none preempts them."""
    if S.jobs[j].bucket >= 0:
        remove(S, j)
    key = _key(S, j, work_done(S, j))
    S.jobs[j].key = key if key < 0 else S.g[0].now + key
    S.jobs[j].aux = np.inf
    insert(S, running_index(S), j)


@core
def decide(S):
    """Start jobs in order. A job may preempt those that have more left, and a late one all that are not late."""
    j = first_waiting(S)
    while j >= 0:
        key = S.jobs[j].key
        reason = start_or_evict(S, j, 0.0 if key < 0 else S.g[0].now + key, running_index(S))
        for i in range(S.g[0].victims):
            victim = S.lists[VICTIMS, i]
            if victim >= 0 and S.jobs[victim].state == PENDING:
                _queue(S, victim)
        if reason == QUOTA:
            close_queue(S, j)
        elif reason != OK:
            block(S, S.jobs[j].cls)
        j = first_waiting(S)
