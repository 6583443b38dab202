"""Deadlines met: the share of the jobs with one that completed by it."""

from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman import Workload
from pointsman.errors import ThresholdError
from pointsman.report.metrics.threshold import fail_if
from pointsman.report.tables.tables import DEADLINES, comparison_table, summary_table
from tests.free import simulate

JOBS: dict[str, Any] = {"submit_s": [100.0, 100.0, 100.0, 130.0], "gpus": [1] * 4, "duration_s": [10.0] * 4}


def ratio(deadlines: list[float | None], window: tuple[float, float] | None = None, **options: Any) -> float | None:
    """On one GPU under fifo the jobs end at 110, 120, 130 and 140 s."""
    jobs = Workload.of({**JOBS, "deadline_s": deadlines}, columns=["deadline_s"])
    return pointsman.summarise(simulate(jobs, "1x1", "fifo", **options), window=window)["deadlines_met_ratio"]


@pytest.mark.parametrize(
    ("deadlines", "met"),
    [
        ([110.0, 120.0, 130.0, 140.0], 1.0),
        ([109.999, 120.0, 130.0, 140.0], 1.0),  # whole milliseconds
        ([109.99, 120.0, 130.0, 140.0], 0.75),
        ([None, 119.0, 131.0, None], 0.5),
        ([None, None, None, 0.0], 0.0),
        ([None] * 4, None),
    ],
)
def test_a_deadline_is_met_by_an_end_until_then(deadlines: list[float | None], met: float | None) -> None:
    assert ratio(deadlines) == met


def test_jobs_outside_of_the_window_do_not_count() -> None:
    assert ratio([0.0, 0.0, 0.0, 140.0], window=(30.0, 30.0)) == 1.0


def test_jobs_that_have_not_ended() -> None:
    """Cut at 115 s: job 1 runs and job 2 waits. Their deadlines count once they are over."""
    assert ratio([110.0, 115.0, 200.0, 200.0], until_s=15.0) == 0.5
    assert ratio([110.0, 116.0, 200.0, 200.0], until_s=15.0) == 1.0
    assert ratio([None, 116.0, None, None], until_s=15.0) is None


class Refuses:
    """Starts no job but the first."""

    name, needs = "refuses", "none"

    def decide(self, view: Any) -> None:
        if 0 in view.jobs["row"][view.pending]:
            view.start(int(view.pending[0]))


def test_a_job_that_is_never_started_misses_its_deadline() -> None:
    jobs = Workload.of({**JOBS, "deadline_s": [110.0, 200.0, 1e9, None]}, columns=["deadline_s"])
    summary = simulate(jobs, "1x1", Refuses()).summary
    assert (summary["jobs_counted"], summary["deadlines_met_ratio"]) == (1, pytest.approx(1 / 3))


def test_a_job_that_is_cancelled_has_none_and_one_that_is_killed_misses_its_own() -> None:
    assert ratio([110.0, 0.0, 130.0, 140.0], cancels=[(5.0, 1)]) == 1.0
    jobs = {**JOBS, "time_limit_s": [5.0] * 4, "deadline_s": [110.0] * 4}
    killed = simulate(Workload.of(jobs, columns=["deadline_s"]), "1x4", "fifo", enforce_limits=True)
    assert (killed.jobs["state"][0], killed.summary["deadlines_met_ratio"]) == ("TIMEOUT", 0.0)


def test_there_is_no_such_figure_without_the_column() -> None:
    result = simulate(Workload.of(JOBS), "1x1", "fifo")
    assert result.summary["deadlines_met_ratio"] is None
    assert DEADLINES not in [row[0] for row in summary_table(result.summary).rows]
    comparison = pointsman.compare([result])
    assert DEADLINES not in comparison_table(comparison).columns
    with pytest.raises(ThresholdError, match="cannot be judged: deadlines_met_ratio is unknown under fifo"):
        fail_if(comparison, "deadlines_met_ratio<0.9")


def test_tables_and_conditions_have_it() -> None:
    jobs = Workload.of({**JOBS, "deadline_s": [150.0, 120.0, 110.0, None]}, columns=["deadline_s"])
    results = [simulate(jobs, "1x1", policy) for policy in ("fifo", "sjf")]
    assert (DEADLINES, "66.7 %") in summary_table(results[0].summary).rows
    comparison = pointsman.compare(results)
    table = comparison_table(comparison)
    assert [row[table.columns.index(DEADLINES)] for row in table.rows] == ["66.7 %", "66.7 %"]
    assert comparison.rows[1].differences["deadlines_met_ratio"].value == 0.0
    fail_if(comparison, "deadlines_met_ratio<60%")
    with pytest.raises(ThresholdError, match=r"deadlines_met_ratio is 0\.667 under fifo"):
        fail_if(comparison, "deadlines_met_ratio<0.9")
    assert (
        isinstance(comparison.to_csv(), str)
        and pl.read_csv(comparison.to_csv().encode())["deadlines_met_ratio"][0] > 0.6
    )
