"""Tetris, as a placer of gangs: each worker goes where the free shares of GPUs and of cores add up to the most.

Grandl et al. (SIGCOMM 2014) pack by the dot product of what a task takes and what is free; with one GPU a worker the
spec's form (``docs/papers/marl.md``) is the sum of the free shares.
"""

from typing import ClassVar

from pointsman.policies.placers.declared import Placer
from pointsman.policies.placers.one_by_one import SHARES, note_one_by_one
from pointsman.policies.placers.placer import alternative_of, next_job, on_event, on_run, start_there
from pointsman.policies.sdk import Profile, State, core

__all__ = ["TetrisPlace", "decide", "on_event", "on_run"]


class TetrisPlace(Placer):
    """Worker by worker onto the node with the largest free share of GPUs plus free share of cores, whatever its rack.
    Cores are counted under ``--node-interference``.
    """

    name: ClassVar[str] = "tetris-place"
    hooks: ClassVar[str] = "pointsman.policies.placers.tetris_place"
    profiles: ClassVar[tuple[Profile, ...]] = ("nodes",)


@core
def decide(S: State) -> None:
    """Start every job that fits, in order."""
    j = next_job(S)
    while j >= 0:
        note_one_by_one(S, j, alternative_of(S, j), SHARES)
        start_there(S, j)
        j = next_job(S)
