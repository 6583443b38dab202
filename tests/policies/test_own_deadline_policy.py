"""The example of a policy for jobs with deadlines: schedules worked out by hand, and guarantees that it keeps."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman import Workload
from pointsman.policies.registry import get_policy
from tests.free import simulate

POLICY = f"{Path(__file__).parents[2] / 'examples' / 'my_deadline_policy.py'}:Deadlines"
Row = tuple[float, int, float, float | None]


def jobs_of(*rows: Row) -> Workload:
    """Of (submit_s, gpus, duration_s, deadline_s) each."""
    frame = pl.DataFrame(rows, schema=["submit_s", "gpus", "duration_s", "deadline_s"], orient="row", strict=False)
    return Workload.of(frame, columns=["deadline_s"])


def ends_s(jobs: Workload, cluster: str = "1x2", slack_s: float = 0.0, **options: Any) -> list[float]:
    result = simulate(jobs, cluster, POLICY, params={"slack_s": slack_s}, audit=True, **options)
    return result.jobs["end_s"].to_list()


def test_a_guaranteed_job_preempts_at_the_last_moment() -> None:
    """Job 1 must begin by 20 s, so job 0 stops then, and goes on from 40 to 120 s. With job 1, the GPU time until 45 s
    is not enough for job 2, which is last in order of submission.
    """
    jobs = jobs_of((0.0, 2, 100.0, None), (10.0, 2, 20.0, 40.0), (10.0, 2, 20.0, 45.0))
    assert ends_s(jobs) == [120.0, 40.0, 140.0]
    result = simulate(jobs, "1x2", POLICY, params={"slack_s": 0.0})
    assert result.jobs["preemptions"].to_list() == [1, 0, 0]
    assert result.summary["deadlines_met_ratio"] == 0.5
    assert simulate(jobs, "1x2", "fifo").summary["deadlines_met_ratio"] == 0.0


def test_with_slack_it_preempts_sooner() -> None:
    jobs = jobs_of((0.0, 2, 100.0, None), (10.0, 2, 20.0, 40.0))
    assert ends_s(jobs, slack_s=5.0) == [120.0, 35.0]
    assert ends_s(jobs, slack_s=1000.0) == [120.0, 30.0]


def test_the_earliest_deadline_is_first_and_what_is_guaranteed_stays() -> None:
    """Jobs 1 and 2 are guaranteed; there is then not enough GPU time for job 3, whose deadline is the earliest."""
    jobs = jobs_of((0.0, 2, 10.0, None), (1.0, 2, 10.0, 32.0), (1.0, 2, 10.0, 31.0), (2.0, 2, 12.0, 30.0))
    assert ends_s(jobs) == [10.0, 30.0, 20.0, 42.0]


def test_gpus_that_are_left_go_to_others() -> None:
    """Job 1 does not fit before 50 s, and need not begin before 80 s."""
    jobs = jobs_of((0.0, 1, 50.0, None), (1.0, 2, 20.0, 100.0), (1.0, 1, 30.0, None))
    assert ends_s(jobs) == [50.0, 70.0, 31.0]


def test_jobs_that_must_not_be_preempted_are_not() -> None:
    frame = jobs_of((0.0, 2, 100.0, None), (10.0, 2, 20.0, 40.0)).jobs.with_columns(preemptible=pl.lit(False))
    assert ends_s(Workload.of(frame, columns=["deadline_s"])) == [100.0, 120.0]


def test_stops_that_take_time_are_waited_for() -> None:
    """Job 0 stops from 15 to 20 s; job 2, which would fit, does not take its GPU."""
    jobs = jobs_of((0.0, 1, 100.0, None), (10.0, 1, 20.0, 40.0), (16.0, 1, 5.0, None))
    ends = ends_s(jobs, "1x1", slack_s=5.0, overheads={"start_s": 0.0, "stop_s": 5.0, "restore_s": 0.0})
    assert ends == [125.0, 40.0, 130.0]


def test_most_guarantees_are_kept_where_a_third_of_the_jobs_has_a_deadline() -> None:
    jobs = pointsman.generate("philly", jobs=300, cluster_gpus=16, load=1.1, seed=3).jobs
    due = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.col("submit_s") + 2 * pl.col("duration_s"))
    workload = Workload.of(jobs.with_columns(deadline_s=due), columns=["deadline_s"])
    policy: Any = get_policy(POLICY).make()
    result = pointsman.simulate(workload, "2x8", policy)
    guaranteed = result.jobs.filter(pl.col("row").is_in([*policy.guaranteed]))
    kept = (guaranteed["end_s"] <= guaranteed["deadline_s"] + 0.001).mean()
    fifo = pointsman.simulate(workload, "2x8", "fifo-backfill").summary["deadlines_met_ratio"]
    assert 50 <= guaranteed.height <= 100
    assert kept is not None and kept > 0.9  # ty: ignore
    assert result.summary["deadlines_met_ratio"] > fifo + 0.1


def test_a_future_goes_on_with_the_guarantees() -> None:
    policy: Any = get_policy(POLICY).make()
    policy.guaranteed, policy.judged = {1, 2}, 7
    copy = policy.copy()
    copy.guaranteed.add(3)
    assert (policy.guaranteed, copy.judged, copy.slack_s) == ({1, 2}, 7, policy.slack_s)
    with pytest.raises(pointsman.errors.UsageError, match="requires the column deadline_s"):
        simulate(Workload.of({"submit_s": [0.0], "gpus": [1], "duration_s": [1.0]}), "1x1", policy)
