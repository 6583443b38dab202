"""What a policy in a run calls to see and do what an agent in the environment does."""

import numpy as np

from pointsman.engine.sdk.environments import Int, exported, open_state, over_limit
from pointsman.learn.environments.compiled.choosing import choose_for, look_for
from pointsman.learn.environments.compiled.columns import LATER, NOW, OVER_LIMIT
from pointsman.learn.environments.compiled.picking import start_by


@exported("int64(int64, int64, int64)")
def start(address: Int, j: Int, how: Int) -> Int:
    """Start waiting job `j` of a state on GPUs of picker `how`: OK, or why not (-1: too few)."""
    return start_by(open_state(address), j, how)


@exported("int64(int64, int64, int8[::1], int64)")
def look_at(address: Int, j: Int, mask: np.ndarray, by_gpu: Int) -> Int:
    """Fill `mask` with the GPUs or nodes that waiting job `j` may have next (last: to wait instead); LATER, ..."""
    S = open_state(address)
    if over_limit(S, j):
        return np.int64(OVER_LIMIT)
    return np.int64(NOW if look_for(S, j, mask, by_gpu != 0) else LATER)


@exported("int64(int64, int64, int64, int64)")
def choose(address: Int, j: Int, action: Int, by_gpu: Int) -> Int:
    """Give job `j` this GPU or node: -1 until its gang is complete, then OK, or why the engine refused it."""
    complete, answer = choose_for(open_state(address), j, action, by_gpu != 0)
    return answer if complete else np.int64(-1)
