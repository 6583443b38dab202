"""The waiting jobs that an agent sees: the first in order, whatever their classes."""

import numpy as np

from pointsman.engine.compile import core
from pointsman.engine.ordered import before, following
from pointsman.engine.placing import fits
from pointsman.engine.queueing import over_limit
from pointsman.engine.records import ACTIVE, Int, State

NOBODY = -1


@core
def _first(S: State) -> Int:
    """Which class with waiting jobs (its position) has the first of those that its ``fits``, a cursor here, points at;
    -1 if none.
    """
    best = np.int64(-1)
    head = np.int64(-1)
    for i in range(S.g[0].active):
        j = S.classes[S.lists[ACTIVE, i]].fits
        if j >= 0 and (head < 0 or before(S, j, head)):
            best = np.int64(i)
            head = j
    return best


@core
def fill_window(S: State, window: np.ndarray) -> Int:
    """Write the slots of the first waiting jobs to `window`, NOBODY behind them; how many there are."""
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        S.classes[c].fits = S.buckets[c].first
    n = np.int64(0)
    while n < window.shape[0]:
        i = _first(S)
        if i < 0:
            break
        C = S.classes[S.lists[ACTIVE, i]]
        window[n] = C.fits
        C.fits = following(S, C.fits)
        n += 1
    for i in range(n, window.shape[0]):
        window[i] = NOBODY
    return n


@core
def can_start(S: State, j: Int) -> bool:
    """Whether job `j` could start now."""
    return fits(S, S.jobs[j].cls) and not over_limit(S, j)


@core
def may_wait(S: State) -> bool:
    """Whether time may pass: something runs, and so something will happen."""
    g = S.g[0]
    return g.running + g.starting + g.stopping > 0
