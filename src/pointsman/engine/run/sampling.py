"""Samples of the state, equally spaced in simulated time and at most as many as there is room for."""

import numpy as np

from pointsman.engine.index.treap import before
from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State, World


@core
def _largest_free(S: State) -> Int:
    most = np.int64(0)
    for p in range(S.pools.shape[0]):
        for free in range(S.pools[p].gpus, most, -1):
            if S.counts[p, free] > 0:
                most = np.int64(free)
                break
    return most


@core
def _whole_free(S: State) -> Int:
    n = np.int64(0)
    for p in range(S.pools.shape[0]):
        n += S.counts[p, S.pools[p].gpus]
    return n


@core
def _head_gpus(S: State) -> Int:
    """GPUs asked for by the first waiting job in the policy's order, 0 if none waits."""
    head = np.int64(-1)
    for b in range(S.g[0].classes + S.g[0].queues):
        j = S.buckets[b].first
        if j >= 0 and (head < 0 or before(S, j, head)):
            head = j
    return S.jobs[head].asked if head >= 0 else np.int64(0)


@core
def _thin_out(W: World) -> None:
    """Keep every second sample and sample half as often."""
    C = W.clock[0]
    C.samples = C.samples // 2
    for i in range(C.samples):
        W.samples[i] = W.samples[2 * i + 1]
    C.sample_every *= 2


@core
def sample(S: State, W: World) -> None:
    """Record the state as it is after the pass."""
    C = W.clock[0]
    g = S.g[0]
    if C.samples == W.samples.shape[0]:
        _thin_out(W)
    X = W.samples[C.samples]
    X.time = g.now
    X.used = g.gpus - g.free
    X.running = g.running + g.starting + g.stopping
    X.pending = g.pending
    X.queued_gpus = g.queued_gpus
    X.largest_free = _largest_free(S)
    X.whole_free = _whole_free(S)
    X.head_gpus = _head_gpus(S)
    C.samples += 1
    C.sample_next = g.now - g.now % C.sample_every + C.sample_every
