"""``pointsman.sweep``: grids in Python."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pointsman
from pointsman.errors import InputError, UsageError
from tests.free import simulate

GRID = {"cluster": ["2x4", "3x4"], "policy": ["fifo", "srtf"], "load": [None, 0.9]}


@pytest.fixture(scope="module")
def jobs() -> pointsman.Workload:
    return pointsman.generate("philly", jobs=60, cluster_gpus=8, load=0.7)


def test_a_cell_is_what_compare_says_of_its_runs(jobs: pointsman.Workload) -> None:
    grid = pointsman.sweep(jobs, **GRID, overheads="realistic")
    assert [cell.values for cell in grid.cells] == [
        {"cluster": cluster, "load": load} for cluster in ("2x4", "3x4") for load in (None, 0.9)
    ]
    runs = [simulate(jobs, "3x4", policy, overheads="realistic") for policy in ("fifo", "srtf")]
    alone, own = pointsman.compare(runs).rows, grid.cells[2].rows
    for row, other in zip(alone, own, strict=True):
        assert (row.policy, row.values["jct_mean_s"]) == (other.policy, other.values["jct_mean_s"])
        assert row.differences["pending_mean_s"] == other.differences["pending_mean_s"]
    assert [cell.load for cell in grid.cells if cell.values["load"]] == pytest.approx([0.9, 0.9])


@pytest.mark.parametrize("given", [pointsman.load_cluster("2x4"), ["2x4", Path("cluster.yaml")], None])
def test_clusters_are_named(jobs: pointsman.Workload, given: Any) -> None:
    with pytest.raises(UsageError, match=r"the cluster is .*: give a name, a shorthand such as '16x8', or a file"):
        pointsman.sweep(jobs, given, "fifo")
    with pytest.raises(UsageError, match=r"the cluster is .*: give a name"):
        pointsman.find_capacity(jobs, given, "fifo")


def test_an_array_is_a_list_of_seeds(jobs: pointsman.Workload) -> None:
    grid = pointsman.sweep(jobs, "2x4", "fifo", seeds=np.arange(2))  # ty: ignore
    assert [row["seeds"] for row in csv.DictReader(io.StringIO(grid.to_csv()))] == ["0 1"]


def test_its_tables(jobs: pointsman.Workload) -> None:
    grid = pointsman.sweep(jobs, **GRID, seeds=range(2))
    rows = list(csv.DictReader(io.StringIO(grid.to_csv())))
    assert [(row["cluster"], row["load"], row["policy"], row["seeds"]) for row in rows][:3] == [
        ("2x4", "", "fifo", "0 1"),
        ("2x4", "", "srtf", "0 1"),
        ("2x4", "0.9", "fifo", "0 1"),
    ]
    assert json.loads(grid.to_json())["varied"] == {"cluster": ["2x4", "3x4"], "load": [None, 0.9]}
    assert grid.varied == ("cluster", "load")
    lines = grid.to_markdown().splitlines()
    assert sum(line.startswith(("| 2x4 ", "| 3x4 ")) for line in lines) == len(rows) == 8
    latex = grid.to_latex()
    assert latex.count(r"\begin{tabular}") == 1 and latex.count("srtf") == 4


def test_a_cell_is_shown_in_a_line(jobs: pointsman.Workload) -> None:
    cell = pointsman.sweep(jobs, **GRID).cells[1]
    ratio = cell.rows[1].differences["jct_mean_s"].ratio
    assert repr(cell) == f"GridCell(cluster 2x4, load 0.9: fifo, srtf {100 * ratio:+.1f} %)"
    assert repr(pointsman.sweep(jobs, "2x4", "fifo").cells[0]) == "GridCell(fifo)"


def test_a_directory_is_written_and_what_was_kept_goes(jobs: pointsman.Workload, tmp_path: Path) -> None:
    grid = pointsman.sweep(jobs, **GRID, directory=tmp_path / "out")
    assert (tmp_path / "out/grid.csv").read_text() == grid.to_csv()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    page = (tmp_path / "out/report.html").read_text()
    assert "2 policies on 2 clusters at 2 loads" in page
    assert all(f'id="figure-{name}"' in page for name in ("1a-mean-jct", "1b-mean-pending", "2-jct-cdf"))
    with pytest.raises(UsageError, match="exists"):
        pointsman.sweep(jobs, **GRID, directory=tmp_path / "out")


def test_one_value_of_everything_is_one_cell(jobs: pointsman.Workload, tmp_path: Path) -> None:
    grid = pointsman.sweep(jobs, "2x4", "fifo", directory=tmp_path / "out")
    assert [(cell.values, cell.label) for cell in grid.cells] == [({}, "")]
    assert repr(grid) == "Grid(1 policy)"
    assert (tmp_path / "out/cells/01/comparison.csv").exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cluster": ["2x4", "2x4"]}, "cluster: 2x4 is given twice"),
        ({"load": [0.9, 0.9]}, "load: 0.9 is given twice"),
        ({"seeds": [1, 1]}, "seeds: 1 is given twice"),
        ({"seed": 1}, r"sweep has no option 'seed' \(did you mean 'seeds'"),
        ({"policy": []}, "policies"),
        ({"cluster": "nowhere"}, "nowhere"),
    ],
)
def test_mistakes(changed: dict, said: str, jobs: pointsman.Workload) -> None:
    with pytest.raises(UsageError, match=said):
        pointsman.sweep(jobs, **GRID | changed)


def test_options_are_checked_with_every_policy_before_any_run(
    jobs: pointsman.Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pointsman.sweeps.cells.simulated", lambda *_: pytest.fail("a run began"))
    with pytest.raises(UsageError, match="'lwf' uses profiles of iterations"):
        pointsman.sweep(jobs, **GRID | {"policy": ["fifo", "lwf"]}, profile_error=0.5, directory=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("grid", [{"cluster": "2x4", "policy": ["fifo", "srtf"]}, {"cluster": ["4x4", "2x4"]}])
def test_jobs_that_are_too_wide_are_refused_before_any_run(
    grid: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = pointsman.Workload.of({"submit_s": [0.0, 1.0], "gpus": [1, 9], "duration_s": [5.0, 5.0]})
    monkeypatch.setattr("pointsman.sweeps.cells.simulated", lambda *_: pytest.fail("a run began"))
    with pytest.raises(InputError, match="asks for 9 GPUs"):
        pointsman.sweep(wide, **{"policy": "fifo"} | grid)


def test_the_only_run_says_itself_that_a_job_is_too_wide(
    jobs: pointsman.Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pointsman.sweeps.cells.check_cluster", lambda *_: pytest.fail("its jobs are laid out twice"))
    assert len(pointsman.sweep(jobs, "2x4", "fifo").cells) == 1
