"""``--keep-columns``: columns of the log's own in runs, comparisons, experiment files and logs that are converted."""

import json
from pathlib import Path

import polars as pl
import pytest
import yaml

import pointsman

from .conftest import Command

LOG = "job_id,submit_s,gpus,duration_s,deadline_s,Grant No\na,0,2,100,,7\nb,10,2,20,40,8\nc,10,2,20,45,7\n"
KEPT = ("--keep-columns", "deadline_s,tenant=Grant No")
POLICY = f"{Path(__file__).parents[2] / 'examples/my_deadline_policy.py'}:Deadlines"
SOON = ("--set", "deadlines.slack_s=0")


@pytest.fixture
def log(here: Path) -> str:
    (here / "due.csv").write_text(LOG)
    return "due.csv"


def test_a_run_keeps_them_from_the_log_to_its_directory(command: Command, log: str, here: Path) -> None:
    done = command(
        "simulate", log, "--cluster", "1x2", "--policy", POLICY, *SOON, *KEPT, "-o", "out", "--format", "json"
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["deadlines_met_ratio"] == 0.5
    jobs = pl.read_parquet(here / "out/jobs.parquet")
    assert jobs.select("job_id", "deadline_s", "tenant", "end_s").rows() == [
        ("a", None, 7, 120.0), ("b", 40.0, 8, 40.0), ("c", 45.0, 7, 140.0)
    ]  # fmt: skip
    events = pl.read_parquet(here / "out/events.parquet").filter(pl.col("kind") == "START")
    assert events.select("job_id", "tenant").rows()[:2] == [("a", 7), ("b", 8)]
    spec = yaml.safe_load((here / "out/config.resolved.yaml").read_text())["spec"]
    assert spec["keep_columns"] == ["deadline_s", "tenant=Grant No"]
    assert command("verify", "out").code == 0
    asked = command("explain", "c", "--run", "out", "--at", "+15s")
    assert asked.code == 0 and "PENDING" in asked.out, asked.err
    assert pointsman.read_run(here / "out").summary["deadlines_met_ratio"] == 0.5


def test_a_comparison_does_from_an_experiment_file(command: Command, log: str, here: Path) -> None:
    spec = {
        "trace": log,
        "cluster": "1x2",
        "policies": ["fifo", POLICY],
        "keep_columns": "deadline_s",
        "overheads": "none",
    }
    (here / "e.yaml").write_text(yaml.safe_dump({"metadata": {"name": "e"}, "spec": spec}))
    done = command("compare", "-c", "e.yaml", *SOON, "-o", "both", "--fail-if", "deadlines_met_ratio<0.4")
    assert done.code == 4 and "deadlines_met_ratio is 0 under fifo" in done.err
    assert "deadlines met" in done.out and "50.0 %" in done.out
    rows = pl.read_csv(here / "both/comparison.csv")
    assert rows["deadlines_met_ratio"].to_list() == [0.0, 0.5]


def test_runs_of_the_same_log_without_them_have_none(command: Command, log: str, here: Path) -> None:
    two = ("compare", log, "--cluster", "1x2", "--policy", "fifo", "--policy", "sjf")
    assert command(*two, "--keep-columns", "deadline_s", "-o", "one").code == 0
    assert command(*two, "-o", "two").code == 0
    jobs = [pl.read_parquet(here / name / "runs/fifo_s0/jobs.parquet").columns for name in ("one", "two")]
    assert "deadline_s" in jobs[0] and "deadline_s" not in jobs[1]


def test_a_converted_log_has_them(command: Command, log: str, here: Path) -> None:
    assert command("trace", "convert", log, "kept.csv", *KEPT).code == 0
    assert (here / "kept.csv").read_text().splitlines()[0] == "job_id,submit_s,gpus,duration_s,deadline_s,tenant"
    head = command("trace", "head", "kept.csv", "--keep-columns", "tenant", "--only", "tenant=7", "--format", "json")
    assert [(row["job_id"], row["tenant"]) for row in json.loads(head.out)] == [("a", 7), ("c", 7)]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (
            ("--policy", "fifo", "--keep-columns", "deadlin_s"),
            3,
            "there is no column 'deadlin_s' to keep (did you mean 'dead",
        ),
        (
            ("--policy", "fifo", "--keep-columns", "gpus"),
            2,
            "--keep-columns: 'gpus' cannot be kept: job tables have a col",
        ),
        (("--policy", "fifo", "--keep-columns", "x="), 2, "--keep-columns: 'x=' is not NAME or NAME=COLUMN"),
        (
            ("--policy", "fifo", "--keep-columns", "level=gpus"),
            2,
            "'level' cannot be kept: records of jobs have this name",
        ),
        (
            ("--policy", POLICY),
            2,
            "requires the column deadline_s, and no column of the log is kept: --keep-columns dead",
        ),
    ],
)
def test_what_is_refused(args: tuple[str, ...], code: int, said: str, command: Command, log: str) -> None:
    done = command("simulate", log, "--cluster", "1x2", *args)
    assert (done.code, said in done.err) == (code, True), done.err
