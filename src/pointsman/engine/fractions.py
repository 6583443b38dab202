"""Room for jobs that ask for a fraction of a GPU (``docs/reference/semantics.md`` §10)."""

import numpy as np

from pointsman.engine.bits import bit, lowest
from pointsman.engine.compile import cold, core
from pointsman.engine.eligible import admits
from pointsman.engine.handle import open_state
from pointsman.engine.occupancy import WHOLE
from pointsman.engine.records import Int, State


@core
def _admitted(S: State, c: Int, n: Int) -> bool:
    """Whether node `n` is UP and eligible for class `c`."""
    C = S.classes[c]
    if S.nodes[n].state != 0:
        return False
    for a in range(C.alt, C.alt_end):
        if admits(S, S.alts[a], S.nodes[n].pool):
            return True
    return False


@cold
def _divided_gpu(address: Int, c: Int) -> Int:
    """Of the GPUs that jobs divide among them, the fullest with room for class `c`, lowest first; -1 if none."""
    S = open_state(address)
    milli = S.classes[c].milli
    best = np.int64(-1)
    least = np.int64(WHOLE)
    for n in range(S.nodes.shape[0]):
        mask = S.nodes[n].fractions
        if mask == 0 or not _admitted(S, c, n):
            continue
        while mask != 0:
            x = S.nodes[n].gpu0 + lowest(mask)
            mask &= mask - np.int64(1)
            X = S.gpus[x]
            if X.used < S.g[0].limit and milli <= X.free_milli < least:
                best = x
                least = X.free_milli
    return best


@core
def divided_gpu(S: State, c: Int) -> Int:
    """The GPU, already divided, that a job of class `c` would get a fraction of; -1 if none, or if it asks for whole
    ones.
    """
    if S.g[0].fractions == 0 or S.classes[c].milli >= WHOLE:
        return np.int64(-1)
    return _divided_gpu(S.g[0].address, c)


@core
def place_on(S: State, x: Int) -> None:
    """GPU `x`, which is divided, is the place of a job: State.place[:1]."""
    n = np.int64(0)
    while S.nodes[n].gpu0 + S.nodes[n].gpus <= x:
        n += 1
    S.place[0].node = n
    S.place[0].mask = bit(x - S.nodes[n].gpu0)
    S.place[0].gpus = 1
    S.g[0].placed = 1
