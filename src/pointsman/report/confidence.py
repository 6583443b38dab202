"""Confidence intervals of paired differences."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Interval = tuple[float, float]

LEVEL = 0.95
BLOCKS = 100
RESAMPLES = 500
MOST_JOBS = 50_000
"""A bootstrap thins longer logs evenly to this many jobs: its interval is then too wide rather than too narrow."""


def student_t_cdf(t: float, freedom: int) -> float:
    """P(T <= t) for whole degrees of freedom, in closed form.

    Source: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = math.atan(t / math.sqrt(freedom))
    cosine, odd = math.cos(angle), freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= cosine * cosine * k / (k + 1)
    inside = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return (1 + inside) / 2


def student_t(freedom: int, level: float = LEVEL) -> float:
    """Half width of a two-sided interval at `level`, in standard errors."""
    low, high = 0.0, 1.0
    while student_t_cdf(high, freedom) < (1 + level) / 2:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if student_t_cdf(middle, freedom) < (1 + level) / 2 else (low, middle)
    return high


def mean_interval(values: Floats) -> Interval | None:
    """Student's interval of the mean of independent values; None of fewer than two."""
    if len(values) < 2:
        return None
    half = student_t(len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    mean = float(values.mean())
    return mean - half, mean + half


def ratio_interval(values: Floats, base: Floats) -> Interval | None:
    """Student's interval of sum(values) / sum(base) - 1, from the residuals of the pairs; None of fewer than two.

    Source: the ratio estimator, Cochran, Sampling Techniques, 1977, 6.2.
    """
    total = float(base.sum())
    if len(values) < 2 or not total:
        return None
    ratio = float(values.sum()) / total
    half = student_t(len(values) - 1) * float((values - ratio * base).std(ddof=1)) * math.sqrt(len(values)) / abs(total)
    return ratio - 1 - half, ratio - 1 + half


def paired_bootstrap(
    first: Floats, second: Floats, statistic: Callable[[Floats], float]
) -> tuple[Interval, Interval | None] | None:
    """Percentile intervals of how a statistic of two columns of the same jobs differs, resampled in blocks.

    Jobs that were submitted one after another meet the same queue, so blocks of consecutive jobs are drawn, not jobs.

    Args:
        first: value of each job, in submit order (n).
        second: the same jobs elsewhere (n).
        statistic: figure of resampled jobs.

    Returns:
        intervals at `LEVEL` of the difference, and of the ratio less 1 (None if a resample has 0 below the line);
        None of fewer than 20 jobs. Drawn with a fixed seed.
    """
    thin = -(-len(first) // MOST_JOBS)
    first, second = first[::thin], second[::thin]
    if len(first) < 20:
        return None
    length = -(-len(first) // BLOCKS)
    starts = np.arange(0, len(first), length)
    random = np.random.default_rng(0)
    found = np.empty((RESAMPLES, 2))
    for i in range(RESAMPLES):
        drawn = random.choice(starts, len(starts))[:, None] + np.arange(length)
        rows = drawn[drawn < len(first)]
        found[i] = statistic(first[rows]), statistic(second[rows])
    here, there = found.T
    return _middle(here - there), _middle(here / there - 1) if there.all() else None


def _middle(values: Floats) -> Interval:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
