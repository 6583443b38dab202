"""The benchmarks of metarl, on a few jobs."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.metarl import methods as bench
from benchmarks.metarl.cells import CHANGES, IMAGES, NEWCOMER, TALKERS, Cell
from pointsman.speed.interference.online.file import NAME, read_experience


def test_each_contestant_is_measured_against_the_true_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "RUNS", 1)
    rows = {row["who"]: row for row in bench.rows_of(bench.Cell(jobs=60), range(2001, 2003), tmp_path)}
    assert list(rows) == list(bench.CONTESTANTS)
    assert [rows[bench.CEILING][key] for key in ("above", "low", "high")] == [0, 0, 0]
    for method in bench.METHODS:
        (servers,) = read_experience(tmp_path / method / NAME)
        assert servers.seen == {}
        assert len(servers.models) == 8


def test_a_change_is_one_of_the_second_half() -> None:
    """Models, rates; the first half stays as it was."""
    plain = Cell(jobs=100).workload(32, 2001).jobs
    late = {}
    for change in CHANGES:
        jobs = Cell(jobs=100, change=change).workload(32, 2001).jobs
        assert jobs.head(50).equals(plain.head(50))
        late[change] = jobs.tail(50)
    assert set(late["image models"]["model"]) == set(IMAGES)
    assert set(late["models that communicate"]["model"]) == set(TALKERS)
    assert 10 < (late["an unseen model"]["model"] == NEWCOMER).sum() < 40
    gaps = {change: np.diff(jobs["submit_s"]) for change, jobs in late.items()}
    for times in (1.25, 2):
        assert gaps[f"rate x {times:g}"] == pytest.approx(gaps["image models"] / times)
