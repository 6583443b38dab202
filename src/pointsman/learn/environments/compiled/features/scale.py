"""Numbers over many orders of magnitude as shares from 0 to 1, the same to the last bit with the JIT on and off."""

import numpy as np

from pointsman.engine.sdk.environments import COMPILING, Int, State, core

SHORTEST_MS, LONGEST_MS = 60_000.0, 864_000_000.0
"""A minute and ten days: times are told between them."""
ROWS = 20
"""Rows of images with a time axis: now, and then 19 times at equal logarithmic distances, up to the longest."""

if not COMPILING:

    def _bits(x: float) -> Int:
        return np.float64(x).view(np.int64)

else:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def _bits(typingctx, x):
        def codegen(context, builder, signature, args):
            return builder.bitcast(args[0], ir.IntType(64))

        return types.int64(types.float64), codegen


@core
def log2(x: float) -> float:
    """The logarithm of x > 0, exact at powers of two and straight between them: the bits of the number itself."""
    return _bits(np.float64(x)) / 4503599627370496.0 - 1023.0


@core
def share(x: float, least: float, most: float) -> float:
    """Where `x` is between `least` (0) and `most` (1), by its logarithm; beyond them, at the end."""
    if not x > least:
        return 0.0
    if x >= most:
        return 1.0
    low = log2(least)
    return (log2(x) - low) / (log2(most) - low)


@core
def of_time(ms: float) -> float:
    """A time, from a minute to ten days; 0 where nothing is known."""
    return share(ms, SHORTEST_MS, LONGEST_MS)


@core
def of_gpus(S: State, n: Int) -> float:
    """A number of GPUs: 0 for none, 1 for all."""
    return log2(1.0 + n) / log2(1.0 + S.g[0].gpus)


@core
def rows(ms: float) -> Int:
    """How many rows of an image a time fills, that of now included."""
    return 1 + np.int64(of_time(ms) * (ROWS - 1))
