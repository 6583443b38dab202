"""What MARL's network sees: a job, its candidate placements, and the cluster they are on (``docs/papers/marl.md`` §5).

All numbers are from 0 to 1. Nothing tells demands or the true slow-downs of others but the forecasts in the features
of candidates, which come from the interference of the run.
"""

import numpy as np

from pointsman.engine.sdk.environments import ACTIVE, Int, State, alternative_with_room, cold, core, row_of
from pointsman.learn.environments.compiled.features.extent import Extent
from pointsman.learn.environments.compiled.features.scale import log2, of_gpus, of_time, share
from pointsman.learn.environments.compiled.window import may_wait
from pointsman.policies.parts.backfill import has_room
from pointsman.policies.parts.time_left import ms_left
from pointsman.policies.placers.candidates.features import features_of
from pointsman.policies.placers.candidates.places import list_candidates, note_candidate
from pointsman.policies.placers.candidates.prospects import is_compact_under, ms_until_compact, shorter_jobs
from pointsman.policies.placers.declared import FEATURES, MOST_CANDIDATES
from pointsman.policies.placers.filling import is_compact
from pointsman.policies.placers.schedulers import destination, scheduler_of, was_forwarded
from pointsman.policies.placers.waiting.patience import end_of_patience, is_patient

JOB, CANDIDATE, ON_GPU, ON_NODE, OF_SCHEDULER = 15, FEATURES + 2, 6, 2, 2
"""How many numbers each is told by."""
VERSION = 2


def shapes(slots: int, extent: Extent) -> dict[str, tuple[int, ...]]:
    """The job and its scheduler; the candidates, and the share that each takes of the GPUs of each node; GPUs, nodes
    and schedulers.
    """
    nodes, gpus, many = extent
    return {
        "job": (JOB,), "owner": (many,),
        "candidates": (MOST_CANDIDATES, CANDIDATE), "touched": (MOST_CANDIDATES, nodes),
        "gpus": (gpus, ON_GPU), "nodes": (nodes, ON_NODE), "schedulers": (many, OF_SCHEDULER),
    }  # fmt: skip


@cold
def _write_job(S: State, j: Int, out: np.ndarray, at: Int) -> None:
    """GPUs, duration, time since it came, what it has left of its patience, gradients, computing; whether it was
    forwarded, whether its scheduler has room for it. Then what there is to wait for: shorter jobs, up to 2**16, and the
    GPUs they ask for, up to 256 times the cluster, by logarithm; the time t until there is a compact place, and t over
    its duration d as t / (t + d); whether there is one where it would be forwarded to; whether it may be forwarded,
    and may wait.
    """
    J = S.jobs[j]
    M = S.models[row_of(S, j)]
    out[at] = of_gpus(S, J.asked)
    out[at + 1] = of_time(J.estimate)
    out[at + 2] = of_time(np.float64(S.g[0].now - J.submit))
    out[at + 3] = of_time(end_of_patience(S, j) - S.g[0].now)
    out[at + 4] = share(M.bytes, 1e3, 1e12)
    out[at + 5] = share(M.compute, 1e-3, 1e3)
    out[at + 6] = 1.0 if was_forwarded(S, j) else 0.0
    out[at + 7] = 1.0 if has_room(S, J.cls) else 0.0
    jobs, gpus = shorter_jobs(S, j)
    out[at + 8] = min(1.0, log2(1.0 + jobs) / 16.0)
    out[at + 9] = min(1.0, log2(1.0 + gpus / S.g[0].gpus) / 8.0)
    ms = ms_until_compact(S, j)
    out[at + 10] = of_time(ms)
    out[at + 11] = ms / (ms + J.estimate) if ms < np.inf and J.estimate > 0.0 else 1.0
    elsewhere = destination(S, j)
    out[at + 12] = 1.0 if elsewhere >= 0 and is_compact_under(S, j, elsewhere) else 0.0
    out[at + 13] = 1.0 if elsewhere >= 0 else 0.0
    out[at + 14] = 1.0 if may_wait(S) else 0.0


@cold
def _write_candidates(S: State, j: Int, out: np.ndarray, at: Int, touched: Int) -> None:
    """The features of each as x / (1 + x), whether it is scattered and the job patient, whether there is one; and the
    share that it takes of the GPUs of each node.
    """
    if not has_room(S, S.jobs[j].cls):
        return
    a = alternative_with_room(S, S.jobs[j].cls)
    nodes = np.int64(S.nodes.shape[0])
    for i in range(list_candidates(S, j, a)):
        note_candidate(S, j, a, np.int64(i))
        row = at + i * CANDIDATE
        features = features_of(S, np.int64(i)).as_numbers
        for f in range(FEATURES):
            x = max(0.0, features[f])
            out[row + f] = x / (1.0 + x)
        out[row + FEATURES] = 1.0 if is_patient(S, j) and not is_compact(S, a, S.classes[S.jobs[j].cls].gpus) else 0.0
        out[row + FEATURES + 1] = 1.0
        for k in range(S.g[0].placed):
            P = S.place[k]
            out[touched + i * nodes + P.node] = P.gpus / S.nodes[P.node].gpus


@core
def _write_gpu(S: State, k: Int, out: np.ndarray, at: Int) -> None:
    """Write what runs on a GPU: 1, then of job `k` its GPUs, whether it spans nodes, time left, gradients and rate."""
    K = S.jobs[k]
    out[at] = 1.0
    out[at + 1] = of_gpus(S, K.gpus)
    out[at + 2] = 1.0 if K.nodes > 1 else 0.0
    out[at + 3] = of_time(ms_left(S, k))
    out[at + 4] = share(S.models[row_of(S, k)].bytes, 1e3, 1e12)
    out[at + 5] = min(1.0, K.rate)


@cold
def _write_nodes(S: State, out: np.ndarray, at: Int) -> None:
    """Share of its GPUs that is free; whether it is in service."""
    for n in range(S.nodes.shape[0]):
        out[at + n * ON_NODE] = S.nodes[n].free / S.nodes[n].gpus
        out[at + n * ON_NODE + 1] = 1.0 if S.nodes[n].state == 0 else 0.0


@cold
def _write_schedulers(S: State, out: np.ndarray, at: Int) -> None:
    """Waiting jobs, up to 2**16, and the GPUs they ask for, up to 256 times the cluster, by logarithm."""
    many = S.g[0].schedulers
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        row = at + c % many * OF_SCHEDULER
        out[row] += S.buckets[c].count
        out[row + 1] += S.buckets[c].count * S.classes[c].gpus
    for p in range(many):
        row = at + p * OF_SCHEDULER
        out[row] = min(1.0, log2(1.0 + out[row]) / 16.0)
        out[row + 1] = min(1.0, log2(1.0 + out[row + 1] / S.g[0].gpus) / 8.0)


@core
def observe(S: State, window: np.ndarray, out: np.ndarray) -> None:
    """Write the parts one behind the other."""
    out[:] = 0.0
    nodes, gpus, many = np.int64(S.nodes.shape[0]), np.int64(S.gpus.shape[0]), S.g[0].schedulers
    candidates = JOB + many
    touched = candidates + MOST_CANDIDATES * CANDIDATE
    on_gpus = touched + MOST_CANDIDATES * nodes
    if window[0] >= 0:
        _write_job(S, window[0], out, np.int64(0))
        out[JOB + scheduler_of(S, window[0])] = 1.0
        _write_candidates(S, window[0], out, candidates, touched)
    for x in range(gpus):
        if S.occupants[x, 0] >= 0:
            _write_gpu(S, S.occupants[x, 0], out, on_gpus + x * ON_GPU)
    _write_nodes(S, out, on_gpus + gpus * ON_GPU)
    _write_schedulers(S, out, on_gpus + gpus * ON_GPU + nodes * ON_NODE)
