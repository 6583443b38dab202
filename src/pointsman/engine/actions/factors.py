"""A job begins or ceases to run: the factors of the run take account of it, and mark those whose speed this changes."""

import numpy as np

from pointsman.engine.jit.compile import cold, core
from pointsman.engine.state.records import BEGIN, CEASE, FACTOR_SHIFT, Int, State
from pointsman.engine.state.state_pointer import call_apart, open_state


@cold
def _ask_all(address: Int, what: Int, j: Int) -> None:
    S = open_state(address)
    for f in range(S.g[0].factors):
        call_apart(S.factors[f].unit, address, np.int64(f << FACTOR_SHIFT | what), j)


@core
def begin_running(S: State, j: Int) -> None:
    """Job `j` runs from now on, where it is."""
    if S.g[0].factors > 0:
        _ask_all(S.g[0].address, np.int64(BEGIN), j)


@core
def cease_running(S: State, j: Int) -> None:
    """Job `j`, which runs, is about to be stopped, to end or to change its GPUs."""
    if S.g[0].factors > 0:
        _ask_all(S.g[0].address, np.int64(CEASE), j)
