"""Bits of one int64 word, the same with the JIT on and off."""

from typing import Any

import numpy as np

from pointsman.engine.jit.compile import core
from pointsman.engine.jit.mode import COMPILING
from pointsman.engine.state.records import Int

if not COMPILING:

    def lowest(word: Int) -> Int:
        """Index of the lowest set bit of `word` (not 0)."""
        return (int(word) & -int(word)).bit_length() - 1

    def count(word: Int) -> Int:
        """How many bits of `word` are set."""
        return (int(word) & 0xFFFFFFFFFFFFFFFF).bit_count()

    def without_lowest(word: Int) -> Int:
        """`word` without its lowest set bit; of 0 nothing is left."""
        if word == 0:
            return word
        return word & ~(np.int64(1) << np.int64(lowest(word)))  # ``word - 1`` overflows where only the highest is set

else:
    from numba import types
    from numba.cpython.unsafe.numbers import trailing_zeros
    from numba.extending import intrinsic

    @core
    def lowest(word: Int) -> Int:
        """Index of the lowest set bit of `word` (not 0)."""
        return np.int64(trailing_zeros(word))

    @core
    def without_lowest(word: Int) -> Int:
        """`word` without its lowest set bit; of 0 nothing is left."""
        return word & (word - np.int64(1))

    def _ones(typingctx: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.int64), codegen

    ones: Any = intrinsic(_ones)

    @core
    def count(word: Int) -> Int:
        """How many bits of `word` are set."""
        return ones(word)


@core
def bit(index: Int) -> Int:
    """The word with only bit `index` set."""
    return np.int64(1) << np.int64(index)
