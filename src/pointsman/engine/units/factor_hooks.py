"""What the loop asks of a factor, called by its address in ``State.factors``: a unit of each factor's module."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from pointsman.engine.jit.compile import exported
from pointsman.engine.state.records import BEGIN, FACTOR_SHIFT, SLOW, Int
from pointsman.engine.state.state_pointer import open_state


def unit_of(of: ModuleType) -> list[Callable[..., Any]]:
    """The one function that is called of the factor of a module.

    Raises:
        AttributeError: the module lacks ``slowed``, ``begin`` or ``cease``.
    """
    slowed, begin, cease = of.slowed, of.begin, of.cease

    @exported("int64(int64, int64, int64)")
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

    return [factor]
