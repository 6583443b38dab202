"""Interquartile means and their intervals, against SciPy and by hand."""

import numpy as np
from scipy.stats import trim_mean

from pointsman.learn.iqm import interquartile_mean, interval


def test_the_mean_is_scipys() -> None:
    random = np.random.default_rng(0)
    for n in range(1, 40):
        values = random.exponential(size=n)
        assert np.isclose(interquartile_mean(values), trim_mean(values, 0.25))


def test_the_interval_covers_what_varies() -> None:
    assert interval(np.array([[3.0]])) is None
    assert interval(np.full((2, 5), 3.0)) == (3.0, 3.0)
    by_seed = np.repeat([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]], 3, axis=0)  # trainings agree
    low, high = interval(by_seed) or (0.0, 0.0)
    assert 2.0 < low < 3.5 and 5.5 < high < 7.0
    by_training = by_seed.T[:, :3]  # seeds agree
    assert np.allclose(interval(by_training) or 0.0, (low, high), atol=0.4)


def test_it_covers_the_truth_nineteen_times_in_twenty() -> None:
    """Of normal values the interquartile mean is 0; bootstraps of a few are known to be a little narrow."""
    random = np.random.default_rng(1)
    intervals = [interval(random.normal(size=(5, 10))) or (0.0, 0.0) for _ in range(100)]
    assert 85 <= sum(low <= 0 <= high for low, high in intervals) <= 100
