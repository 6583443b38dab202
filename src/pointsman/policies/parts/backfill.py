"""FIFO without head blocking: which classes of jobs have room, and which job is next. `fifo-backfill` and the placers
share it, so that nothing but placement differs between them.

Waiting jobs stand in one index for each demand class.
"""

import numpy as np

from pointsman.policies.sdk import ACTIVE, Int, State, before, block, blocked, core, fits


@core
def has_room(S: State, c: Int) -> bool:
    """Whether jobs of class `c` can be placed on what is free; if not, the class is blocked for this pass."""
    if blocked(S, c):
        return False
    if not fits(S, c):
        block(S, c)
        return False
    return True


@core
def first_that_fits(S: State) -> Int:
    """The first waiting job, in order, that can be placed; -1 if there is none."""
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if has_room(S, c):
            j = S.buckets[c].first
            if best < 0 or before(S, j, best):
                best = j
    return best
