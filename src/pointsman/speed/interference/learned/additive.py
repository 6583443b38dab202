"""The additive law of log slow-downs: what each model adds to each by being there, and by each of its GPUs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pointsman.speed.interference.learned.combinations import Combination

PENALTY = 1e-4
"""The weight of squared coefficients, beside a mean squared error over combinations."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Counts:
    """Combinations as numbers; n of them, of m models."""

    own: NDArray[np.int64]
    """(n) model of the job."""
    gpus: Floats
    """(n) its GPUs."""
    others: Floats
    """(n, m) GPUs of other jobs, by model."""

    @staticmethod
    def of(combinations: Sequence[Combination], models: Sequence[str]) -> "Counts":
        """Counts the GPUs of each of these models in each combination."""
        place = {model: i for i, model in enumerate(models)}
        others = np.zeros((len(combinations), len(models)))
        for i, combination in enumerate(combinations):
            for model, gpus in combination.others:
                others[i, place[model]] = gpus
        own = np.array([place[combination.model] for combination in combinations], np.int64)
        return Counts(own, np.array([c.gpus for c in combinations], np.float64), others)

    @property
    def met(self) -> Floats:
        """(n, m) whether a model is there at all."""
        return np.minimum(self.others, 1.0)


@dataclass(frozen=True)
class AdditiveLaw:
    """``log psi = alone[a] + own[a] * own GPUs + sum over b there of (met[a, b] + gpu[a, b] * GPUs of b)``."""

    alone: Floats
    """(m)"""
    own: Floats
    """(m)"""
    met: Floats
    """(m, m) of a model, by another beside it."""
    gpu: Floats
    """(m, m)"""

    def predict(self, counts: Counts) -> Floats:
        """Log slow-downs, at least 0: nothing is faster than alone."""
        a = counts.own
        beside = (self.met[a] * counts.met + self.gpu[a] * counts.others).sum(axis=1)
        return np.maximum(0.0, self.alone[a] + self.own[a] * counts.gpus + beside)


def fit_additive(counts: Counts, logs: Floats, weights: Floats) -> AdditiveLaw:
    """By ridge regression: each coefficient is one of all models plus one of the pair, which costs as much, so that
    what little was seen of a pair is made up for by what was seen of its models.
    """
    m = counts.others.shape[1]
    own = np.eye(m)[counts.own]
    pairs = [(own[:, :, None] * of[:, None, :]).reshape(len(logs), m * m) for of in (counts.met, counts.others)]
    per_gpu, beside = counts.gpus[:, None], counts.others.sum(axis=1, keepdims=True)
    shared = [np.ones((len(logs), 1)), per_gpu, counts.met, counts.others, own * beside]
    design = np.hstack([own, own * per_gpu, *pairs, *shared])
    scale = np.sqrt(weights / weights.sum())
    weighted = design * scale[:, None]
    gram = weighted.T @ weighted + PENALTY * np.eye(design.shape[1])
    values = np.linalg.solve(gram, weighted.T @ (logs * scale))
    alone, each, met, gpu, level, slope, all_met, all_gpu, of_own = np.split(
        values, np.cumsum([m, m, m * m, m * m, 1, 1, m, m])
    )
    return AdditiveLaw(
        alone + level, each + slope, met.reshape(m, m) + all_met, gpu.reshape(m, m) + all_gpu + of_own[:, None]
    )
