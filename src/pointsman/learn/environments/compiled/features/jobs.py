"""What observations say of jobs and of the cluster, as numbers from 0 to 1."""

import numpy as np

from pointsman.engine.sdk.environments import Int, State, cold, core, row_of
from pointsman.learn.environments.compiled.columns import memory
from pointsman.learn.environments.compiled.features.scale import log2, of_gpus, of_time, share
from pointsman.learn.environments.compiled.window import can_start
from pointsman.policies.pickers.gpu_pickers import NEAREST, choose_gpus

JOB_FEATURES, PLACE_FEATURES, GLOBALS = 8, 2, 6


@cold
def write_jobs(S: State, window: np.ndarray, out: np.ndarray, at: Int, width: Int) -> None:
    """For each job of the window: GPUs (as a share, and by logarithm), length, waiting time, bytes of its gradients
    (1 kB to 1 TB), seconds of an iteration's computing (1 ms to 1000 s), whether it can start now, whether there is
    one. Jobs are `width` numbers apart.
    """
    total = S.g[0].gpus
    for i in range(window.shape[0]):
        j = window[i]
        if j < 0:
            for k in range(JOB_FEATURES):
                out[at + k] = 0.0
        else:
            J = S.jobs[j]
            M = S.models[row_of(S, j)]
            out[at] = J.asked / total
            out[at + 1] = of_gpus(S, J.asked)
            out[at + 2] = of_time(J.estimate)
            out[at + 3] = of_time(np.float64(S.g[0].now - J.pend_since))
            out[at + 4] = share(M.bytes, 1e3, 1e12)
            out[at + 5] = share(M.compute, 1e-3, 1e3)
            out[at + 6] = 1.0 if can_start(S, j) else 0.0
            out[at + 7] = 1.0
        at += width


@core
def _racks_of_place(S: State) -> Int:
    """How many racks the nodes in State.place are of."""
    S.g[0].attempt += 1
    racks = np.int64(0)
    for i in range(S.g[0].placed):
        R = S.racks[S.nodes[S.place[i].node].rack]
        if R.tally_attempt != S.g[0].attempt:
            R.tally_attempt = S.g[0].attempt
            racks += 1
    return racks


@core
def write_places(S: State, window: np.ndarray, out: np.ndarray, at: Int, width: Int) -> None:
    """For each job of the window, where the closest free GPUs would put it now: one over the nodes, and over the
    racks; 0 if it cannot start.
    """
    for i in range(window.shape[0]):
        j = window[i]
        nodes = racks = np.int64(0)
        if j >= 0 and can_start(S, j) and choose_gpus(S, j, np.int64(NEAREST), memory(S).draws):
            nodes = S.g[0].placed
            racks = _racks_of_place(S)
        out[at] = 1.0 / nodes if nodes > 0 else 0.0
        out[at + 1] = 1.0 / racks if racks > 0 else 0.0
        at += width


@cold
def write_globals(S: State, window: np.ndarray, out: np.ndarray, at: Int) -> None:
    """Share of GPUs free; of jobs beyond the window (up to 2**16) and GPUs that all waiting jobs ask for (up to 256
    times the cluster), by logarithm; running jobs, by logarithm; the freest node's share of free GPUs; nodes wholly
    free.
    """
    g = S.g[0]
    beyond = max(np.int64(0), g.pending - window.shape[0])
    out[at] = g.free / g.gpus
    out[at + 1] = min(1.0, log2(1.0 + beyond) / 16.0)
    out[at + 2] = min(1.0, log2(1.0 + g.queued_gpus / g.gpus) / 8.0)
    out[at + 3] = of_gpus(S, g.running)
    freest = 0.0
    whole = np.int64(0)
    for p in range(S.pools.shape[0]):
        size = S.pools[p].gpus
        whole += S.counts[p, size]
        most = size
        while most > 0 and S.counts[p, most] == 0:
            most -= 1
        freest = max(freest, most / size)
    out[at + 4] = freest
    out[at + 5] = whole / S.nodes.shape[0]
