"""The runs behind MARL's page: each is kept as soon as it has ended, and not run again."""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.marl import runs
from benchmarks.marl.__main__ import compared, rows_of, told
from benchmarks.marl.cells import Cell
from benchmarks.marl.contestants import MARL, SCORER, Contestant, ablations, everybody
from benchmarks.marl.trainings import know_less
from benchmarks.marl.variants import BLIND as UNKNOWN
from benchmarks.marl.variants import LEARNT, MEASURED
from benchmarks.placement.cell import BLIND, mean_jct_s, run
from pointsman.speed import load_catalogue
from pointsman.speed.interference.learned.combinations import combination_of
from pointsman.speed.interference.learned.file import read_learned

TRAINED = Path(runs.__file__).parent / "trained"
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


def test_runs_that_share_a_network_are_as_alone() -> None:
    """Of unlike length: the others go on."""
    pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    from benchmarks.marl.together import mean_jcts_s

    params = next(one for one in everybody(TRAINED) if one.label == MARL).params(1, SMALL)
    cells = [replace(SMALL, load=1.2), replace(SMALL, load=1.2, jobs=12)]
    with tempfile.TemporaryDirectory() as folder:
        on, servers = SMALL.cluster(Path(folder))
        workloads = [cell.workload(servers, seed) for cell in cells for seed in (1, 2)]
        found = mean_jcts_s(workloads, on, [5] * 4, params)
        alone = [mean_jct_s(run(jobs, on, "marl", params=params, seed=5)) for jobs in workloads]
        scorer = mean_jct_s(run(workloads[0], on, "scorer", params={"schedulers": 4, "forward": True}, seed=5))
    assert found == alone and alone[0] != scorer


def test_trainings_are_compared_one_by_one_and_with_what_was_not_trained() -> None:
    mine, theirs, alone = np.array([[1.0, 4.0], [3.0, 8.0]]), np.array([[2.0, 4.0], [3.0, 4.0]]), np.array([[1.0, 2.0]])
    assert compared(mine, theirs).tolist() == [[-50.0, 0.0], [0.0, 100.0]]
    assert compared(mine, alone).tolist() == [[0.0, 100.0], [200.0, 300.0]]
    assert compared(alone, theirs).tolist() == [[-50.0, -50.0], [pytest.approx(-200 / 3), -50.0]]
    assert told("x", np.full((2, 3), 7.0)) == {"x": 7.0, "x, low": 7.0, "x, high": 7.0}
    assert told("x", np.array([[7.0]])) == {"x": 7.0, "x, low": None, "x, high": None}


def test_all_that_is_trained_decides_by_what_was_learnt_on_such_servers() -> None:
    who = {one.label: one for one in [*everybody(TRAINED), *ablations(TRAINED)]}
    assert [len(who[name].trainings) for name in (SCORER, MARL)] == [5, 5]
    told = who[MARL].params(2, Cell(schedulers=8))
    assert told["checkpoint"].endswith("marl-3") and (told["schedulers"], told["forward"]) == (8, True)
    assert told["interference"] == str(TRAINED.absolute() / "interference.yaml")
    assert who[SCORER].params(0, Cell(cpus=48))["interference"].endswith("/interference-48-cores.yaml")
    assert "interference" not in who["lif"].params(0, Cell()) | who[f"{SCORER}, the truth"].params(0, Cell())
    assert who[f"{SCORER}, no waiting"].params(1, Cell())["patience"] == 0.0
    assert not who[f"{MARL}, no forwarding"].params(1, Cell())["forward"]


def test_what_ablations_know_is_less(tmp_path: Path) -> None:
    """One what was measured, the other nothing: all else takes no longer than alone."""
    shutil.copy(TRAINED / LEARNT, tmp_path)
    know_less(tmp_path)
    whole, measured, blind = (
        read_learned(tmp_path / name, load_catalogue()).servers[0] for name in (LEARNT, MEASURED, UNKNOWN)
    )
    assert len(whole.slow_downs) > len(measured.slow_downs) == 1682 and not blind.slow_downs
    beside = combination_of("vgg16", "2 beside resnet50*2")
    assert whole.slow_downs[beside] == measured.slow_downs[beside] > 1.0
    assert [one.models["vgg16"].otherwise.slow_down(beside) for one in (measured, blind)] == [1.0, 1.0]
