"""``--workload-seeds`` draws the jobs of a generated log anew; ``--seeds`` draws everything else."""

import csv
import io
import json
from functools import cache
from pathlib import Path

import pytest
import yaml

import pointsman
from tests.free import simulate

from .conftest import Command, Once

LIKE = ("trace", "generate", "--like", "philly", "--jobs", "60", "--cluster", "2x4", "--load", "0.9", "--seed", "7")
TWO = ("--cluster", "2x4", "--policy", "fifo", "--policy", "srtf")


@pytest.fixture
def log(command: Command, once: Once) -> str:
    def fill() -> None:
        assert command(*LIKE, "-o", "drawn.parquet").code == 0

    once("log", fill)
    return "drawn.parquet"


@cache
def drawn(seed: int) -> pointsman.Workload:
    return pointsman.generate("philly", jobs=60, cluster_gpus=8, load=0.9, seed=seed)


@pytest.mark.slow
def test_compare_is_what_python_says(command: Command, log: str) -> None:
    done = command("compare", log, *TWO, "--workload-seeds", "2,0-1", "--format", "json")
    assert done.code == 0, done.err
    assert "jobs drawn anew with workload seeds 0, 1, 2" in done.err
    rows = json.loads(done.out)["rows"]
    runs = [simulate(drawn(seed), "2x4", policy) for policy in ("fifo", "srtf") for seed in (0, 1, 2)]
    for row, expected in zip(rows, pointsman.compare(runs).rows, strict=True):
        assert (row["seeds"], row["workload_seeds"]) == ([0], [0, 1, 2])
        assert row["values"]["jct_mean_s"] == expected.values["jct_mean_s"]
        assert row["differences"]["jct_mean_s"]["method"] == expected.differences["jct_mean_s"].method
    (cell,) = pointsman.sweep(drawn(7), "2x4", ["fifo", "srtf"], workload_seeds=[0, 1, 2], overheads="none").cells
    assert [row.values["jct_mean_s"] for row in cell.rows] == [row["values"]["jct_mean_s"] for row in rows]


@pytest.mark.slow
def test_the_directory_says_all_of_it(command: Command, log: str, here: Path) -> None:
    given = ("--workload-seeds", "3-4", "--seeds", "0-1", "--estimate", "lognormal:1", "--load", "1.1")
    assert command("compare", log, *TWO, *given, "-o", "out").code == 0
    names = [f"{policy}_w{w}_s{s}" for policy in ("fifo", "srtf") for w in (3, 4) for s in (0, 1)]
    assert json.loads((here / "out/manifest.json").read_text())["runs"] == names
    info = json.loads((here / "out/runs/srtf_w4_s1/manifest.json").read_text())["info"]
    assert (info["workload"]["seed"], info["seed"]) == (4, 1)
    spec = yaml.safe_load((here / "out/config.resolved.yaml").read_text())["spec"]
    assert (spec["workload_seeds"], spec["seeds"]) == ([3, 4], [0, 1])
    row = next(csv.DictReader(io.StringIO((here / "out/comparison.csv").read_text())))
    assert (row["seeds"], row["workload_seeds"]) == ("0 1", "3 4")
    assert command("verify", "out").code == 0
    assert command("compare", "-c", "out/config.resolved.yaml", "-o", "again").code == 0
    again, first = ((here / name / "runs/srtf_w4_s1/jobs.parquet").read_bytes() for name in ("again", "out"))
    assert again == first
    for name in ("srtf_w3_s0", "srtf_w4_s0"):
        done = command("explain", "40", "--run", f"out/runs/{name}", "--format", "json")
        assert done.code == 0, done.err
        jobs = pointsman.read_run(here / "out/runs" / name).jobs
        assert json.loads(done.out)[0]["time_s"] == pytest.approx(jobs["submit_s"][40], abs=0.001)


@pytest.mark.slow
def test_a_command_goes_on_with_the_workloads_that_it_has(
    command: Command, log: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("compare", log, *TWO, "--workload-seeds", "0-1", "-o", "out")
    with monkeypatch.context() as cut:
        cut.setattr("pointsman.sweeps.outcome.read_results", lambda *_: pytest.fail("cut"))
        with pytest.raises(pytest.fail.Exception):
            command(*given)
    done = command("compare", log, *TWO, "--workload-seeds", "1-2", "-o", "out")
    assert "2 of 4 runs are finished and kept" in done.err


def test_simulate_draws_one(command: Command, log: str) -> None:
    done = command("simulate", log, "--cluster", "2x4", "--policy", "fifo", "--workload-seeds", "3", "--format", "json")
    assert json.loads(done.out)["jct_mean_s"] == simulate(drawn(3), "2x4", "fifo").summary["jct_mean_s"]
    done = command("simulate", log, "--cluster", "2x4", "--policy", "fifo", "--workload-seeds", "3-4")
    assert (done.code, "for several use 'pointsman compare'" in done.err) == (2, True)


def test_a_grid_and_the_ignored_columns(command: Command, log: str) -> None:
    given = ("--cluster", "2x4", "--cluster", "3x4", "--policy", "fifo", "--workload-seeds", "0-1", "--ignore", "user")
    done = command("compare", log, *given, "-o", "grid")
    assert done.code == 0, done.err
    run = pointsman.read_run("grid/cells/02-cluster=3x4/runs/fifo_w1_s0")
    assert run.jobs["user"].null_count() == 60
    assert run.jobs["jct_s"].to_list() == simulate(drawn(1), "3x4", "fifo").jobs["jct_s"].to_list()


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--workload-seeds", "a"), 2, "--workload-seeds 'a' is no list of seeds; write it like 0-4 or 1,2,3"),
        (("--workload-seeds", "1", "--workload-seeds", "0-1"), 2, "--workload-seeds: 1 is given twice"),
        (("--workload-seeds", "1", "--only", "user=x"), 2, "no job has user=x"),
    ],
)
def test_wrong_seeds_are_refused(more: tuple[str, ...], code: int, said: str, command: Command, log: str) -> None:
    done = command("compare", log, *TWO, *more)
    assert (done.code, said in done.err) == (code, True), done.err


def test_a_log_that_was_not_generated_is_refused(command: Command, log: str, jobs: str) -> None:
    done = command("compare", jobs, *TWO, "--workload-seeds", "0-1")
    assert (done.code, "does not say how its jobs were generated" in done.err) == (2, True), done.err
    done = command("capacity", log, "--cluster", "2x4", "--policy", "fifo", "--workload-seeds", "0-1")
    assert (done.code, "capacity takes one of --workload-seeds" in done.err) == (2, True), done.err
