"""Bursts: a cascade that shares the jobs of a day out among its halves, quarters and so on down to seconds.

Each piece of time splits its n jobs into two halves by a beta-binomial draw whose correlation is the one measured in
the log at that scale, so the variance of the counts, and with it the index of dispersion, is the log's at every scale.
"""

import numpy as np

from pointsman.workload.generator.profile import Floats, Ints

LEVELS = 16
"""Halvings of a day: the last pieces are 1.3 s long."""


def scatter(daily: Ints, day_s: float, clustering: Floats, rng: np.random.Generator) -> Floats:
    """Times of `daily` jobs (one number a day) in even seconds since the first day began, ascending."""
    piece, count = np.arange(daily.size), daily
    done: list[Floats] = []
    width = day_s
    for correlation in clustering:
        lone = count == 1
        done.append((piece[lone] + rng.random(lone.sum())) * width)
        piece, count = piece[count > 1], count[count > 1]
        left = _split(count, correlation, rng)
        piece = np.stack((2 * piece, 2 * piece + 1), axis=1).ravel()
        count = np.stack((left, count - left), axis=1).ravel()
        width /= 2
    piece = np.repeat(piece, count)
    done.append((piece + rng.random(piece.size)) * width)
    return np.sort(np.concatenate(done))


def _split(count: Ints, correlation: float, rng: np.random.Generator) -> Ints:
    if correlation <= 0:
        return rng.binomial(count, 0.5)
    if correlation >= 1:
        return count * rng.integers(0, 2, count.size)
    shape = (1 / correlation - 1) / 2
    return rng.binomial(count, rng.beta(shape, shape, count.size))


def measure(crowds: list[Floats], day_s: float) -> Floats:
    """The correlation at each level (float64[LEVELS]) of times in even seconds, by the method of moments.

    For a piece of n jobs with correlation ρ, Var(left half) = n/4 · (1 + (n − 1) ρ). Crowds burst independently; the
    moments of all are pooled.
    """
    out = np.zeros(LEVELS)
    for level in range(LEVELS):
        excess, pairs = np.sum([_moments(even_s / day_s, level) for even_s in crowds], axis=0)
        out[level] = excess / pairs if pairs else 0.0
    return np.clip(out, 0.0, 1.0)


def _moments(even_days: Floats, level: int) -> tuple[float, float]:
    """Σ over the pieces of a level of (left − n/2)² − n/4, and of n (n − 1)/4."""
    halves = np.floor(even_days * 2 ** (level + 1)).astype(np.int64)
    pieces, index = np.unique(halves // 2, return_inverse=True)
    n = np.bincount(index, minlength=pieces.size).astype(float)
    left = np.bincount(index, weights=halves % 2 == 0, minlength=pieces.size)
    return ((left - n / 2) ** 2 - n / 4).sum(), (n * (n - 1) / 4).sum()
