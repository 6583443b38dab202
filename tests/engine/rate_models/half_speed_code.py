"""The compiled code of the toy base model `half_speed`."""

import numpy as np

from pointsman.engine.jit.compile import exported
from pointsman.engine.rate_models.rates import FINEST, STEP_COLUMN
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state


@exported("int64(int64, int64, int64)")
def rating(address: Int, what: Int, j: Int) -> Int:
    """See `rates.RATE`."""
    if what == STEP_COLUMN:
        return np.int64(0)
    J = open_state(address).jobs[j]
    return np.int64(FINEST / (J.slow * J.slow_computing * (2.0 if J.nodes > 1 else 1.0)))
