"""When work will be done: the one place where a time is made of work and a rate."""

import math

import numpy as np

from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int
from pointsman.types import NEVER_MS

NEVER = NEVER_MS
FARTHEST_MS = 1 << 61
"""What takes longer never ends: int64 has no room for its end."""


@core
def after(now: Int, left: float, rate: float) -> Int:
    """The instant at which `left` nominal ms of work are done from `now` on; NEVER if that is too far away, the work is
    infinite or not a number, or no work is done.
    """
    if left <= 0.0:
        return now
    if not left < FARTHEST_MS * rate:
        return np.int64(NEVER)
    return now + np.int64(math.ceil(left / rate))
