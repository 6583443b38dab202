"""The audit (`run.audit`), which few runs ask for."""

import numpy as np

from pointsman.engine.jit.compile import exported
from pointsman.engine.run import audit as invariants
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state, open_world


@exported("int64(int64, int64, int64)")
def audit(address: Int, what: Int, j: Int) -> Int:
    """The first invariant found broken, 0 if none."""
    return np.int64(invariants.audit(open_state(address), open_world(address)))
