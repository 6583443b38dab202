"""The lower bound, against machines stepped second by second."""

import time

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.report import summarise
from pointsman.report.metrics.lower_bound import lower_bound_s, srpt_mean_jct_s
from tests.free import simulate


def stepped_srpt(submit: list[int], work: list[int]) -> float:
    """Each second goes to the job with the least left."""
    left, ends, now = dict(enumerate(work)), {}, 0
    while left:
        here = [job for job in left if submit[job] <= now]
        now += 1
        if here:
            job = min(here, key=lambda job: left[job])
            left[job] -= 1
            if left[job] == 0:
                ends[job] = now
                del left[job]
    return sum(ends[job] - submit[job] for job in ends) / len(ends)


@pytest.mark.parametrize("seed", range(30))
def test_srpt_against_brute_force(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 12))
    submit, work = random.integers(0, 30, count), random.integers(1, 12, count)
    assert srpt_mean_jct_s(submit.astype(float), work.astype(float)) == pytest.approx(
        stepped_srpt(submit.tolist(), work.tolist())
    )


def test_alone_it_is_the_mean_duration() -> None:
    bound = lower_bound_s(np.array([5.0, 1e6]), np.array([1, 2]), np.array([10.0, 30.0]), 8)
    assert bound == 20


def test_crowded_it_is_srpt() -> None:
    bound = lower_bound_s(np.zeros(4), np.full(4, 8), np.full(4, 10.0), 8)
    assert bound == (10 + 20 + 30 + 40) / 4


def test_jobs_of_no_work_end_at_once() -> None:
    assert srpt_mean_jct_s(np.array([3.0, 3.0, 4.0]), np.zeros(3)) == 0


@pytest.mark.parametrize(("model", "alone_s"), [("tree", 85.0), ("tree:clamp=1", 100.0)])
def test_where_places_make_jobs_faster_it_is_of_the_fastest_place(model: str, alone_s: float) -> None:
    """Two gangs of 4 in turn on one node of 4: each costs 0.5 a rack, 0.25 a node and 4 times 0.025, 0.85 together."""
    jobs = pl.DataFrame({"submit_s": [0.0, 0.0], "gpus": [4, 4], "duration_s": [100.0, 100.0]})
    summary = summarise(simulate(pointsman.Workload.of(jobs), "1x4", "fifo", rate_model=model))
    assert summary["jct_lower_bound_s"] == pytest.approx(1.5 * alone_s)
    assert 0 <= summary["jct_above_bound_ratio"] < 2e-5  # ends are rounded up to whole milliseconds
    assert summary["makespan_lower_bound_s"] == pytest.approx(2 * alone_s)


def test_jobs_of_less_than_a_millisecond_are_not_below_the_bound() -> None:
    rows = [(i + 0.0006 * (i % 2), 1, duration_s) for i, duration_s in enumerate((0.0004, 0.0014, 0.4004, 0.0001))]
    jobs = pl.DataFrame(rows, schema=["submit_s", "gpus", "duration_s"], orient="row")
    result = simulate(pointsman.Workload.of(jobs), "1x1", "fifo")
    summary = summarise(result)
    assert summary["jct_above_bound_ratio"] == pytest.approx(0, abs=1e-12)
    assert summary["makespan_s"] >= summary["makespan_lower_bound_s"]


def test_waits_are_starts_less_submits() -> None:
    random = np.random.default_rng(3)
    columns = {"submit_s": 1e6 + random.uniform(0, 9, 99), "gpus": random.integers(1, 5, 99)}
    jobs = pl.DataFrame(columns | {"duration_s": random.exponential(0.4, 99)})
    ran = simulate(pointsman.Workload.of(jobs), "1x4", "fifo").jobs
    assert (ran["start_s"] - ran["submit_s"]).to_list() == pytest.approx(ran["wait_s"].to_list(), abs=1e-8)
    assert (ran["end_s"] - ran["submit_s"]).to_list() == pytest.approx(ran["jct_s"].to_list(), abs=1e-8)
    assert (ran["end_s"] - ran["start_s"]).to_list() == pytest.approx(ran["duration_s"].to_list(), abs=1e-8)


def test_a_million_jobs_take_seconds() -> None:
    random = np.random.default_rng(0)
    work = random.lognormal(0, 2, 1_000_000)
    submit = np.cumsum(random.exponential(work.mean() / 0.95, len(work)))
    began = time.process_time()
    assert srpt_mean_jct_s(submit, work) > work.mean()
    assert time.process_time() - began < 10
