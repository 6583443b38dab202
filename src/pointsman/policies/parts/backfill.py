"""FIFO without head blocking: which job is next. `fifo-backfill` and the placers share it, so that nothing but
placement differs between them.

Waiting jobs stand in one index for each demand class.
"""

import numpy as np

from pointsman.policies.sdk import ACTIVE, Int, State, before, block, blocked, core, fits


@core
def first_that_fits(S: State) -> Int:
    """The first waiting job, in order, that can be placed; classes found not to fit are blocked. -1 if there is
    none.
    """
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if not blocked(S, c):
            if not fits(S, c):
                block(S, c)
            else:
                j = S.buckets[c].first
                if best < 0 or before(S, j, best):
                    best = j
    return best
