"""``pointsman compare`` with several values of an option: a cell for each combination."""

import csv
import io
import json
import os
from pathlib import Path

import pytest
import yaml

from .conftest import Command, Once

GRID = ("--cluster", "2x4", "--cluster", "4x4", "--load", "0.5", "--load", "2", "--policy", "fifo", "--policy", "srtf")
CELLS = [("2x4", "0.5"), ("2x4", "2.0"), ("4x4", "0.5"), ("4x4", "2.0")]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def timeless(row: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in row.items() if not name.startswith(("engine_s", "decisions_per_s"))}


@pytest.fixture
def grid(command: Command, jobs: str, once: Once) -> None:
    """The directory of a grid."""

    def fill() -> None:
        assert command("compare", jobs, *GRID, "-o", "grid").code == 0

    once("grid", fill)


def test_a_cell_is_what_compare_says_of_it_alone(command: Command, jobs: str) -> None:
    done = command("compare", jobs, *GRID, "--format", "csv")
    assert done.code == 0, done.err
    rows = rows_of(done.out)
    assert [(row["cluster"], row["load"], row["policy"]) for row in rows] == [
        (*cell, policy) for cell in CELLS for policy in ("fifo", "srtf")
    ]
    for cluster, load in CELLS:
        alone = command(
            "compare", jobs, "--cluster", cluster, "--load", load, "--policy", "fifo", "--policy", "srtf",
            "--format", "csv",
        )  # fmt: skip
        own = [timeless(row) for row in rows if (row["cluster"], row["load"]) == (cluster, load)]
        varied = {"cluster": cluster, "load": load}
        assert own == [timeless(varied | row) for row in rows_of(alone.out)]


def test_the_table_begins_with_what_varies(command: Command, jobs: str) -> None:
    done = command("compare", jobs, *GRID)
    assert done.out.split()[:4] == ["cluster", "load", "policy", "durations"]
    assert "Baseline: fifo." in done.out


def test_cells_of_different_jobs_are_told_apart(command: Command, here: Path) -> None:
    """The second job is too wide for one node."""
    (here / "wide.csv").write_text("submit_s,gpus,duration_s\n0,1,100\n0,8,100\n0,4,100\n")
    given = ("--cluster", "1x4", "--cluster", "2x4", "--policy", "fifo", "--policy", "srtf", "--oversized", "drop")
    done = command("compare", "wide.csv", *given)
    assert "1x4: dropped 1: wider than the cluster or its queue" in done.err
    lost = "1x4: Too wide for the cluster or a queue: 1 job (left out). Caution: cells do not have the same jobs"
    assert lost in done.out
    alone = command("compare", "wide.csv", *given[:2], *given[4:])
    assert "Too wide for the cluster or a queue: 1 job (left out)." in alone.out and "Caution" not in alone.out


def test_what_is_so_in_every_cell_is_said_once(command: Command, here: Path) -> None:
    (here / "idle.csv").write_text("submit_s,gpus,duration_s\n0,1,100\n")
    done = command("compare", "idle.csv", "--cluster", "1x4", "--cluster", "2x4", "--policy", "fifo")
    assert done.err.count("no job waits") == 1 and "1x4: no job waits" not in done.err


@pytest.mark.parametrize("place", ["grid", "grid/cells", "."])
def test_a_report_replaces_nothing_that_it_reads(place: str, command: Command, grid: None) -> None:
    done = command("report", "grid", "-o", place, "--force")
    assert done.code == 2, done.err
    assert len(list(Path("grid/cells").iterdir())) == 4
    cell = next(Path("grid/cells").iterdir())
    done = command("report", str(cell), "-o", "grid", "--force")
    assert (done.code, "one of the reported runs: choose another directory" in done.err, cell.exists()) == (
        2,
        True,
        True,
    ), done.err


def test_a_grid_without_its_settings_or_with_a_pipe_for_a_table(command: Command, grid: None) -> None:
    settings = Path("grid/config.resolved.yaml")
    settings.rename("kept.yaml")
    done = command("report", "grid")
    assert (done.code, "the settings of this grid are missing" in done.err) == (3, True), done.err
    assert command("report", "grid", "--window", "0:").code == 0
    Path("kept.yaml").rename(settings)
    Path("grid/grid.json").unlink()
    os.mkfifo("grid/grid.json")
    assert command("report", "grid").code == 3


def test_estimates_vary(command: Command, jobs: str) -> None:
    given = ("--cluster", "2x4", "--policy", "srtf", "--estimate", "oracle", "--estimate", "lognormal:1")
    table = json.loads(command("compare", jobs, *given, "--format", "json").out)
    assert table["varied"] == {"estimate": ["oracle", "lognormal:1"]}
    assert [cell["rows"][0]["knowledge"] for cell in table["cells"]] == ["oracle", "estimate lognormal:1"]


def test_a_wrong_estimate_is_refused_before_any_run(command: Command, jobs: str) -> None:
    given = ("--cluster", "2x4", "--policy", "srtf", "--estimate", "oracle", "--estimate", "lognormal:x")
    done = command("compare", jobs, *given)
    assert (done.code, "lognormal:x" in done.err, "replay" in done.err) == (2, True, False), done.err


def test_seeds_are_repeated_like_other_options(command: Command, jobs: str) -> None:
    given = ("--cluster", "2x4", "--policy", "fifo", "--seed", "3", "--seed", "0-1", "--format", "json")
    assert json.loads(command("compare", jobs, *given).out)["rows"][0]["seeds"] == [0, 1, 3]


def test_a_file_gives_lists(command: Command, jobs: str) -> None:
    """As a dry run writes them; null is the log's own load."""
    text = command("compare", jobs, *GRID, "--dry-run").out
    spec = yaml.safe_load(text)["spec"]
    assert (spec["cluster"], spec["load"], spec["estimate"]) == (["2x4", "4x4"], [0.5, 2.0], None)
    Path("e.yaml").write_text(text)
    given = [timeless(row) for row in rows_of(command("compare", jobs, *GRID, "--format", "csv").out)]
    assert [timeless(row) for row in rows_of(command("compare", "-c", "e.yaml", "--format", "csv").out)] == given
    Path("e.yaml").write_text(text.replace("- 0.5", "- null"))
    rows = rows_of(command("compare", "-c", "e.yaml", "--format", "csv").out)
    assert [row["load"] for row in rows] == ["", "", "2.0", "2.0"] * 2


@pytest.mark.parametrize("verb", ["simulate", "capacity"])
def test_other_commands_refuse_a_file_with_a_grid(verb: str, command: Command, jobs: str) -> None:
    Path("e.yaml").write_text(command("compare", jobs, *GRID, "--dry-run").out)
    done = command(verb, "-c", "e.yaml")
    said = f"{verb} takes one value of --cluster and --load; 'pointsman compare' takes several"
    assert (done.code, said in done.err) == (2, True), done.err


def test_the_first_difference_is_of_one_cell(command: Command, jobs: str) -> None:
    done = command("compare", jobs, *GRID, "--first-divergence")
    assert (done.code, "--first-divergence takes one value of --cluster and --load" in done.err) == (2, True)


def test_a_threshold_names_its_cell(command: Command, jobs: str) -> None:
    assert command("compare", jobs, *GRID, "--fail-if", "jct_mean_s>+5%").code == 0
    done = command("compare", jobs, *GRID, "--fail-if", "jct_mean_s<-1%")
    assert (done.code, "pointsman: 2x4, load 0.5: jct_mean_s<-1% came true" in done.err) == (4, True), done.err


def test_the_directory_has_a_comparison_for_each_cell(command: Command, jobs: str) -> None:
    done = command("compare", jobs, *GRID, "-o", "grid")
    assert done.code == 0, done.err
    manifest = json.loads(Path("grid/manifest.json").read_text())
    assert (manifest["kind"], manifest["varied"]) == ("grid", ["cluster", "load"])
    assert manifest["cells"] == [
        f"{number:02d}-cluster={cluster},load={load}" for number, (cluster, load) in enumerate(CELLS, 1)
    ]
    assert [timeless(r) for r in rows_of(Path("grid/grid.csv").read_text())] == [
        timeless(r) for r in rows_of(command("compare", jobs, *GRID, "--format", "csv").out)
    ]
    cells = [Path("grid/cells", name) for name in manifest["cells"]]
    assert command("verify", str(cells[3])).code == 0
    explained = command("explain", "j1", "--run", str(cells[1] / "runs/fifo_s0"))
    assert (explained.code, "j1" in explained.out) == (0, True), explained.err
    assert yaml.safe_load((cells[2] / "config.resolved.yaml").read_text())["spec"]["cluster"] == "4x4"


def test_processes_change_nothing(command: Command, jobs: str) -> None:
    alone, together = (command("compare", jobs, *GRID, "--format", "csv", "--workers", n).out for n in ("1", "2"))
    assert [timeless(row) for row in rows_of(alone)] == [timeless(row) for row in rows_of(together)]


def test_all_stands_for_the_others(command: Command, jobs: str) -> None:
    """The first policy is the baseline, and none comes twice."""
    given = yaml.safe_load(
        command("compare", jobs, "--cluster", "2x4", "--policy", "las", "--policy", "all", "--dry-run").out
    )
    names = [policy["name"] for policy in given["spec"]["policies"]]
    assert (names[:2], names.count("las")) == (["las", "fifo"], 1)


def test_a_grid_is_verified_run_by_run(command: Command, grid: None) -> None:
    done = command("verify", "grid")
    assert (done.code, done.out.count(": verified\n")) == (0, 8), done.err
    (table,) = Path("grid/cells").glob("03*/runs/srtf_s0/jobs.parquet")
    table.write_bytes(table.read_bytes()[:-1])
    done = command("verify", "grid")
    assert (done.code, "cells/03-cluster=4x4,load=0.5/runs/srtf_s0" in done.err) == (3, True)


def test_a_report_made_again_is_the_grids_own(command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the baseline and the window of the grid; `--window` and `--baseline` change them."""
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: True)
    shown = command("compare", jobs, *GRID, "--window", "10:", "--baseline", "srtf", "-o", "grid").out
    again = command("report", "grid", "-o", "again")
    assert (again.code, again.out) == (0, shown), again.err
    for name in ("grid.csv", "grid.json"):
        assert Path("again", name).read_bytes() == Path("grid", name).read_bytes()
    pages = [Path(place, "report.html").read_text().partition("<footer>")[0] for place in ("grid", "again")]
    assert "The largest group that loses in each cell" in pages[0]
    assert pages[0] == pages[1]
    other = rows_of(command("report", "grid", "--window", "0:", "--baseline", "fifo", "--format", "csv").out)
    assert {row["jobs_counted"] for row in other} == {"6"}
    assert other[0]["policy"] == "fifo"


def test_figures_of_a_grid_for_papers(command: Command, grid: None) -> None:
    done = command("report", "grid", "--figures", "figures", "--format", "pdf,png", "--width", "3.3in")
    assert (done.code, "figures: 6 files in figures" in done.err) == (0, True), done.err
    assert {path.name for path in Path("figures").iterdir()} == {
        f"{name}.{ending}" for name in ("1a-mean-jct", "1b-mean-pending", "2-jct-cdf") for ending in ("pdf", "png")
    }


def test_what_a_grid_cannot_be_reported_with(command: Command, grid: None) -> None:
    done = command("report", "grid", "grid/cells/01-cluster=2x4,load=0.5")
    assert (done.code, "or give runs and comparisons: DIR/cells/NAME" in done.err) == (2, True), done.err
    assert command("report", "grid", "-o", "again").code == 0
    done = command("report", "again")
    assert (done.code, "again: the runs of this grid are not in its directory" in done.err) == (3, True)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("grid.json", "{", "grid/grid.json: this is not the table of a grid"),
        ("grid.json", '{"cells": []}', "grid/grid.json: this is not the table of 4 cells"),
        ("grid.json", '{"cells": [{"cluster": "2x4"}]}', "grid/grid.json: this is not the table of a grid"),
        ("grid.json", None, "grid/grid.json: part of the grid cannot be read"),
        ("config.resolved.yaml", "{spec: {window: [x, 3]}}", "grid/config.resolved.yaml:1"),
        (
            "manifest.json",
            '{"schema_version": 1, "kind": "grid", "varied": ["load"], "cells": ["../x"]}',
            "manifest.json",
        ),
    ],
)
def test_a_damaged_grid_is_refused(name: str, text: str | None, said: str, command: Command, grid: None) -> None:
    Path("grid", name).unlink()
    if text is not None:
        Path("grid", name).write_text(text)
    done = command("report", "grid")
    assert (done.code, said in done.err) == (3, True), done.err


BAD = {
    "kueue": (("--set", "kueue.cohort={nobody: x}"), "kueue.cohort names the queue 'nobody'"),
    "multifactor": (("--set", "multifactor.shares={nobody: 3}"), "shares of 'nobody': the log has no such account"),
    "lwf": (("--profile-error", "0.5"), "'lwf' uses profiles of iterations"),
}
PLACES = {"one cell": ("--cluster", "2x4"), "a grid": ("--cluster", "2x4", "--cluster", "4x4", "--load", "0.5")}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("turn", ["first", "last"])
def test_a_policy_that_does_not_go_with_log_or_options_is_refused_before_any_run(
    turn: str, places: str, bad: str, command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> None:
        raise AssertionError("a run began")

    monkeypatch.setattr("pointsman.sweeps.cells.simulated", run)
    names = (bad, "fifo") if turn == "first" else ("fifo", bad)
    policies = [word for name in names for word in ("--policy", name)]
    given, said = BAD[bad]
    done = command("compare", jobs, *PLACES[places], *policies, *given, "-o", "out")
    assert (done.code, said in done.err) == (2, True), done.err
    assert [path.name for path in Path().iterdir()] == [jobs]


@pytest.mark.parametrize("clusters", [("1x2", "2x4"), ("2x4", "1x2")])
def test_a_gang_that_is_too_wide_for_one_cluster_is_refused_before_any_run(
    clusters: tuple[str, str], command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> None:
        raise AssertionError("a run began")

    monkeypatch.setattr("pointsman.sweeps.cells.simulated", run)
    given = [word for name in clusters for word in ("--cluster", name)]
    done = command("compare", jobs, *given, "--policy", "fifo", "-o", "out")
    assert (done.code, "at once" in done.err) == (3, True), done.err
    assert [path.name for path in Path().iterdir()] == [jobs]


def test_a_grid_says_where_what_really_happened_is_shown(command: Command, jobs: str) -> None:
    assert command("simulate", jobs, "--cluster", "2x4", "--policy", "fifo", "--schedule", "log.csv").code == 0
    done = command("compare", "log.csv", "--cluster", "2x4", "--cluster", "4x4", "--policy", "fifo")
    assert (done.code, done.err.count("grids have no row as-logged")) == (0, 1), done.err
