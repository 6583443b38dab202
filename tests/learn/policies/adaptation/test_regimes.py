"""When a policy notices that something has changed: by hand."""

from collections import deque
from math import log

import numpy as np
import pytest
from scipy import stats

from pointsman.learn.policies.adaptation.regimes import (
    CHANCE,
    DIVERGENCE,
    ENDS,
    JOBS,
    Regimes,
    by_chance,
    chi_squared_tail,
    divergence,
    exceeded,
    mix,
)


def after(*models: int) -> Regimes:
    """It has adapted to the first hundred jobs, all of model 0, and then these came."""
    regimes = Regimes()
    for _ in range(JOBS):
        regimes.came(0)
    assert regimes.change() == "the first jobs have come"
    regimes.adapted()
    for model in models:
        regimes.came(model)
    return regimes


def test_the_divergence_of_mixes() -> None:
    """Of 1/2, 1/2 and 1, 0 from their mean 3/4, 1/4: (log(2/3) + log 2 + 2 log(4/3)) / 4."""
    assert divergence({0: 1.0}, {0: 1.0}) == 0.0
    assert divergence({0: 1.0}, {1: 1.0}) == pytest.approx(log(2))
    by_hand = (log(2 / 3) + log(2) + 2 * log(4 / 3)) / 4
    assert divergence({0: 0.5, 1: 0.5}, {0: 1.0}) == pytest.approx(by_hand)
    assert divergence({0: 1.0}, {0: 0.5, 1: 0.5}) == pytest.approx(by_hand)


def test_too_few_jobs_say_nothing() -> None:
    regimes = Regimes()
    for _ in range(JOBS - 1):
        regimes.came(0)
    assert regimes.change() is None
    assert after(*[1] * (JOBS - 1)).change() is None


def test_another_mix_is_a_change_until_it_has_adapted() -> None:
    assert after(*[0] * JOBS).change() is None
    regimes = after(*[0] * 50, *[1] * 50)
    assert regimes.change() == "the mix of models diverges by 0.22 (by chance by less than 0.06)"
    regimes.adapted()
    assert regimes.change() is None


@pytest.mark.parametrize("models", [2, 8, 40])
def test_however_many_models_there_are_chance_is_no_change(models: int) -> None:
    """1,000 pairs of times 100 jobs drawn alike; of 40 models three pairs in four diverge by more than 0.1."""
    draw, beyond = np.random.default_rng(1), 0
    for _ in range(1000):
        one, other = (mix(deque(draw.integers(models, size=JOBS).tolist())) for _ in range(2))
        apart = divergence(one, other)
        beyond += apart > DIVERGENCE
        assert apart < max(DIVERGENCE, by_chance(models))
    assert (beyond > 500) == (models == 40)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 10, 59, 100])
def test_the_chi_squared_distribution_against_scipy(freedom: int) -> None:
    assert exceeded(CHANCE, freedom) == pytest.approx(stats.chi2.isf(CHANCE, freedom), rel=1e-12)
    assert chi_squared_tail(1.7, freedom) == pytest.approx(stats.chi2.sf(1.7, freedom), rel=1e-12)


def test_other_models_are_a_change_however_many_there_are() -> None:
    draw = np.random.default_rng(1)
    one, other = (mix(deque((low + draw.integers(40, size=JOBS)).tolist())) for low in (0, 20))
    assert divergence(one, other) > by_chance(60)


def test_small_errors_are_no_change_however_much_they_grow() -> None:
    """By half a per cent, after a fifth of one."""
    regimes = after(*[0] * JOBS)
    for error in [0.002] * 60 + [0.005] * ENDS:
        regimes.ended(error)
    assert regimes.change() is None


def test_errors_twice_as_large_are_a_change() -> None:
    """20 times 0.5 after 60 times 0.1: the long-run mean is 0.2."""
    for many, change in ((ENDS - 1, None), (ENDS, "forecasts are wrong by 50.0%, and were by 20.0%")):
        regimes = after(*[0] * JOBS)
        for error in [0.1] * 60 + [0.5] * many:
            regimes.ended(error)
        assert regimes.change() == change or many < ENDS
    regimes = after(*[0] * JOBS)
    for error in [0.3] * 60 + [0.5] * ENDS:
        regimes.ended(error)
    assert regimes.change() is None
