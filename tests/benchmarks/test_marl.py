"""The runs behind MARL's page: each is kept as soon as it has ended, and not run again."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.marl import runs
from benchmarks.marl.__main__ import compared, rows_of, told
from benchmarks.marl.cells import Cell
from benchmarks.marl.contestants import Contestant
from benchmarks.placement.cell import BLIND

SMALL = Cell(topology="fat-tree:4", jobs=30)


def test_runs_go_on_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WORKERS", 1)
    three = [Contestant(name, name) for name in BLIND]
    file = tmp_path / "runs.jsonl"
    runs.complete(file, [SMALL], three, [1])
    before = file.read_text()
    who = [*three, Contestant("two trainings", "scorer", ({}, {"patience": 0.0}), divided=True)]
    found = runs.complete(file, [SMALL], who, [1, 2])
    assert file.read_text().startswith(before)
    assert len(found) == 2 * (1 + 3 + 2) == len(file.read_text().splitlines())
    assert runs.kept(file) == pytest.approx(found, abs=1e-3)
    means = runs.means_of(found, SMALL, "two trainings", 2, [1, 2])
    assert means.shape == (2, 2) and (means[0] != means[1]).any()
    assert (runs.means_of(found, SMALL, runs.BOUND, 1, [1, 2]) < means).all()
    below = {row["who"]: row["below the three"] for row in rows_of(found, SMALL, who, [1, 2])}
    assert max(below[name] for name in BLIND) == 0.0 <= below[runs.BOUND]


def test_trainings_are_compared_one_by_one_and_with_what_was_not_trained() -> None:
    mine, theirs, alone = np.array([[1.0, 4.0], [3.0, 8.0]]), np.array([[2.0, 4.0], [3.0, 4.0]]), np.array([[1.0, 2.0]])
    assert compared(mine, theirs).tolist() == [[-50.0, 0.0], [0.0, 100.0]]
    assert compared(mine, alone).tolist() == [[0.0, 100.0], [200.0, 300.0]]
    assert compared(alone, theirs).tolist() == [[-50.0, -50.0], [pytest.approx(-200 / 3), -50.0]]
    assert told("x", np.full((2, 3), 7.0)) == {"x": 7.0, "x, low": 7.0, "x, high": 7.0}
    assert told("x", np.array([[7.0]])) == {"x": 7.0, "x, low": None, "x, high": None}
