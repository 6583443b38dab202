"""Every definition of docs/background/metrics.md, worked by hand."""

import math

import numpy as np
import polars as pl
import pytest

from pointsman.errors import UsageError
from pointsman.report.metrics.counted import counted_jobs, submit_window
from pointsman.report.metrics.fairness import finish_time_fairness, jain_index, mean_jobs_in_system
from pointsman.report.metrics.holdings import holdings, mean_held
from pointsman.report.metrics.steps import step_means
from pointsman.report.result import Result
from pointsman.report.summary import summarise
from tests.report.small_results import Job, simulate


@pytest.fixture
def three() -> Result:
    """FIFO on one node of 4: a (4 GPUs, 0-10 s), b (2 GPUs, submit 2, 10-30 s), c (4 GPUs, submit 4, 30-36 s)."""
    jobs = [Job(0, 0, 4, 10, "ann", "q"), Job(1, 2, 2, 20, "bob", "q"), Job(2, 4, 4, 6, "ann", "r")]
    return simulate(jobs, nodes=1, size=4)


def test_times_by_hand(three: Result) -> None:
    summary = summarise(three)
    assert three.jobs["jct_s"].to_list() == [10, 28, 32]
    assert summary["jct_mean_s"] == pytest.approx(70 / 3)
    assert summary["jct_p50_s"] == 28
    assert summary["jct_p95_s"] == pytest.approx(28 + 0.9 * 4)
    assert summary["wait_mean_s"] == pytest.approx((0 + 8 + 26) / 3)
    assert summary["wait_p99_s"] == pytest.approx(8 + 0.98 * 18)
    assert summary["makespan_s"] == 36
    assert summary["makespan_lower_bound_s"] == pytest.approx(max((40 + 40 + 24) / 4, 20))


def test_usage_by_hand(three: Result) -> None:
    summary = summarise(three)
    assert summary["gpu_allocated_ratio"] == pytest.approx(104 / (4 * 36))
    assert summary["gpu_productive_ratio"] == pytest.approx(104 / (4 * 36))
    assert summary["window_allocated_ratio"] == pytest.approx(1.0), "a holds all GPUs until the last submit"
    assert summary["load"] == pytest.approx(104 / (4 * 4))
    assert summary["gpu_hours_offered"] == pytest.approx(4 * 36 / 3600)


def test_fairness_by_hand(three: Result) -> None:
    # in the system: 0-2 s a; 2-4 a, b; 4-10 a, b, c; 10-30 b, c; 30-36 c
    rho = counted_jobs(three, submit_window(three))["rho"].to_list()
    nbar = [(2 * 1 + 2 * 2 + 6 * 3) / 10, (2 * 2 + 6 * 3 + 20 * 2) / 28, (6 * 3 + 20 * 2 + 6 * 1) / 32]
    assert rho[0] == pytest.approx(10 / (10 * nbar[0]))
    assert rho[1] == pytest.approx(28 / (20 * max(1, 2 * nbar[1] / 4)))
    assert rho[2] == pytest.approx(32 / (6 * nbar[2]))
    assert summarise(three)["fairness_rho_max"] == pytest.approx(max(rho))


def test_fairness_of_jobs_that_take_no_time_less_than_a_second_or_do_not_end() -> None:
    """On one GPU: 0.5 s from 0, nothing from 0.5 (after a wait) and at once at 1, and one that never ends."""
    columns = {
        "submit_s": [0.0, 0.0, 1.0, 2.0],
        "end_s": [0.5, 0.5, 1.0, None],
        "duration_s": [0.5, 0.0, 0.0, 5.0],
        "asked": [1] * 4,
    }
    jobs = pl.DataFrame(columns)
    rho = finish_time_fairness(jobs, 1)
    assert rho[0] == pytest.approx(0.5 / (0.5 * 2))
    assert np.isnan(rho[1:]).all()
    assert len(finish_time_fairness(jobs.clear(), 1)) == 0


def test_bound_by_hand(three: Result) -> None:
    # SRPT of areas 10, 10, 6 submitted at 0, 2, 4: a to 10, c to 16, b to 26
    assert summarise(three)["jct_lower_bound_s"] == pytest.approx((10 + 12 + 24) / 3)
    assert summarise(three)["jct_above_bound_ratio"] == pytest.approx(70 / 46 - 1)


def test_fragmentation_by_hand() -> None:
    """Two nodes of 2: from 3 s on a job of 1 GPU on each keeps a job of 2 out, although 2 GPUs are idle."""
    jobs = [Job(0, 0, 1, 3), Job(1, 0, 1, 20), Job(2, 0, 1, 20), Job(3, 3, 2, 5), Job(4, 9, 1, 1)]
    result = simulate(jobs, nodes=2, size=2)
    blocked = summarise(result, window=(3, 9))
    assert blocked["fragmentation_ratio"] == pytest.approx(2 / 4, rel=0.01)
    assert blocked["fragmentation"]["largest_free_mean"] == pytest.approx(1, rel=0.01)
    assert blocked["fragmentation"]["blocked_time_ratio"] == pytest.approx(1, rel=0.01)
    assert summarise(result)["fragmentation_ratio"] == pytest.approx(2 / 4 * 6 / 9, rel=0.02), "sampled"


def test_breakdowns_and_locality(three: Result) -> None:
    summary = summarise(three)
    assert [row["bucket"] for row in summary["by_gpus"]] == ["2", "3-4"]
    assert {row["user"]: row["jobs"] for row in summary["by_user"]} == {"ann": 2, "bob": 1}
    by_queue = {row["queue"]: row for row in summary["by_queue"]}
    assert by_queue["q"]["wait_mean_s"] == 4
    assert by_queue["r"]["wait_p95_s"] == 26
    assert by_queue["q"]["gpu_hours"] == pytest.approx(80 / 3600)
    assert summary["locality"] == {"NODE": 3}


@pytest.mark.parametrize(("gpus", "bucket"), [(1, "1"), (2, "2"), (3, "3-4"), (4, "3-4"), (5, "5-8"), (8, "5-8"),
                                              (9, "9-16"), (32, "17-32"), (33, "33-64"), (63, "33-64")])  # fmt: skip
def test_buckets(gpus: int, bucket: str) -> None:
    result = simulate([Job(0, 0, gpus, 5)], nodes=1, size=64)
    assert summarise(result)["by_gpus"][0]["bucket"] == bucket


def test_window_counts_submits_in_it(three: Result) -> None:
    summary = summarise(three, window=(2, 3))
    assert (summary["jobs"], summary["jobs_counted"], summary["jobs_censored"]) == (3, 1, 0)
    assert summary["jct_mean_s"] == 28
    assert summary["window"] == {"from_s": 2, "to_s": 3}


def test_window_without_submits_is_refused(three: Result) -> None:
    with pytest.raises(UsageError, match="contains no submission"):
        summarise(three, window=(5, 9))


def test_a_window_between_two_submits_counts_nobody(three: Result) -> None:
    summary = summarise(three, window=(3, 3.5))
    assert summary["jobs_counted"] == 0
    assert summary["jct_mean_s"] is None
    assert summary["fairness_rho_max"] is None
    assert summary["jct_lower_bound_s"] is None


def test_cut_jobs_are_censored_not_counted(three: Result) -> None:
    never = dict.fromkeys(("start_s", "end_s", "wait_s", "jct_s"))
    still = {**never, "state": "PENDING", "run_s": 0.0, "held_gpu_s": 0.0}
    rows = [row | still if row["row"] == 2 else row for row in three.jobs.to_dicts()]
    cut = pl.DataFrame(rows, schema=three.jobs.schema)
    summary = summarise(Result(cut, three.events, three.series, three.info))
    assert (summary["jobs_counted"], summary["jobs_censored"]) == (2, 1)
    assert summary["jct_mean_s"] == 19
    assert summary["gpu_hours_productive"] == pytest.approx(80 / 3600)


def test_an_empty_run_has_no_figures(three: Result) -> None:
    empty = Result(three.jobs.clear(), three.events.clear(), three.series.clear(), three.info)  # ty: ignore
    summary = summarise(empty)
    assert summary["jobs"] == 0
    assert summary["jct_mean_s"] is None
    assert summary["gpu_allocated_ratio"] is None


def test_lost_work_and_preemptions(three: Result) -> None:
    jobs = three.jobs.with_columns(lost_s=pl.Series([0.0, 3600.0, 0.0]), preemptions=pl.Series([0, 2, 1]))
    summary = summarise(Result(jobs, None, three.series, three.info))
    assert summary["lost_gpu_hours"] == 2
    assert summary["preemptions"] == 3
    assert summary["jobs_preempted"] == 2


def test_holdings_end_at_preemptions(srtf: Result) -> None:
    held = holdings(srtf)
    assert held is not None
    assert srtf.jobs["preemptions"].sum() > 0
    total = (
        held.group_by("row")
        .agg((pl.col("gpus") * (pl.col("to_s") - pl.col("from_s"))).sum().alias("gpu_s"))
        .sort("row")
    )
    np.testing.assert_allclose(total["gpu_s"], srtf.jobs["held_gpu_s"])


def test_window_usage_agrees_with_and_without_the_plan_log(fifo: Result) -> None:
    logged = summarise(fifo)["window_allocated_ratio"]
    plain = summarise(Result(fifo.jobs, None, fifo.series, fifo.info))["window_allocated_ratio"]
    assert plain == pytest.approx(logged)


def test_mean_held_is_the_integral(srtf: Result) -> None:
    held = holdings(srtf)
    assert held is not None
    edges = np.linspace(100.0, 50_000.0, 8)
    node = held["node"].to_numpy()
    found = mean_held(held, node, 8, edges)
    for k in range(7):
        overlap = np.minimum(held["to_s"], edges[k + 1]) - np.maximum(held["from_s"], edges[k])
        gpu_s = held["gpus"].to_numpy() * np.clip(overlap, 0, None)
        np.testing.assert_allclose(found[:, k], np.bincount(node, gpu_s, 8) / (edges[k + 1] - edges[k]), atol=1e-9)


def test_jobs_in_system_against_brute_force() -> None:
    random = np.random.default_rng(3)
    arrive = random.uniform(0, 100, 40)
    leave = np.where(random.uniform(size=40) < 0.2, np.inf, arrive + random.exponential(20, 40))
    found = mean_jobs_in_system(arrive, leave)
    for i in range(40):
        overlap = np.clip(np.minimum(leave, leave[i]) - np.maximum(arrive, arrive[i]), 0, None)
        expected = overlap.sum() / (leave[i] - arrive[i]) if np.isfinite(leave[i]) else math.nan
        assert found[i] == pytest.approx(expected, nan_ok=True)


def test_jain() -> None:
    assert jain_index(np.array([2.0, 2.0, math.nan])) == 1
    assert jain_index(np.array([1.0, 0.0, 0.0, 0.0])) == 0.25
    assert jain_index(np.array([math.nan])) is None


def test_step_means_by_hand() -> None:
    # 2 until 1 s, 4 until 5 s, 0 from then on
    found = step_means([0.0, 1.0, 5.0], [2, 4, 0], [0.0, 2.0, 4.0, 8.0])
    assert found.tolist() == [3.0, 4.0, 1.0]
    assert step_means([3.0], [7], [0.0, 1.0, 9.0]).tolist() == [7.0, 7.0]
