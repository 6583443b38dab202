"""Workloads of Batsim."""

from pathlib import Path

import pytest

from pointsman.errors import InputError
from pointsman.workload import read_workload

HERE = Path(__file__).parent / "fixtures"
CASES = Path(__file__).parents[3] / "shared" / "field" / "cases"


def test_delays_sequences_and_wall_times() -> None:
    found = read_workload(HERE / "batsim.json")
    assert found.jobs.select("job_id", "submit_s", "gpus", "duration_s", "time_limit_s").rows() == [
        ("w0!1", 0.0, 4, 20.4, 100.0),
        ("w0!2", 12.5, 8, 600.0, 600.0),
        ("w0!3", 20.0, 2, pytest.approx(81.6), None),
    ]
    assert found.quality.clamped == {"run time not told by the profile: the wall time, its upper bound, stands in": 1}
    assert found.quality.dropped == {"no run time": 1, "submit time cannot be read": 1}
    assert "submit time cannot be read (line 8; line 8 has 'soon')" in found.quality.render()


def test_a_sequence_that_holds_itself(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(
        '{"profiles": {"a": {"seq": ["a"]}}, '
        '"jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "a", "walltime": 5}]}'
    )
    assert read_workload(tmp_path / "log").jobs["duration_s"].to_list() == [5.0]


def test_without_profiles(tmp_path: Path) -> None:
    (tmp_path / "log").write_text('{"jobs": [{"id": 1, "subtime": 0}], "profiles": []}')
    with pytest.raises(InputError, match="no workload of Batsim"):
        read_workload(tmp_path / "log")


@pytest.mark.skipif(not CASES.is_dir(), reason=f"{CASES} is not here")
def test_field_delays() -> None:
    """250 jobs on 128 resources; the first runs 172.94 s."""
    found = read_workload(CASES / "t06_batsim.json")
    assert (found.jobs.height, found.quality.rows_read, found.quality.dropped) == (250, 250, {})
    assert found.jobs.select("job_id", "gpus", "duration_s", "time_limit_s").row(0) == ("0", 8, 172.94, 300.0)
    assert found.jobs["gpus"].max() == 128
