"""What policies ask of jobs that are chains of iterations: what is left of them and of their transfers
(``docs/reference/semantics.md`` §9).
"""

import numpy as np

from pointsman.engine.jit.compile import core
from pointsman.engine.rate_models.rates import row_of
from pointsman.engine.state.codes import RUNNING
from pointsman.engine.state.records import UNDER_WAY, Int, State


@core
def sends(S: State, j: Int) -> bool:
    """Whether placed job `j` ends its iterations with a transfer."""
    return S.jobs[j].nodes > 1 and S.steps[row_of(S, j)].transfer_ms > 0.0


@core
def iterations_left(S: State, j: Int) -> float:
    """How many iterations job `j` is told to have left, the one under way included; 0 if that is unknown."""
    J = S.jobs[j]
    left = J.estimate - (J.done_when_rated if J.state == RUNNING else J.done)
    return np.floor(left / S.steps[row_of(S, j)].solo + 0.5) if left > 0.0 else 0.0


@core
def service_left(S: State, j: Int) -> float:
    """GPU-ms that job `j` is told to have left to compute, all its workers together."""
    X = S.steps[row_of(S, j)]
    return iterations_left(S, j) * np.float64((X.fw + X.bw) * S.jobs[j].asked)


@core
def transfer_left(S: State, j: Int) -> float:
    """Ms that the transfer of job `j`, waiting or under way, would still take alone, latency apart."""
    T = S.transfers[j]
    elapsed = S.g[0].now - T.rated
    if T.state != UNDER_WAY or elapsed <= 0:
        return T.left
    return max(0.0, T.left - np.floor(T.rate * elapsed * 1024.0) / 1024.0)


@core
def most_under_way(S: State, j: Int) -> Int:
    """The most transfers under way on any node of placed job `j`."""
    most = np.int64(0)
    i = S.jobs[j].part
    while i >= 0:
        most = max(most, S.nics[S.parts[i].node].under_way)
        i = S.parts[i].next
    return most
