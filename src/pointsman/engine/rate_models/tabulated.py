"""Rates that are looked up in a table (``goodput``, ``tree``), where a factor slows the computing behind them
(``docs/reference/semantics.md`` §14).
"""

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.jit.compile import core
from pointsman.engine.rate_models.rates import STEP_COLUMN, accumulated_s, overlapped_s, row_of
from pointsman.engine.state.records import RATE_STEP, Int, State
from pointsman.engine.state.state_pointer import call_apart
from pointsman.types import LOCALITIES


def rate_steps(passes: NDArray[np.float64], exchange: NDArray[np.float64]) -> NDArray[np.void]:
    """RATE_STEP of the same shape."""
    steps = np.zeros(passes.shape, RATE_STEP)
    steps["passes"], steps["exchange"] = passes, exchange
    return steps


@core
def _iteration(compute: float, exchange: float, passes: float, delta: float) -> float:
    """An iteration whose passes take `compute` of those without factors, in these."""
    last = overlapped_s(compute, exchange, delta) if exchange > 0.0 else compute
    return accumulated_s(compute, last, passes)


@core
def longer_iteration(S: State, j: Int) -> float:
    """How many times as long an iteration of job `j` takes where its computing takes ``slow_computing`` times as long,
    if its rate is from a table; else that.
    """
    J = S.jobs[j]
    at, column = row_of(S, j), np.int64(0)
    if S.g[0].rating != 0:
        column = call_apart(S.g[0].rating, S.g[0].address, np.int64(STEP_COLUMN), j)
    elif S.g[0].stages > 0:
        at, column = at * S.g[0].stages + J.stage, J.gpus * LOCALITIES + J.locality
    else:
        return J.slow_computing
    X = S.rate_steps[at, column]
    if X.passes <= 0.0:
        return J.slow_computing
    delta = S.models[row_of(S, j)].delta
    return _iteration(J.slow_computing, X.exchange, X.passes, delta) / _iteration(1.0, X.exchange, X.passes, delta)
