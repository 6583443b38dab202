"""Waiting transfers in the order in which policies look at them: least remaining service first."""

import numpy as np

from pointsman.engine.jit.compile import core
from pointsman.engine.rate_models.chains.transfers import service_left
from pointsman.engine.state.records import WAITING, Int, State


@core
def next_transfer(S: State, service: float, row: Int) -> Int:
    """The job whose transfer waits next after (`service`, `row`): with the least service left, then the lowest row; -1
    if none. Admitting transfers in between does no harm.
    """
    best = np.int64(-1)
    least = np.inf
    for i in range(S.g[0].waiting):
        j = S.lists[WAITING, i]
        left = service_left(S, j)
        if left < service or (left == service and S.jobs[j].row <= row):
            continue
        if best < 0 or left < least or (left == least and S.jobs[j].row < S.jobs[best].row):
            best = j
            least = left
    return best
