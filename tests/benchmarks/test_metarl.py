"""The benchmark of metarl, on a few jobs."""

from pathlib import Path

import pytest

from benchmarks.metarl import __main__ as bench
from pointsman.speed.interference.online.file import NAME, read_experience


def test_each_contestant_is_measured_against_the_true_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "RUNS", 1)
    rows = {row["who"]: row for row in bench.rows_of(bench.Cell(jobs=60), range(2001, 2003), tmp_path)}
    assert list(rows) == list(bench.CONTESTANTS)
    assert [rows[bench.CEILING][key] for key in ("above", "low", "high")] == [0, 0, 0]
    assert min(rows[name]["above"] for name in ("lb", "packed")) > 0
    for method in bench.METHODS:
        (servers,) = read_experience(tmp_path / method / NAME)
        assert servers.seen == {}
        assert len(servers.models) == 8
