"""Choices by chance: a hash of a seed and of what is chosen for, the same with and without the JIT."""

import numpy as np

from pointsman.policies.parts.gpu_marks import add_node, free_on
from pointsman.policies.sdk import Int, Record, State, bit, core, free_gpus, lowest, whole, without_lowest


class Draws(Record):
    """Choices made by chance."""

    seed = whole("their seed")
    count = whole("how many there were")


@core
def hashed(a: Int, b: Int, c: Int) -> Int:
    """A well-mixed number below 2**32; products stay below 2**63 so that it is the same without the JIT."""
    h = np.int64(0x9E3779B9)
    for x in (a, b, c):
        h = ((h ^ (x & 0xFFFFFFFF)) * 73244475) & 0xFFFFFFFF
        h = ((h ^ (h >> 16)) * 73244475) & 0xFFFFFFFF
        h ^= h >> 16
    return h


@core
def note_random(S: State, a: Int, need: Int, seed: Int, draw: Int) -> None:
    """Any free GPUs of alternative `a`, each set of them as likely as any other, are the place."""
    left = free_gpus(S, S.alts[a])
    for n in range(S.nodes.shape[0]):
        free = S.nodes[n].free_mask if free_on(S, a, np.int64(n)) > 0 else np.int64(0)
        mask = k = np.int64(0)
        while free != 0 and need > 0:
            if hashed(seed, draw, left) * left < need << 32:
                mask |= bit(lowest(free))
                k += 1
                need -= 1
            left -= 1
            free = without_lowest(free)
        if k > 0:
            add_node(S, np.int64(n), mask, k)
