"""Fitting α and β."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.errors import InputError
from pointsman.speed import fit_compute

positive = st.floats(1e-4, 1e4)


@given(positive, positive, st.lists(st.integers(1, 4096), min_size=2, max_size=12, unique=True))
def test_a_line_is_found_again(alpha, beta, batches):
    fitted = fit_compute(batches, [alpha + beta * b for b in batches], "ours")
    for b in batches:
        assert fitted.time_s(b) == pytest.approx(alpha + beta * b, rel=1e-6)


def test_one_outlier_does_not_move_it():
    batches = [1, 2, 4, 8, 16, 32]
    steps = [0.1 + 0.01 * b for b in batches]
    steps[3] *= 5
    fitted = fit_compute(batches, steps, "ours")
    assert (fitted.alpha_s, fitted.beta_s_per_sample) == (pytest.approx(0.1), pytest.approx(0.01))


def test_neither_part_is_ever_negative():
    assert fit_compute([1, 2], [1.0, 3.0], "ours").alpha_s >= 0
    assert fit_compute([1, 2], [3.0, 1.0], "ours").beta_s_per_sample == 0


def test_one_point_is_flat():
    assert fit_compute(4, 0.5, "ours").time_s(1000) == 0.5


@pytest.mark.parametrize(
    ("batch", "step"), [([], []), ([1, 2], [1.0]), ([0], [1.0]), ([1], [0.0]), ([1], [float("nan")]), ([1], [-1.0])]
)
def test_nonsense_is_refused(batch, step):
    with pytest.raises(InputError):
        fit_compute(batch, step, "ours")
