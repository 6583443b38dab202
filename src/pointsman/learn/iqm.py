"""Interquartile means over trainings and seeds, with bootstrap intervals (Agarwal et al., NeurIPS 2021, "rliable")."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.95
RESAMPLES = 2000


def interquartile_mean(values: Floats) -> Floats:
    """Along the last axis, the mean of what is left without the lowest and the highest quarter, rounded down each."""
    ordered = np.sort(values, axis=-1)
    cut = ordered.shape[-1] // 4
    return ordered[..., cut : ordered.shape[-1] - cut].mean(-1)


def interval(values: Floats, level: float = LEVEL) -> tuple[float, float] | None:
    """Percentile interval of the interquartile mean of values of each training on each seed (trainings, seeds).

    Trainings and seeds are drawn anew, each with replacement, for both vary. None of a single value. Drawn with a fixed
    seed.
    """
    trainings, seeds = values.shape
    if trainings * seeds < 2:
        return None
    random = np.random.default_rng(0)
    rows = random.integers(trainings, size=(RESAMPLES, trainings, 1))
    columns = random.integers(seeds, size=(RESAMPLES, 1, seeds))
    means = interquartile_mean(values[rows, columns].reshape(RESAMPLES, -1))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
