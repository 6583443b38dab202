"""Medians of measured pairs, the law fitted to them, and its errors."""

from itertools import product
from math import exp, isclose

import pytest

from pointsman.speed.interference.fit import (
    Pair,
    figures_of,
    fit_law,
    law_errors,
    medians,
    pays,
    share_that_pays,
    tied,
)

SENSITIVITY = {"a": 0.5, "b": 0.2, "c": 0.3}
PRESSURE = {"a": 0.1, "b": 0.6, "c": 0.4}


def by_law(*pairs: tuple[str, str]) -> dict[tuple[str, str], float]:
    return {(a, b): exp(SENSITIVITY[a] + PRESSURE[b]) for a, b in pairs}


def test_the_median_of_each_side_over_all_that_was_measured_of_it():
    rows = [Pair("v100", "a", "b", 0.5, 0.8), Pair("v100", "a", "b", 0.25, 1.2), Pair("v100", "b", "a", 0.8, 0.5)]
    figures = figures_of([*rows, Pair("k80", "a", "a", 0.5, 0.4)])
    assert list(figures) == ["k80", "v100"]
    assert medians(figures["v100"]) == {("a", "b"): 2.0, ("b", "a"): 1.25}
    assert medians(figures["k80"]) == {("a", "a"): 2.25}
    assert figures["v100"].gaps() == [("a", "a"), ("b", "b")]


def test_a_law_is_found_again_with_sensitivities_and_pressures_of_one_sum():
    measured = by_law(*product("abc", "abc"))
    law = fit_law(measured)
    assert all(isclose(law.slow_down(*pair), xi) for pair, xi in measured.items())
    assert sum(law.sensitivity.values()) == pytest.approx(sum(law.pressure.values()))
    assert law.sensitivity["a"] - law.sensitivity["b"] == pytest.approx(0.3)


def test_a_gap_is_filled_by_the_law_where_other_pairs_tell_it():
    measured = by_law(("a", "a"), ("a", "b"), ("b", "a"))
    assert fit_law(measured).slow_down("b", "b") == pytest.approx(exp(0.8))
    assert tied(measured, [("b", "b")]) == {("b", "b")}
    assert tied(by_law(("a", "b"), ("b", "a")), [("a", "a"), ("b", "b")]) == set(), "how the sums split is not told"
    assert tied(measured, [("a", "c")]) == set(), "nobody measured c"


def test_errors_of_a_law_that_holds_and_of_one_that_does_not():
    exact = law_errors(figures_of(_rows(by_law(*product("abc", "abc"))))["v100"])
    assert (exact.r2, exact.unpredicted) == (pytest.approx(1), 0)
    assert exact.seen == pytest.approx(0, abs=1e-9)
    assert exact.left_out == pytest.approx(0, abs=1e-9)
    odd = by_law(*product("abc", "abc")) | {("a", "b"): 9.0}
    off = law_errors(figures_of(_rows(odd))["v100"])
    assert off.r2 is not None and off.left_out is not None
    assert off.r2 < 0.9
    assert off.left_out > off.seen > 0.01


def test_where_nothing_is_left_to_predict_from_it_is_said():
    errors = law_errors(figures_of([Pair("v100", "a", "a", 0.5, 0.5)])["v100"])
    assert (errors.r2, errors.left_out, errors.unpredicted) == (None, None, 1)


@pytest.mark.parametrize(
    ("pair", "does"),
    [
        ((1.0, 1.0), True),
        ((1.49, 1.49), True),
        ((1.5, 1.5), False),
        ((1.0, 9.0), True),
        ((1.3, 1.9), True),
        ((1.4, 1.9), False),
    ],
)
def test_sharing_pays_for_two_equal_jobs(pair, does):
    """The first of two jobs of length 1 to end sets the other free: both by hand, against one after the other."""
    slow, fast = max(pair), min(pair)
    ends = (fast, fast + 1 - fast / slow)
    assert (sum(ends) / 2 < 1.5) == does
    assert pays(*pair) == pays(*pair[::-1]) == does


def test_the_share_that_pays_counts_pairs_measured_both_ways_once():
    measured = {("a", "a"): 1.2, ("a", "b"): 3.0, ("b", "a"): 3.0, ("b", "c"): 1.0, ("c", "b"): 1.1, ("c", "a"): 1.0}
    assert share_that_pays(measured) == pytest.approx(2 / 3)
    assert share_that_pays({("a", "b"): 1.1}) is None


def _rows(measured: dict[tuple[str, str], float]) -> list[Pair]:
    return [Pair("v100", a, b, 1 / measured[a, b], 1 / measured[b, a]) for a, b in measured if a <= b]
