"""The formulas of an iteration's time are one function each, which NumPy and the compiler run alike."""

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pointsman.speed.laws import step_time

POSITIVE = st.floats(1e-6, 1e6)
FORMULAS: dict[str, Any] = {
    "ring_s": [st.integers(2, 512), POSITIVE, POSITIVE, POSITIVE],
    "ring_bandwidth": [POSITIVE, st.integers(1, 8).map(float), st.integers(1, 8).map(float)],
    "overlapped_s": [POSITIVE, POSITIVE, st.floats(1, 50) | st.just(np.inf)],
    "accumulated_s": [POSITIVE, POSITIVE, st.integers(1, 64)],
}
COMPILED = {name: numba.njit(getattr(step_time, name)) for name in FORMULAS}


def test_all_formulas_are_compared() -> None:
    assert {name for name in vars(step_time) if callable(getattr(step_time, name)) and name != "Any"} == set(FORMULAS)


@pytest.mark.parametrize("name", FORMULAS)
@given(data=st.data())
@settings(deadline=None)
def test_compiled_on_numbers_as_numpy_on_arrays(name: str, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(*FORMULAS[name]), min_size=1, max_size=5))
    one_by_one = [COMPILED[name](*row) for row in rows]
    together = getattr(step_time, name)(*(np.array(column) for column in zip(*rows, strict=True)))
    assert_allclose(together, one_by_one, rtol=1e-13)
