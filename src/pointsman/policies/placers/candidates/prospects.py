"""What a job that waits, or is forwarded, may look forward to."""

import numpy as np

from pointsman.policies.parts.time_left import ms_left
from pointsman.policies.placers.filling import clear_scores, note_compact
from pointsman.policies.placers.schedulers import class_under, scheduler_of
from pointsman.policies.sdk import (
    ACTIVE,
    Int,
    State,
    admits,
    alternative_with_room,
    cold,
    core,
)


@cold
def shorter_jobs(S: State, j: Int) -> tuple[Int, Int]:
    """How many waiting jobs of its scheduler are shorter than job `j`, as far as durations are known, and how many GPUs
    they ask for: those that might go first if it waited.
    """
    jobs = gpus = np.int64(0)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        k = S.buckets[c].first if c % S.g[0].schedulers == scheduler_of(S, j) else np.int64(-1)
        while k >= 0:
            if S.jobs[k].estimate < S.jobs[j].estimate:
                jobs += 1
                gpus += S.classes[c].gpus
            k = S.jobs[k].later
    return jobs, gpus


@core
def _busy_ms(S: State, gpu: Int) -> float:
    """How long a GPU will be busy, as far as is known."""
    return ms_left(S, S.occupants[gpu, 0]) if S.occupants[gpu, 0] >= 0 else 0.0


@core
def _ms_until_free(S: State, n: Int, need: Int) -> float:
    """Return in how many ms node `n` will have `need` of its GPUs free, if no other job arrives."""
    N = S.nodes[n]
    least = np.inf
    for x in range(N.gpu0, N.gpu0 + N.gpus):
        ms = _busy_ms(S, np.int64(x))
        sooner = np.int64(0)
        for y in range(N.gpu0, N.gpu0 + N.gpus):
            sooner += 1 if _busy_ms(S, np.int64(y)) <= ms else 0
        if sooner >= need:
            least = min(least, ms)
    return least


@core
def _serves(S: State, a: Int, n: Int, need: Int) -> bool:
    """Whether node `n` is in service, admitted, and large enough."""
    N = S.nodes[n]
    return bool(N.state == 0) and bool(N.gpus >= need) and admits(S, S.alts[a], N.pool)


@core
def _ms_until_nodes(S: State, a: Int, need: Int, many: Int, within_racks: bool) -> float:
    """Return in how many ms `many` nodes, of one rack if `within_racks`, will have `need` GPUs free each."""
    least = np.inf
    for n in range(S.nodes.shape[0]):
        if not _serves(S, a, np.int64(n), need):
            continue
        ms = _ms_until_free(S, np.int64(n), need)
        sooner = np.int64(1)
        if many > 1:
            sooner = np.int64(0)
            for m in range(S.nodes.shape[0]):
                near = bool(S.nodes[m].rack == S.nodes[n].rack) or not within_racks
                if near and _serves(S, a, np.int64(m), need) and _ms_until_free(S, np.int64(m), need) <= ms:
                    sooner += 1
        if sooner >= many:
            least = min(least, ms)
    return least


@cold
def ms_until_compact(S: State, j: Int) -> float:
    """In how many ms there will be a compact place for job `j`, as far as is known: whole nodes, if it needs several.
    Infinite if nothing will do.
    """
    C = S.classes[S.jobs[j].cls]
    A = S.alts[C.alt]
    many = (C.gpus + A.gpus - 1) // A.gpus
    return _ms_until_nodes(S, C.alt, min(C.gpus, A.gpus), many, bool(C.gpus <= A.rack_gpus))


@cold
def is_compact_under(S: State, j: Int, scheduler: Int) -> bool:
    """Whether job `j` has a compact place at once under another scheduler, which can place it."""
    clear_scores(S)
    c = class_under(S, S.jobs[j].cls, scheduler)
    return note_compact(S, alternative_with_room(S, c), S.classes[c].gpus)
