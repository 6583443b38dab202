"""`gittins`: what it learns of durations, by hand and in closed form, and what it may know."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from pointsman.errors import UsageError
from pointsman.policies.dally.declared import MOST_GROUPS
from tests.free import simulate
from tests.policies.gittins_runs import QUICK, busy, index_of, jobs_of, learnt, opened

HOUR_S = 3600.0


def index_s(durations_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Begins of buckets, and the index there once jobs of these durations have ended (s)."""
    jobs = jobs_of([(0.0, 1, float(d)) for d in durations_s] + [(2e6, 1, 1.0), (2e6 + 1, 1, 1.0)])
    simulation = opened(jobs, f"{(len(durations_s) + 63) // 64}x64", predictor="none")
    simulation.run()
    return learnt(simulation).bucket_begins.array.copy() / 1000, index_of(simulation) / 1000


# -- what it learns ------------------------------------------------------------------------------------


def test_kaplan_meier_by_hand() -> None:
    """At 100 s, when jobs 4 and 5 have run for 35 and 20 s:

    bucket        [0, 30)     [30, 37.5)   [37.5, 46.9)
    ended         20 s        31 s, 36 s   40 s
    unfinished    20 s        35 s
    at risk       6 - 1/2     4 - 1/2      1
    falling       0.5         0.5 / 1.2    0.5 / 1.4       with two jobs' strength
    """
    ended = [(0.0, 1, 20.0), (0.0, 1, 31.0), (0.0, 1, 36.0), (0.0, 1, 40.0)]
    jobs = jobs_of([*ended, (65.0, 1, 500.0), (80.0, 1, 500.0), (100.0, 1, 1.0)])
    simulation = opened(jobs, "1x8", predictor="none", refit_s=100, least_ends=4, memory_jobs=0)
    simulation.run(100_000)
    hazards = learnt(simulation).hazard.array[MOST_GROUPS]
    falling = [0.5, 0.5 / 1.2, 0.5 / 1.4]
    # the job that comes at 100 s is among the unfinished, in the first bucket
    by_hand = [
        (1 + 2 * falling[0]) / (7 - 2 / 2 + 2),
        (2 + 2 * falling[1]) / (4 - 1 / 2 + 2),
        (1 + 2 * falling[2]) / (1 + 2),
    ]
    assert hazards[:3] == pytest.approx(by_hand, rel=1e-12)
    assert hazards[3] == pytest.approx(0.5 / 1.6)


def test_exponential_durations_have_a_constant_index() -> None:
    durations_s = np.random.default_rng(1).exponential(HOUR_S, 6000)
    begins, index = index_s(durations_s)
    among = index[(begins > 60) & (begins < 2 * HOUR_S)]
    assert among.min() > 0.75 * HOUR_S  # it is a minimum of estimates
    assert among.max() < 1.1 * HOUR_S


def test_of_fixed_durations_the_index_is_what_remains() -> None:
    begins, index = index_s(np.full(2000, HOUR_S))
    before = begins < 0.8 * HOUR_S
    assert index[before] == pytest.approx(HOUR_S - begins[before], abs=0.15 * HOUR_S)
    assert (np.diff(index[before]) < 0).all()


def test_before_any_history_jobs_rank_by_attained_service() -> None:
    simulation = opened(jobs_of([(0.0, 1, 10.0)]), "1x1")
    simulation.run()
    index = index_of(simulation)
    assert (np.diff(index[1:]) > 0).all()  # the first bucket is four times as long as the second
    assert index[0] < index[4]
    assert learnt(simulation).refitted == 0


def test_who_is_likely_to_end_soon_goes_first() -> None:
    """Queue `quick` has jobs of a minute, `slow` of 20 minutes. After three days a wide job holds all GPUs while ten
    slow jobs come, then ten quick ones.
    """
    past = [(600.0 * k, 1, 60.0 if k % 2 == 0 else 1200.0) for k in range(432)]
    late_s = 600.0 * 440
    burst = [(late_s + k, 1, 1200.0 if k <= 10 else 60.0) for k in range(1, 21)]
    jobs = jobs_of(
        [*past, (late_s, 4, 5000.0), *burst], queue=["quick", "slow"] * 216 + ["slow"] + ["slow"] * 10 + ["quick"] * 10
    )

    def starts_s(predictor: str) -> tuple[list[float], list[float]]:
        params = {"predictor": predictor, "preempt": False}
        found = simulate(jobs, "1x4", "gittins", params=params).jobs["start_s"].to_list()
        return found[-20:-10], found[-10:]

    slow, quick = starts_s("history")
    assert max(quick) <= min(slow)
    slow, quick = starts_s("none")
    assert max(slow) <= min(quick)


# -- what it may know ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "params", "estimate"),
    [("gittins", QUICK, None), ("sjf-backfill", {}, "history"), ("srtf", {}, "history"), ("easy", {}, "history")],
)
def test_durations_of_jobs_that_have_not_ended_change_no_earlier_decision(
    policy: str, params: dict[str, Any], estimate: str | None
) -> None:
    jobs, until_s = busy(3), 20_000.0
    once = simulate(jobs, "2x8", policy, params=params, estimate=estimate)
    origin_s = jobs.jobs["submit_s"][0]
    unfinished = once.jobs["end_s"] - origin_s > until_s
    other = jobs.jobs.with_columns(
        duration_s=pl.when(unfinished).then(pl.col("duration_s") * 3 + 1000).otherwise(pl.col("duration_s"))
    )
    again = simulate(replace(jobs, jobs=other), "2x8", policy, params=params, estimate=estimate)
    assert once.events is not None and again.events is not None
    early = [run.events.filter(pl.col("time_ms") < 1000 * until_s) for run in (once, again)]
    assert len(early[0]) > 300
    assert early[0].equals(early[1])
    assert not once.jobs.equals(again.jobs)


@pytest.mark.parametrize(
    ("predictor", "estimate", "knowledge"),
    [("history", None, "history"), ("none", "oracle", "none"), ("estimate", None, "oracle"),
     ("estimate", "lognormal:1", "estimate lognormal:1"), ("estimate", "history", "history")],
)  # fmt: skip
def test_what_it_is_told_follows_its_predictor(predictor: str, estimate: str | None, knowledge: str) -> None:
    result = simulate(busy(1, 30), "2x8", "gittins", params={"predictor": predictor}, estimate=estimate)
    assert result.info["knowledge"] == knowledge


def test_an_estimate_that_it_sorts_by_must_be_there() -> None:
    with pytest.raises(UsageError, match="requires durations"):
        simulate(busy(1, 30), "2x8", "gittins", params={"predictor": "estimate"}, estimate="none")


def test_useless_estimates_change_little() -> None:
    """Hints that say nothing: groups keep the pooled hazards, so ranks are those without a predictor."""
    jobs = busy(5, 3000)
    blind = simulate(jobs, "2x8", "gittins", params=QUICK | {"predictor": "none"}).jobs["jct_s"].mean()
    shuffled = jobs.jobs["duration_s"].sample(fraction=1.0, shuffle=True, seed=1)
    hints = replace(jobs, jobs=jobs.jobs.with_columns(time_limit_s=shuffled))
    misled = simulate(hints, "2x8", "gittins", params=QUICK | {"predictor": "estimate"}, estimate="limit")
    assert misled.jobs["jct_s"].mean() == pytest.approx(blind, rel=0.03)


def test_a_score_that_may_be_rounding_gives_a_group_no_hazards_of_its_own() -> None:
    """A group without jobs has the pooled hazards, but for rounding."""

    def indices_s(score: float) -> np.ndarray:
        simulation = opened(busy(7), "2x8", **QUICK, predictor="none", groups=1, memory_jobs=0)
        simulation.run(10_000_000)
        H = learnt(simulation)
        H.log_chance.array[0] = H.log_chance.array[MOST_GROUPS]  # so that no end adds to the score
        H.score[0] = score
        simulation.run(11_000_000)
        assert H.refitted > 10_800_000 and H.score[0] == score
        return index_of(simulation)

    assert (indices_s(1e-13) == indices_s(-1.0)).all()
    assert (indices_s(1e-6) != indices_s(-1.0)).any()
