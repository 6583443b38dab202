"""The waiting jobs that an agent sees: the first in order of each class, as many as it has slots."""

import numpy as np

from pointsman.engine.sdk.environments import ACTIVE, Int, State, before, cold, core, fits, over_limit

NOBODY = -1


@core
def can_start(S: State, j: Int) -> bool:
    """Whether job `j` could start now."""
    return fits(S, S.jobs[j].cls) and not over_limit(S, j)


@core
def _next(S: State) -> Int:
    """Which class (its position among those with waiting jobs) gives the next job: of those whose turn it is (by their
    ``lacking``, a counter here), the one whose next job (its ``fits``, a cursor here) is first in order; -1 if none.
    """
    best = head = turn = np.int64(-1)
    for i in range(S.g[0].active):
        C = S.classes[S.lists[ACTIVE, i]]
        j = C.fits
        if j >= 0 and (best < 0 or C.lacking < turn or (C.lacking == turn and before(S, j, head))):
            best = np.int64(i)
            head = j
            turn = C.lacking
    return best


@cold
def fill_window(S: State, window: np.ndarray) -> Int:
    """Write the slots of waiting jobs to `window`, in order, NOBODY behind them; how many there are.

    If not all have a place there: the first of each class, of those first that can start, then the second of each, and
    so on, so that the window does not fill with those that nothing fits.
    """
    for i in range(S.g[0].active):
        C = S.classes[S.lists[ACTIVE, i]]
        C.fits = S.buckets[S.lists[ACTIVE, i]].first
        C.lacking = 0 if can_start(S, C.fits) else 1
    n = np.int64(0)
    i = _next(S)
    while i >= 0 and n < window.shape[0]:
        C = S.classes[S.lists[ACTIVE, i]]
        at = n
        while at > 0 and before(S, C.fits, window[at - 1]):
            window[at] = window[at - 1]
            at -= 1
        window[at] = C.fits
        C.fits = S.jobs[C.fits].later
        C.lacking += 2 - C.lacking % 2
        n += 1
        i = _next(S)
    for i in range(n, window.shape[0]):
        window[i] = NOBODY
    return n


@core
def some_can_start(S: State) -> bool:
    """Whether any waiting job could."""
    if S.g[0].free == 0:
        return False
    for i in range(S.g[0].active):
        if can_start(S, S.buckets[S.lists[ACTIVE, i]].first):
            return True
    return False


@core
def may_wait(S: State) -> bool:
    """Whether time may pass: something runs, and so something will happen."""
    g = S.g[0]
    return g.running + g.starting + g.stopping > 0
