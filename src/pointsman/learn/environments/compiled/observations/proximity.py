"""What an agent sees that chooses GPUs one after another: Proximity-DRL's vector (``docs/papers/topdrl.md`` §4),
for GPUs or nodes, padded to 128 of them.
"""

import numpy as np

from pointsman.engine.sdk.environments import Int, State, core
from pointsman.learn.environments.compiled.columns import gpu
from pointsman.learn.environments.compiled.features.scale import of_gpus, of_time
from pointsman.policies.parts.time_left import ms_left

PLACES = 128
MOST_GPUS = 64
"""GPUs of a cluster up to which they are chosen themselves; beyond, nodes."""
LONGEST_MS = 50 * 241_500.0
"""Remaining times are told up to fifty of the authors' steps."""


def shapes(slots: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the arrays of an observation.

    `chosen`, `free` and `remaining` have an entry for each GPU or node: the share of it that is chosen for this job,
    the share that is free, and the remaining time of what runs there. `job` is the job's length, its GPUs, and how many
    of them it still needs.
    """
    return {"chosen": (PLACES,), "free": (PLACES,), "remaining": (PLACES,), "job": (3,)}


@core
def _write_gpu(S: State, x: Int, place: Int, part: float, out: np.ndarray) -> None:
    """GPU `x` is `part` of a place, if that is one of those shown."""
    if place >= PLACES:
        return
    j = S.occupants[x, 0]
    if gpu(S, x).chosen:
        out[place] += part
    if j < 0:
        out[PLACES + place] += part
    else:
        out[2 * PLACES + place] += part * min(1.0, ms_left(S, j) / LONGEST_MS)


@core
def _write_job(S: State, window: np.ndarray, out: np.ndarray, chosen: Int) -> None:
    at = 3 * PLACES
    for k in range(3):
        out[at + k] = 0.0
    if window[0] >= 0:
        J = S.jobs[window[0]]
        out[at] = of_time(J.estimate)
        out[at + 1] = of_gpus(S, J.asked)
        out[at + 2] = of_gpus(S, J.asked - chosen)


@core
def observe(S: State, window: np.ndarray, out: np.ndarray) -> None:
    """Write the parts one behind the other."""
    for i in range(3 * PLACES):
        out[i] = 0.0
    chosen = np.int64(0)
    for n in range(S.nodes.shape[0]):
        N = S.nodes[n]
        for x in range(N.gpu0, N.gpu0 + N.gpus):
            chosen += 1 if gpu(S, x).chosen else 0
            if S.g[0].gpus <= MOST_GPUS:
                _write_gpu(S, np.int64(x), np.int64(x), 1.0, out)
            else:
                _write_gpu(S, np.int64(x), np.int64(n), 1.0 / N.gpus, out)
    for i in range(3 * PLACES):
        out[i] = min(out[i], np.float32(1.0))
    _write_job(S, window, out, chosen)
