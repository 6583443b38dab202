"""Jobs of several attempts or tasks: Philly's and PAI's, also as sites have them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.workload import Workload, read_workload
from pointsman.workload.readers.attempts import Attempt, ran

CASES = Path(__file__).parents[3] / "shared" / "field" / "cases"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason=f"{CASES} is not here")


def jobs(read: Workload) -> dict[str, tuple[int, float]]:
    return {name: (gpus, length) for name, gpus, length in read.jobs.select("job_id", "gpus", "duration_s").iter_rows()}


@needs_cases
def test_field_overlapping_attempts() -> None:
    read = read_workload(CASES / "t01_philly.json")
    # 14:10 to 16:10 without a gap; 1 GPU-h and 16 GPU-h are 17 GPU-h on 16 GPUs
    assert jobs(read) == {"application_1": (2, 7200.0), "application_4": (16, 3825.0)}
    assert (read.jobs["duration_s"] <= read.jobs["end_s"] - read.jobs["start_s"]).all()
    assert read.quality.dropped == {"negative run time": 1, "never ran": 1, "no run time": 1, "no submit time": 1}
    assert "never ran (line 2)" in read.quality.render()


@needs_cases
def test_field_evaluators_that_outlive_workers() -> None:
    read = read_workload(CASES / "t02_pai.csv")
    assert jobs(read) == {"j1": (4, 3600.0), "j3": (8, 3600.0)}
    assert any("17.5 of 25.5 GPU-hours (jobs: 1)" in note for note in read.quality.notes)
    assert read.quality.dropped == {"a task has no end": 2, "no GPU count": 1}


@pytest.mark.parametrize(
    ("attempts", "gpus", "length_s"),
    [
        ([(0, 10, 2), (5, 20, 2)], 2, 20.0),  # overlapping
        ([(0, 100, 2), (5, 20, 2)], 2, 100.0),  # one within the other
        ([(0, 10, 2), (50, 60, 2)], 2, 20.0),  # a gap between
        ([(0, 10, 8), (10, 1010, 1)], 1, 1010.0),  # mostly on one GPU: no longer than from start to end
        ([(0, 10, 1), (10, 1010, 4)], 4, 1002.5),
        ([(0, 10, 4), (20, 30, 0)], 4, 20.0),  # the second does not list its GPUs
        ([(0, 0, 4)], 4, 0.0),
        ([(0, 20, 2), (10, 20, 4)], 4, 15.0),  # where they overlap the wider one counts: 20 + 40 GPU-s
    ],
)
def test_attempts(attempts: list[tuple[float, float, int]], gpus: int, length_s: float) -> None:
    found = ran([Attempt(*attempt) for attempt in attempts])
    assert found is not None
    assert (found.gpus, found.duration_s) == (gpus, length_s)


SPAN = st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(1, 8))


@given(st.lists(SPAN, min_size=1, max_size=6))
def test_no_job_is_longer_than_from_its_first_start_to_its_last_end(spans: list[tuple[int, int, int]]) -> None:
    attempts = [Attempt(start, start + length, gpus) for start, length, gpus in spans]
    found = ran(attempts)
    assert found is not None
    assert found.duration_s is not None
    assert found.start_s is not None
    assert found.end_s is not None
    assert found.gpus is not None
    assert 0 <= found.duration_s <= found.end_s - found.start_s
    assert found.gpus * found.duration_s <= sum(length * gpus for _, length, gpus in spans) + 1e-6


def test_a_stamp_that_cannot_be_read_is_not_absent(tmp_path: Path) -> None:
    def job(name: str, submitted: str, end: str | None) -> dict:
        attempt = {"start_time": "2017-10-06 14:10:00", "end_time": end, "detail": [{"ip": "m", "gpus": ["gpu0"]}]}
        return {
            "jobid": name,
            "user": "u",
            "vc": "v",
            "status": "Pass",
            "submitted_time": submitted,
            "attempts": [attempt],
        }

    good = "2017-10-06 14:20:00"
    listed = [job("a", "2017-10-06 14:00:00", good), job("b", "Friday", good), job("c", "2017-10-06 14:00:00", "later")]
    (tmp_path / "log").write_text("[\n" + ",\n".join(map(json.dumps, listed)) + "]")
    quality = read_workload(tmp_path / "log").quality
    assert quality.dropped == {"run time cannot be read": 1, "submit time cannot be read": 1}
    assert "submit time cannot be read (line 3; line 3 has 'Friday')" in quality.render()
    assert "run time cannot be read (line 4; line 4 has 'later')" in quality.render()


TASKS = "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n"


def test_a_chief_that_outlives_its_workers_and_a_task_after_them(tmp_path: Path) -> None:
    rows = (
        "a,chief,1.0,Terminated,0.0,7200.0,1,1,100.0,V100\n"
        "a,worker,7.0,Terminated,10.0,3600.0,1,1,100.0,V100\n"
        "a,export,2.0,Terminated,9000.0,12600.0,1,1,100.0,V100\n"
        "b,evaluator,2.0,Terminated,0.0,3600.0,1,1,100.0,V100\n"
        "c,worker,1.0,Terminated,0.0,soon,1,1,100.0,V100\n"
    )
    (tmp_path / "log").write_text(TASKS + rows)
    read = read_workload(tmp_path / "log")
    assert jobs(read) == {"a": (8, 3600.0), "b": (2, 3600.0)}
    # the chief's second hour on 1 GPU, and the export's on 2
    assert any("are left out: 3.0 of 11.0 GPU-hours (jobs: 1)" in note for note in read.quality.notes)
    assert read.quality.dropped == {"run time cannot be read": 1}
    assert read.quality.merged == {"further tasks of a job": 2}
