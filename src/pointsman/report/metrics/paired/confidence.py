"""Confidence intervals of paired differences."""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Interval = tuple[float, float]

LEVEL = 0.95
BLOCKS, RESAMPLES = 100, 1000
CELLS = 2000
"""A resample's percentiles are read from its counts in this many cells of equally many jobs: exact up to as many jobs,
and within 0.05 % of the jobs above."""

STATISTICS = {"mean": None, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
"""What is resampled; the share of the jobs below it for percentiles."""


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


@cache
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
    """Student's interval of sum(values) / sum(base) - 1, on the log scale, so that it never passes -1.

    The standard error is that of the ratio estimator, from the residuals of the pairs (Cochran, Sampling Techniques,
    1977, 6.2), divided by the ratio. None of fewer than two pairs, or where the ratio is not above 0.
    """
    total = float(base.sum())
    ratio = float(values.sum()) / total if total else 0.0
    if len(values) < 2 or ratio <= 0:
        return None
    error = float((values - ratio * base).std(ddof=1)) * math.sqrt(len(values)) / abs(total)
    half = min(student_t(len(values) - 1) * error / ratio, 700.0)  # beyond, exp overflows
    return ratio * math.exp(-half) - 1, ratio * math.exp(half) - 1


def paired_bootstrap(first: Floats, second: Floats) -> dict[str, tuple[Interval, Interval | None]] | None:
    """Percentile intervals of how the `STATISTICS` of two columns of the same jobs differ, resampled in blocks.

    Jobs that were submitted one after another meet the same queue, so blocks of consecutive jobs are drawn, not jobs.

    Args:
        first: value of each job, in submit order (n).
        second: the same jobs elsewhere (n).

    Returns:
        by statistic, intervals at `LEVEL` of the difference, and of the ratio less 1 (None if a resample has 0 below
        the line); None of fewer than 20 jobs. Drawn with a fixed seed.
    """
    if len(first) < 20:
        return None
    blocks = np.arange(len(first)) // -(-len(first) // BLOCKS)
    count = int(blocks[-1]) + 1
    drawn = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), RESAMPLES).astype(np.float64)
    here, there = (_resample(values, blocks, drawn) for values in (first, second))
    return {name: _intervals(here[name], there[name]) for name in STATISTICS}


def _resample(values: Floats, blocks: NDArray[np.int64], drawn: Floats) -> dict[str, Floats]:
    """Each statistic of each resample (resamples,), of how often each drew each block (resamples, blocks)."""
    sizes, sums = np.bincount(blocks).astype(np.float64), np.bincount(blocks, values)
    order = np.argsort(values, kind="stable")
    starts = np.unique(np.linspace(0, len(values), min(len(values), CELLS) + 1).astype(np.int64))
    cells = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    counts = np.bincount(blocks[order] * len(starts) + cells, minlength=len(sizes) * len(starts))
    below = drawn @ np.cumsum(counts.reshape(len(sizes), -1), axis=1, dtype=np.float64)
    apart = np.arange(len(below)) * (below[:, -1].max() + 1)
    below += apart[:, None]  # so that one search serves all rows; whole numbers, and so exact
    means, ordered = (drawn @ sums) / (drawn @ sizes), values[order]
    return {
        name: means if share is None else _quantile(ordered, starts, below, apart, share)
        for name, share in STATISTICS.items()
    }


def _quantile(ordered: Floats, starts: NDArray[np.int64], below: Floats, apart: Floats, share: float) -> Floats:
    """Interpolates linearly, as `numpy.quantile` does, in resamples given by how many values are in each cell or below.

    In `below` each row is larger by its number in `apart`.
    """
    rank = share * (below[:, -1] - apart - 1)
    low = np.floor(rank)
    at, above = (_value_at_rank(ordered, starts, below, apart, place) for place in (low, np.ceil(rank)))
    return at + (rank - low) * (above - at)


def _value_at_rank(ordered: Floats, starts: NDArray[np.int64], below: Floats, apart: Floats, rank: Floats) -> Floats:
    """The value of this rank (from 0) in each resample."""
    rows = np.arange(len(rank))
    cell = np.searchsorted(below.ravel(), rank + apart, side="right") - rows * below.shape[1]
    before = np.where(cell > 0, below[rows, cell - 1], apart)
    inside = (rank + apart - before) / (below[rows, cell] - before)
    return ordered[starts[cell] + (inside * np.diff(starts)[cell]).astype(np.int64)]


def _intervals(here: Floats, there: Floats) -> tuple[Interval, Interval | None]:
    return _middle(here - there), _middle(here / there - 1) if there.all() else None


def _middle(values: Floats) -> Interval:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
