"""What compiled code reads of the numbers of a factor."""

import numpy as np

from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State


@core
def whole_number(S: State, f: Int, i: Int) -> Int:
    """Number `i` of factor `f`, which is whole."""
    return np.int64(S.factor_numbers[S.factors[f].numbers + i])
