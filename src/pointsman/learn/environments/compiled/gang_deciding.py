"""What MARL's policy calls in a run to ask for a job to decide about, and to do what its network chose."""

import numpy as np

from pointsman.engine.sdk.environments import Int, exported, open_state
from pointsman.learn.environments.compiled import gangs
from pointsman.learn.environments.compiled.usual import usual


@exported("boolean(int64, int64[::1], int8[::1])")
def look(address: Int, window: np.ndarray, mask: np.ndarray) -> bool:
    """Fill `window` with the next job to be decided about, and `mask`; whether there is one."""
    return gangs.is_choice(open_state(address), window, mask, window)


@exported("int64(int64, int64[::1], int64)")
def act(address: Int, window: np.ndarray, action: Int) -> Int:
    """Do `action` with the job in `window`: OK, or why the engine refused it."""
    return gangs.act(open_state(address), window, action, window)[1]


@exported("int64(int64, int64[::1], int8[::1], float64[::1])")
def scorers_choice(address: Int, window: np.ndarray, mask: np.ndarray, weights: np.ndarray) -> Int:
    """What `scorer` with these weights of candidates does with the job in `window`, about which `look` has asked."""
    return usual(open_state(address), window[0], mask, weights)
