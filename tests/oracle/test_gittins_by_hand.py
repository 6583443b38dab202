"""The oracle's own hazards, index and estimates from history, by hand."""

import math
from itertools import pairwise

import pytest

from .gittins import BUCKET_BEGINS, BUCKETS, FALLING, hazards_of, indices
from .history import History
from .model import Job

EDGES = [*BUCKET_BEGINS, BUCKET_BEGINS[-1] * 1.25]
WIDTHS = [end - begin for begin, end in pairwise(EDGES)]


def test_hazards_of_four_ended_jobs_and_one_that_runs() -> None:
    """Ended in buckets 0, 0, 1 and 3; one runs in bucket 1. At risk: 5; 3 less half; 1; 1; 0. A prior of 0.5, as if of
    one job more.
    """
    found = hazards_of([0, 0, 1, 3], [1], [0.5] * BUCKETS, 1.0)
    assert found[:5] == pytest.approx([2.5 / 6, 1.5 / 3.5, 0.5 / 2, 1.5 / 2, 0.5 / 1])


def test_exponential_durations_have_the_mean_as_their_index() -> None:
    """With a hazard of 1 - exp(-width / mean) in each bucket; buckets that are short beside the mean."""
    mean_ms = 3_600_000.0
    found = indices(tuple(1 - math.exp(-width / mean_ms) for width in WIDTHS))
    short = [index for index, width in zip(found, WIDTHS, strict=True) if width < mean_ms / 2]
    assert len(short) > 15
    assert short == pytest.approx([mean_ms] * len(short), rel=0.025)


def test_of_fixed_durations_the_index_is_what_remains() -> None:
    """All end in bucket 10, in its middle (others all but never)."""
    found = indices(tuple(1.0 if b == 10 else 1e-12 for b in range(BUCKETS)))
    for a in range(11):
        assert found[a] == pytest.approx(sum(WIDTHS[a:10]) + WIDTHS[10] / 2)


def test_with_falling_hazards_the_index_rises() -> None:
    """From bucket 1 on: bucket 0 is four times as wide as the next."""
    assert all(earlier < later for earlier, later in pairwise(indices(tuple(FALLING))[1:]))


def _job(work_s: float) -> Job:
    return Job(submit_ms=0, gpus=1, work_ms=round(1000 * work_s), queue="a", user="u")


def test_estimates_of_the_first_jobs() -> None:
    """Without history e^7 s. A job of 10 s (x = 2.302585): m0 = (x + 2 * 7) / 3, m1 = (x + 2 * m0) / 3. Then one of
    1000 s, with every sum and count decayed once.
    """
    history = History()
    assert history.estimate_ms(0, _job(10), 0) == math.floor(1000 * math.exp(7) + 0.5)
    history.learn(0, _job(10))
    assert history.features_of(_job(1))[:3] == pytest.approx([1.0, 5.434195, 4.390325])
    assert history.estimate_ms(1, _job(1000), 0) == pytest.approx(80_667, rel=1e-3)
    history.learn(1, _job(1000))
    expected = [1.0, 5.803023, 5.204823, 4.911519, 4.957460, 4.789430, 5.226882, 2.038484]
    assert history.features_of(_job(1)) == pytest.approx(expected, abs=2e-6)


def test_short_jobs_count_as_ten_seconds() -> None:
    history = History()
    history.estimate_ms(0, _job(0.001), 0)
    history.learn(0, _job(0.001))
    assert history.sums["all"] == pytest.approx(math.log(10))
