"""Jobs that the log shows as running far beyond their limit."""

from pathlib import Path

import pytest

from pointsman.errors import InputError, UsageError
from pointsman.workload import Workload, read_workload
from pointsman.workload.transforms.runaways import RUNAWAY

HEADER = "job_id,submit_s,gpus,duration_s,time_limit_s,status\n"
ROWS = (
    "done,0,1,5000,100,COMPLETED\n"  # over its limit, but ended
    "late,0,1,300,100,RUNNING\n"
    "lost,0,8,90000,100,RUNNING\n"
    "free,0,1,90000,,RUNNING\n"  # no limit
    "fine,0,1,110,100,RUNNING\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "jobs.csv").write_text(HEADER + ROWS)
    return tmp_path / "jobs.csv"


def ids(workload: Workload) -> list[str]:
    return workload.jobs["job_id"].to_list()


@pytest.mark.parametrize(
    ("choice", "kept", "done"),
    [
        (None, ["done", "late", "free", "fine"], "1 dropped (--runaways keep keeps them)"),
        ("keep", ["done", "late", "lost", "free", "fine"], "all kept (--runaways drop leaves them out)"),
        ("drop", ["done", "free", "fine"], "all dropped (--runaways keep keeps them)"),
    ],
)
def test_what_becomes_of_them(log: Path, choice, kept: list[str], done: str) -> None:
    read = read_workload(log, runaways=choice)
    assert ids(read) == kept
    assert sum(read.quality.dropped.values()) == 5 - len(kept)
    (note,) = [note for note in read.quality.notes if note.startswith("runaway")]
    # 8 × 90,000 s and 300 s of 815,410 GPU-seconds
    assert "time limit: 2, with 88.3% of all GPU-hours; the furthest, job lost, is at 900 times its limit" in note
    assert note.endswith(done)
    if choice != "keep":
        example = {None: "lost", "drop": "late"}[choice]
        assert f": {RUNAWAY} (such as 'job {example}')\n" in read.quality.render()


def test_a_log_without_any_is_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(HEADER + "fine,0,1,110,100,RUNNING\n")
    assert read_workload(tmp_path / "jobs.csv").quality.notes == ()


def test_a_log_of_nothing_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(HEADER + "lost,0,8,90000,100,RUNNING\n")
    with pytest.raises(InputError, match="--runaways keep"):
        read_workload(tmp_path / "jobs.csv")


def test_another_choice(log: Path) -> None:
    with pytest.raises(UsageError, match="runaways = 'flag': it must be one of keep, drop"):
        read_workload(log, runaways="flag")  # ty: ignore[invalid-argument-type]
