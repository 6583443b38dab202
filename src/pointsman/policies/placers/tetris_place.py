"""Tetris, as a placer of gangs: each worker goes where the free shares of GPUs and of cores add up to the most.

Grandl et al. (SIGCOMM 2014) pack by the dot product of what a task takes and what is free; with one GPU a worker the
spec's form (``docs/papers/marl.md``) is the sum of the free shares.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.parts.gpu_marks import clear, free_on, given, mark
from pointsman.policies.placers.placer import Placer, alternative_of, next_gang, on_event, on_run, start_there
from pointsman.policies.placers.sockets import note_marked
from pointsman.policies.sdk import Int, State, cold, core, free_core_share

__all__ = ["TetrisPlace", "decide", "on_event", "on_run"]


class TetrisPlace(Placer):
    """Worker by worker onto the node with the largest free share of GPUs plus free share of cores, whatever its rack.
    Cores are counted under ``--node-interference``.
    """

    name: ClassVar[str] = "tetris-place"
    hooks: ClassVar[str] = "pointsman.policies.placers.tetris_place"


@core
def _freest(S: State, j: Int, a: Int) -> Int:
    """The node for the next worker of job `j`; lowest index among equals."""
    best = np.int64(-1)
    most = -np.inf
    for n in range(S.nodes.shape[0]):
        node = np.int64(n)
        left = free_on(S, a, node) - given(S, node)
        if left > 0:
            share = left / S.nodes[n].gpus + free_core_share(S, j, node, given(S, node))
            if share > most:
                best = node
                most = share
    return best


@cold
def _note_freest(S: State, j: Int) -> None:
    """Note in State.place where Tetris puts job `j`, which fits."""
    a = alternative_of(S, j)
    clear(S)
    for _ in range(S.classes[S.jobs[j].cls].gpus):
        n = _freest(S, j, a)
        mark(S, n, given(S, n) + 1)
    note_marked(S)


@core
def decide(S: State) -> None:
    """Start every job that fits, in order."""
    j = next_gang(S)
    while j >= 0:
        _note_freest(S, j)
        start_there(S, j)
        j = next_gang(S)
