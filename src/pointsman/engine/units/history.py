"""Estimates from history (`estimates.history`), which few runs ask for."""

import numpy as np

from pointsman.engine.estimates.history import FORETELL, foretell, learn
from pointsman.engine.jit.compile import exported
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state


@exported("int64(int64, int64, int64)")
def history(address: Int, what: Int, j: Int) -> Int:
    """FORETELL the work of a job, or LEARN from it."""
    S = open_state(address)
    if what == FORETELL:
        foretell(S, j)
    else:
        learn(S, j)
    return np.int64(0)
