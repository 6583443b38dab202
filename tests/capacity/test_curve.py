"""What is said of curves: those that level off, have steps, or turn."""

import pytest

from pointsman.capacity.curve import Curve, Point, notes

LEVELS = "p: with more GPUs it stays as it is: "
STEPS = "p: some neighbouring sizes have the same value"
TURNS = "p: the curve is not monotone"


def said(*values: float | None, met: bool = False, metric: str = "pending_mean_s") -> str:
    """Of sizes of 1, 2, … nodes with these figures; the target is met by the last, or by none."""
    points = [Point(k, 8 * k, value) for k, value in enumerate(values, 1)]
    return "; ".join(notes([Curve("p", points, points[-1] if met else None)], metric))


@pytest.mark.parametrize(
    ("values", "met", "expected"),
    [
        ((9.0, 5.0, 5.0), False, LEVELS),
        ((9.0, 5.0, 5.0), True, STEPS),
        ((5.0, 5.0, 4.0), False, STEPS),
        ((5.0, 9.0, 5.0), False, TURNS),
        ((5.0, 3.0, 9.0), True, TURNS),
        ((0.0, 0.5, 0.2), True, TURNS),
        ((4.0, 4.5, 9.0), True, ""),
        ((4.0, 4.0, 9.0), True, STEPS),
        ((9.0, 0.0, 0.0), True, ""),
        ((9.0, 5.0, 4.0), False, ""),
        ((4.0, 5.0, 9.0), False, ""),
        ((9.0, 5.0, 5.0, 4.0), True, STEPS),
        ((None, 5.0), False, ""),
        ((None, None, 5.0, 5.0), False, LEVELS),
        ((4.0,), False, ""),
    ],
)
def test_what_may_surprise(values: tuple[float | None, ...], met: bool, expected: str) -> None:
    found = said(*values, met=met)
    assert found.startswith(expected) and bool(found) is bool(expected), found
    assert found.count("p: ") == (1 if expected else 0)


def test_a_curve_may_have_steps_and_turn() -> None:
    found = said(5.0, 5.0, 9.0, 3.0)
    assert STEPS in found and TURNS in found


@pytest.mark.parametrize(
    ("metric", "last", "why"),
    [
        ("pending_mean_s", 5.0, "quotas or limits of queues hold jobs back, not the cluster"),
        ("wait_mean_s", 5.0, "quotas or limits of queues hold jobs back, not the cluster"),
        ("pending_mean_s", 0.0, "what is left is the time that jobs run"),
        ("jct_mean_s", 5.0, "what is left is the time that jobs run"),
    ],
)
def test_what_keeps_a_figure_from_falling(metric: str, last: float, why: str) -> None:
    """The largest size counts, not the one before."""
    points = [Point(1, 8, 9.0), Point(2, 16, last), Point(3, 24, last)]
    assert why in "; ".join(notes([Curve("p", points, None)], metric))
