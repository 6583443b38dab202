"""Logarithm and exponential of additions, multiplications and divisions only.

Those of the C library differ in the last digit between processors, and so would what is learnt by them.
"""

import numpy as np

from pointsman.engine.jit.compile import core

LN_2 = 0.6931471805599453
SQRT_HALF, SQRT_2 = 0.7071067811865476, 1.4142135623730951
TERMS = 11
"""Terms of the series of ln; exp has twice as many."""


@core
def ln(x: float) -> float:
    """The natural logarithm of a positive number."""
    twos = 0.0
    while x >= SQRT_2:
        x *= 0.5
        twos += 1.0
    while x < SQRT_HALF:
        x *= 2.0
        twos -= 1.0
    s = (x - 1.0) / (x + 1.0)
    total = 0.0
    for k in range(TERMS, -1, -1):
        total = total * s * s + 1.0 / (2.0 * k + 1.0)
    return twos * LN_2 + 2.0 * s * total


@core
def exp(y: float) -> float:
    """The exponential of a number from 0 to 40."""
    twos = np.int64(y / LN_2 + 0.5)
    rest = y - twos * LN_2
    total = 1.0
    for k in range(2 * TERMS, 0, -1):
        total = 1.0 + total * rest / k
    return total * np.float64(np.int64(1) << twos)
