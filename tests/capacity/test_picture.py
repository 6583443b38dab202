"""The curves, drawn."""

import pytest

from pointsman.capacity.curve import Curve, Point, parse_target
from pointsman.capacity.picture import picture

CURVES = [
    Curve("fifo", [Point(1, 8, None), Point(2, 16, 7200.0), Point(3, 24, 3000.0)], Point(3, 24, 3000.0)),
    Curve("srtf", [Point(1, 8, None), Point(2, 16, 9000.0)], None),
]


@pytest.mark.parametrize("target", ["pending_p90_s<=3600", "fairness_rho_max<=3600"])
def test_it_shows_each_policy_and_says_the_answer(target: str) -> None:
    svg = picture(CURVES, parse_target(target), "with so many GPUs")
    for text in ("fifo", "srtf", "with so many GPUs"):
        assert text in svg
