"""Directed exploration: now and then a job goes where least is known, within a bound and a budget (Yang et al., IEEE
TCC 2023, explore where the model may be wrong; the bound and the budget are ours).
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pointsman.policies.sdk import View

Floats = NDArray[np.float64]


class Explored(NamedTuple):
    """What was expected of a job that was placed to learn from it."""

    began_ms: int
    slowness: float
    """How many times as long it was to take, with the harm it does to others."""
    least: float
    """That of the best place."""
    gpu_ms: float
    """What it was to take there."""

    def record(self, row: int) -> dict[str, float | int]:
        """For the directory of a run, with the row of the job in ``jobs.parquet``."""
        return {
            "row": row,
            "time_s": self.began_ms / 1e3,
            "forecast": round(self.slowness, 6),
            "forecast_of_best": round(self.least, 6),
            "forecast_gpu_s": round(self.gpu_ms / 1e3, 3),
        }


class Exploration:
    """Which placements of one run are made to learn from them.

    Args:
        chance: of a decision to be one, if there is budget.
        share: of all GPU time so far that explored placements may take, by what is forecast of them.
        bound: how much longer a job may take, with the harm it does, than in the best place, as a share.
        seed: of the draws.
        directed: where least is known; else anywhere within the bound.
    """

    def __init__(self, chance: float, share: float, bound: float, seed: int, directed: bool = True) -> None:
        self.chance, self.share, self.bound, self._seed, self._directed = chance, share, bound, seed, directed
        self.begin()

    def begin(self) -> None:
        """Nothing was explored yet."""
        self._random = np.random.default_rng([self._seed, 1])
        self._now_ms = self._held = 0
        self.all_gpu_ms = self.explored_gpu_ms = 0.0
        self.explored: dict[int, Explored] = {}
        """By row of the job, the last time that it was placed so."""

    def time_passes(self, view: "View") -> None:
        """Count the GPU time since the last decision; in rounds, when jobs have ended in between, no more than those
        that remain have taken.
        """
        held = self._held
        if view.state.g[0]["round_ms"] > 0:
            held = min(held, int(view.jobs["gpus"].sum()))
        self.all_gpu_ms += held * (view.now_ms - self._now_ms)
        self._now_ms = view.now_ms

    def note_placed(self, view: "View") -> None:
        """From now on these jobs hold their GPUs."""
        self._held = int(view.jobs["gpus"].sum())

    @property
    def left_gpu_ms(self) -> float:
        """What is left of the budget."""
        return self.share * self.all_gpu_ms - self.explored_gpu_ms

    def is_due(self) -> bool:
        """Whether this decision may be one."""
        return bool(self._random.random() < self.chance) and self.left_gpu_ms > 0

    def choice(self, usual: int, slowness: Floats, unknown: Floats, gpu_ms: float) -> int:
        """The candidate of which least is known, of those within the bound and the budget; the `usual` one if it is no
        better known. Arrays as of `watching.weigh`; `gpu_ms` is what the job takes unhindered.
        """
        within = (slowness <= (1 + self.bound) * slowness.min()) & (slowness * gpu_ms <= self.left_gpu_ms)
        if not self._directed:
            return int(self._random.choice(np.flatnonzero(within))) if within.any() else usual
        best = int(np.where(within, unknown, -1.0).argmax())
        return best if within[best] and unknown[best] > unknown[usual] else usual

    def note(self, row: int, slowness: float, least: float, gpu_ms: float) -> None:
        """The job of this row has just been placed to learn from it."""
        self.explored[row] = Explored(self._now_ms, slowness, least, slowness * gpu_ms)
        self.explored_gpu_ms += slowness * gpu_ms
