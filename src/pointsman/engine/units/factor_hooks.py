"""What the loop asks of a factor, which it calls by its address in ``State.factors``.

This module is a template: `load_factor` writes copies in which the import of the hooks names another factor.
"""

import numpy as np

from pointsman.engine.jit.compile import apart
from pointsman.engine.rate_models.factors.co_runners import begin, cease, slowed
from pointsman.engine.state.records import BEGIN, FACTOR_SHIFT, SLOW, Int
from pointsman.engine.state.state_pointer import open_state


@apart("int64(int64, int64, int64)")
def factor(address: Int, what: Int, j: Int) -> Int:
    """See `records.SLOW`."""
    S = open_state(address)
    f = what >> FACTOR_SHIFT
    asked = what & ((1 << FACTOR_SHIFT) - 1)
    if asked == SLOW:
        S.factors[f].found = slowed(S, f, j)
    elif asked == BEGIN:
        begin(S, f, j)
    else:
        cease(S, f, j)
    return np.int64(0)
