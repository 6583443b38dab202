"""The oracle's own hazards, index and estimates from history, by hand."""

import math
from itertools import pairwise

import pytest

from .gittins import (
    BUCKET_BEGINS,
    BUCKETS,
    FALLING,
    Ended,
    GittinsWorld,
    Settings,
    hazards_of,
    indices,
    predicted_better,
)
from .history import History
from .model import Job

EDGES = [*BUCKET_BEGINS, BUCKET_BEGINS[-1] * 1.25]
WIDTHS = [end - begin for begin, end in pairwise(EDGES)]


def test_hazards_of_four_ended_jobs_and_one_that_runs() -> None:
    """Ended in buckets 0, 0, 1 and 3; one runs in bucket 1. At risk: 5; 3 less half; 1; 1; 0. A prior of 0.5, as if of
    one job more.
    """
    found = hazards_of([2, 1, 0, 1, *[0] * (BUCKETS - 4)], [1], [0.5] * BUCKETS, 1.0)
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


def test_estimates_after_jobs_of_several_users_and_queues() -> None:
    """Three have finished: of (GPUs, queue, user, s) (1, a, u, 10), (2, a, u, 100) and (1, b, v, 1000), with
    x = 2.302585, 4.605170 and 6.907755. What is known of a job (1, a, v):

    all              n = 0.9995² + 0.9995 + 1 = 2.998500   t = 13.810909   m0 = (t + 2 * 7) / (n + 2)
    1 GPU            n = 0.999 + 1            = 1.999      t = 9.208038    m1 = (t + 2 * m0) / (n + 2)
    a, 1 GPU         n = 1                                 t = 2.302585    m2 = (t + 2 * m1) / (n + 2)
    a, exactly 1     n = 1                                 t = 2.302585    m3 = (t + 2 * m2) / (n + 2)
    v, 1 GPU         n = 1                                 t = 6.907755    m4 = (t + 2 * m2) / (n + 2)
    v, exactly 1     n = 1                                 t = 6.907755    m5 = (t + 0.5 * m4) / (n + 0.5)
    """
    history = History()
    for row, job in enumerate((Job(0, 1, 10_000, queue="a", user="u"), Job(0, 2, 100_000, queue="a", user="u"),
                               Job(0, 1, 1_000_000, queue="b", user="v"))):  # fmt: skip
        history.estimate_ms(row, job, 0)
        history.learn(row, job)
    mixed = Job(0, 1, 1, queue="a", user="v")
    expected = [1.0, 5.563850, 5.085206, 4.157666, 3.539305, 5.074362, 6.296624, 1.259325]
    assert history.features_of(mixed) == pytest.approx(expected, abs=2e-6)
    assert history.estimate_ms(3, mixed, 0) == pytest.approx(161_613, rel=1e-5)  # exp(m1)
    other = [("size", 1), ("queue", "a", 1), ("queue", "a", "gpus", 2), ("user", "u", 1), ("user", "u", "gpus", 2)]
    assert [history.counts[key] for key in other] == [1.0] * 5


def test_weights_of_four_jobs_with_the_same_features() -> None:
    """A = 4 f fᵀ and b = f (x1 + … + x4), so weights = e + f (Σx − 4 f·e) / (5 + 4 f·f), e being 1 for m1."""
    history, known, logs = History(), [1.0, 6.0, 5.0, 5.0, 4.0, 4.0, 3.0, 0.6], [2.0, 4.0, 6.0, 7.0]
    history.seen = [(known, x) for x in logs]
    history.fit()
    share = (19.0 - 4 * 5.0) / (5 + 4 * (1 + 36 + 25 + 25 + 16 + 16 + 9 + 0.36))
    assert history.weights == pytest.approx([(k == 2) + share * f for k, f in enumerate(known)], abs=1e-12)


def test_weights_are_fitted_once_in_12_hours_after_200_ends() -> None:
    history = History()
    for row in range(200):
        history.estimate_ms(row, _job(60), 13 * 3_600_000)
        assert history.fitted_in == 0
        history.learn(row, _job(60))
    assert history.estimate_ms(200, _job(60), 11 * 3_600_000) and history.fitted_in == 0
    assert history.estimate_ms(201, _job(60), 13 * 3_600_000) == pytest.approx(60_000, rel=0.1)
    assert history.fitted_in == 1


def test_a_group_predicts_better_beyond_rounding() -> None:
    assert not predicted_better([])
    assert not predicted_better([1e-16] * 3)
    assert predicted_better([0.3, -0.2])
    assert not predicted_better([0.2, -0.3])


def test_groups_divide_gpu_time_more_than_jobs() -> None:
    """Of four ended jobs in classes 3, 5, 9 and 12, with 10, 10, 20 and 60 of 100 GPU-ms: weights 0.4 / 4 + 0.6 times
    their share, so 0.16, 0.16, 0.22 and 0.46. Two groups are full at 0.5: the first at 0.54, with class 9. Four are
    full at 0.25: at 0.32 with class 5, at 0.68 with class 12. Of three, full at 1 / 3: 0.54 with class 9, then 0.46.
    """
    world = GittinsWorld([], [], [], None)  # type: ignore[arg-type]
    for kind, gpu_ms in ((3, 10.0), (5, 10.0), (9, 20.0), (12, 60.0)):
        world.ended[kind] = Ended([1.0, *[0.0] * (BUCKETS - 1)], gpu_ms)
    for groups, expected in ((1, [0] * 4), (2, [0, 0, 0, 1]), (4, [0, 0, 1, 1]), (3, [0, 0, 0, 1])):
        world.settings = Settings(groups=groups)
        world.divide([])
        assert [world.group_of[kind] for kind in (3, 5, 9, 12)] == expected
