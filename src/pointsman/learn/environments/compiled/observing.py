"""Observations, compiled apart from the episodes: what agents in training and policies in a run see, to the byte. A
unit of every module of an observation.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from pointsman.engine.sdk.environments import Int, exported, open_state
from pointsman.learn.environments.compiled import picking
from pointsman.learn.environments.compiled.columns import ADDRESS


def unit_of(observation: ModuleType) -> list[Callable[..., Any]]:
    """What is called of the observation of a module.

    Raises:
        AttributeError: the module lacks ``observe``.
    """
    observe = observation.observe

    @exported("void(int64[:, ::1], int64[:, ::1], float32[:, ::1], int64, int64)", releases_gil=True)
    def observe_all(sims: np.ndarray, windows: np.ndarray, out: np.ndarray, begin: Int, end: Int) -> None:
        """Write what simulations `begin` to before `end` look like, a row each."""
        for e in range(begin, end):
            observe(open_state(sims[e, ADDRESS]), windows[e], out[e])

    @exported("boolean(int64, int64[::1], int8[::1], float32[::1])")
    def look(address: Int, window: np.ndarray, mask: np.ndarray, out: np.ndarray) -> bool:
        """Write what one state looks like, and fill its window and mask as PickJob does.

        The state may be of any loop. Return whether any job can start.
        """
        S = open_state(address)
        some = picking.look(S, window, mask, window)
        observe(S, window, out)
        return some

    return [observe_all, look]
