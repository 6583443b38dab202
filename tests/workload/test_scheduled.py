"""A run written as the log that a cluster would have kept of it."""

import polars as pl
import pytest

import pointsman
from pointsman.workload.transforms.narrow import narrowed
from pointsman.workload.transforms.rescale import at_load
from tests.free import simulate


@pytest.fixture
def workload() -> pointsman.Workload:
    jobs = {
        "job_id": ["a", "wide", "b", "c"],
        "submit_s": [5.0, 6.0, 7.00049, 8.0],
        "gpus": [8, 99, 8, 1],
        "duration_s": [10.0, 1.0, 20.0, 30.0],
        "time_limit_s": [60.0] * 4,
        "model": ["bert", None, None, None],
        "batch_size": [64, None, None, None],
    }
    return pointsman.Workload.of(pl.DataFrame(jobs))


def test_jobs_have_the_times_of_the_run_and_all_that_the_log_said(workload: pointsman.Workload) -> None:
    run = simulate(workload, "1x8", "fifo", oversized="drop", until_s=12)
    logged = pointsman.scheduled(workload, run)
    assert logged.jobs.select("job_id", "submit_s", "start_s", "end_s").rows() == [
        ("a", 5.0, 5.0, 15.0),
        ("b", 7.0, 15.0, None),
        ("c", 8.0, None, None),
    ]
    assert logged.jobs.row(0, named=True)["batch_size"] == 64
    assert logged.jobs["time_limit_s"].to_list() == [60.0] * 3
    assert logged.quality.dropped == {"not in the run": 1}
    assert "start_s and end_s are those of a simulated run" in logged.quality.notes


def test_jobs_that_are_changed_have_no_times(workload: pointsman.Workload) -> None:
    run = simulate(workload, "1x8", "fifo", oversized="drop")
    logged = pointsman.scheduled(workload, run)
    assert logged.is_logged
    for changed in (at_load(logged, 8, 0.5), narrowed(logged, 4)):
        assert not changed.is_logged
        assert changed.jobs["end_s"].null_count() == 3
        assert any(note.startswith("the log's own starts and ends are left out") for note in changed.quality.notes)
    assert narrowed(logged, 8).is_logged
