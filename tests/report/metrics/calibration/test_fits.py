"""How far a policy is from the log, worked by hand."""

import pytest

from .logs import calibrated, log

ELEVEN = [(1000.0 * k, 1, 100.0, 1000.0 * k + (0.0 if k < 5 else 60.0 + (k - 5)), None) for k in range(11)]
"""Alone, and started at once by any policy; in the log five at once and six 60 to 65 s later."""


def test_percentiles_and_shares_of_jobs() -> None:
    rows = [(s, g, d, start, start + d) for s, g, d, start, _ in ELEVEN]
    (fit,) = calibrated(log(*rows), "1x1").fits
    assert (fit.jobs, fit.wait.mean, fit.wait_logged.p50, fit.wait_logged.p90) == (11, 0.0, 60.0, 64.0)
    assert (fit.jct.p90, fit.jct_logged.p50) == (100.0, 160.0)
    assert (fit.later_p10_s, fit.later_p50_s, fit.later_p90_s) == (-64.0, -60.0, 0.0)
    apart = (60 + 61 + 62 + 63 + 64 + 65) / 11
    assert (fit.apart_mean_s, fit.jct_apart_mean_s) == (pytest.approx(apart), pytest.approx(apart))
    assert fit.reproduced_ratio == pytest.approx(6 / 11), "a minute is close enough"
    assert not fit.is_exact


def test_what_starts_and_ends_as_logged_is_exact_and_is_not_explained() -> None:
    found = calibrated(log((0, 1, 100, 0, 100), (0, 1, 10, 100, 110), queue=["a", "b"]), "1x1", "sjf", "fifo")
    assert [(fit.policy, fit.is_exact) for fit in found.fits] == [("sjf", False), ("fifo", True)]
    assert (found.closest, found.explanations) == ("fifo", [])


def test_a_start_on_time_and_another_end_is_not_exact() -> None:
    """The log has the job suspended for 50 s."""
    (fit,) = calibrated(log((0, 1, 100, 0, 150)), "1x1").fits
    assert (fit.apart_mean_s, fit.jct_apart_mean_s, fit.is_exact) == (0.0, 50.0, False)


def test_the_closest_starts_jobs_when_the_log_does() -> None:
    """The log runs the short job first, as `sjf` does."""
    jobs = log((0, 1, 100, 10, 110), (0, 1, 10, 0, 10))
    assert calibrated(jobs, "1x1", "fifo", "sjf").closest == "sjf"
    assert calibrated(log((0, 1, 100, 0, 100), (0, 1, 10, 100, 110)), "1x1", "sjf", "fifo").closest == "fifo"


@pytest.mark.parametrize(("end_s", "order"), [(110, ("fifo", "srtf")), (100, ("srtf", "fifo"))])
def test_of_two_that_start_jobs_as_far_apart_the_closest_ends_them_so(end_s: int, order: tuple[str, str]) -> None:
    """The second job starts at 75 s; under `fifo` at 100, when the first ends, under `srtf` at 50: the first ends at
    110.
    """
    found = calibrated(log((0, 1, 100, 0, end_s), (50, 1, 10, 75, 85)), "1x1", *order)
    assert {fit.apart_mean_s for fit in found.fits} == {12.5}
    assert found.closest == order[1]
