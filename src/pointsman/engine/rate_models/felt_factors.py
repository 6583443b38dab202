"""How many times as long a running job takes by the factors of the run (``docs/reference/semantics.md`` §10)."""

import numpy as np

from pointsman.engine.actions.running import settle
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.rate_models.tabulated import longer_iteration
from pointsman.engine.state.records import FACTOR_SHIFT, OF_POLICY, SLOW, Int, State
from pointsman.engine.state.state_pointer import call_apart, open_state

MOST = 1e6
"""Times as long: what a factor says beyond is a mistake in it."""


@core
def ask_factors(S: State, j: Int, but: Int) -> None:
    """Find out how many times as long an iteration of job `j` takes where it is, and its computing, by the factors but
    for those of the role `but` (OF_POLICY, OF_RUN); count nothing of its time until now. None is asked once one was
    wrong, so that what it said can be told.
    """
    J = S.jobs[j]
    J.slow = 1.0
    J.slow_computing = 1.0
    for f in range(S.g[0].factors):
        F = S.factors[f]
        if F.role == but or S.g[0].wrong_factor != 0:
            continue
        call_apart(F.unit, S.g[0].address, np.int64(f << FACTOR_SHIFT | SLOW), j)
        if not 1.0 <= F.found <= MOST:
            S.g[0].wrong_factor = f + 1  # which stops the run
        elif F.on_computing:
            J.slow_computing *= F.found
        else:
            J.slow *= F.found
    if J.slow_computing > 1.0:
        J.slow_computing = longer_iteration(S, j)


@cold
def _feel(address: Int, j: Int) -> None:
    S = open_state(address)
    settle(S, j)  # at the slow-down that was
    ask_factors(S, j, np.int64(OF_POLICY))


@core
def feel_factors(S: State, j: Int) -> None:
    """Find out how many times as long an iteration of running job `j` takes where it is, and its computing."""
    if S.g[0].factors > 0 and not S.g[0].outside:  # else what it felt is told
        _feel(S.g[0].address, j)
