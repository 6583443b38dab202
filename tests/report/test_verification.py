"""A run is told again from its own files; what was changed in any of them is found."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.cli.run import run
from pointsman.report import write_run
from pointsman.report.result import Result
from pointsman.report.verification import faults
from pointsman.workload import generate
from tests.free import simulate

DOWN = [(9000, 1, "DOWN"), (20000, 1, "UP")]
OPTIONS: dict[str, Any] = {"overheads": {"start_s": 10, "stop_s": 5, "restore_s": 20}, "node_events": DOWN}


def simulated(policy: str) -> Result:
    jobs = generate("philly", jobs=150, cluster_gpus=32, load=1.2, seed=1)
    return simulate(jobs, "4x8", policy, **OPTIONS)


@pytest.fixture(scope="module")
def kept() -> Result:
    return simulated("tiresias")


@pytest.mark.parametrize("policy", ["fifo", "srtf", "gandiva", "dally", "sjf-bsbf", "easy"])
def test_what_happened_can_have_happened(policy: str) -> None:
    result = simulated(policy)
    assert faults(result, json.loads(json.dumps(pointsman.summarise(result), default=list))) == []


def when(kind: str, column: str, value: int) -> pl.Expr:
    """That the first event of a kind has another value."""
    first = (pl.col("kind") == kind) & (pl.col("kind") == kind).cum_sum().eq(1)
    return pl.when(first).then(value).otherwise(column).alias(column)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (when("START", "gpu_mask", 255), "asked for"),
        (when("START", "node", 40), "which there is not"),
        (when("START", "time_ms", 10**9), "time runs back"),
        (when("FINISH", "row", 149), "is PENDING, and only a job that is RUNNING can do this"),
        (when("PREEMPT", "row", 149), "only a job that is RUNNING can do this"),
        (when("STARTED", "row", 149), "only a job that is STARTING can do this"),
    ],
)
def test_events_that_cannot_be(change: pl.Expr, said: str, kept: Result) -> None:
    assert kept.events is not None
    (found,) = faults(replace(kept, events=kept.events.with_columns(change)))
    assert said in found


def test_a_gpu_with_two_holders() -> None:
    """Two jobs of one GPU run at once; the second is put where the first is."""
    jobs = pl.DataFrame({"submit_s": [0.0, 1.0], "gpus": [1, 1], "duration_s": [10.0, 10.0]})
    result = simulate(pointsman.Workload.of(jobs), "1x2", "fifo")
    assert result.events is not None and faults(result) == []
    same = result.events.with_columns(gpu_mask=pl.when(pl.col("kind") == "START").then(1).otherwise("gpu_mask"))
    (found,) = faults(replace(result, events=same))
    assert found == "at 1.000 s after the first submit job 1 gets GPU 0 of node 0, which 1 other holds"


@pytest.mark.parametrize("name", ["start_s", "end_s", "run_s", "pending_s", "held_gpu_s", "preemptions"])
def test_tables_that_say_something_else(name: str, kept: Result) -> None:
    other = pl.when(pl.col("row") == 7).then(pl.col(name) + 3).otherwise(name).alias(name)
    found = faults(replace(kept, jobs=kept.jobs.with_columns(other)))
    assert len(found) == 1 and f"job {kept.jobs['job_id'][7]}: {name} is" in found[0]


def test_figures_that_say_something_else(kept: Result) -> None:
    summary = pointsman.summarise(kept)
    assert faults(kept, summary) == []
    (found,) = faults(kept, summary | {"jct_mean_s": summary["jct_mean_s"] - 60})
    assert found.startswith("jct_mean_s is")


def test_without_events_nothing_can_be_told(kept: Result) -> None:
    assert faults(replace(kept, events=None)) == ["the run has kept no events, so nothing can be told again"]


def test_the_command(kept: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = write_run(tmp_path / "kept", kept, figures=False)
    assert run(["verify", str(place)]) == 0
    assert capsys.readouterr().out == f"{place}: verified\n"
    summary = json.loads((place / "summary.json").read_text())
    (place / "summary.json").write_text(json.dumps(summary | {"makespan_s": 1.0}))
    assert run(["verify", str(place)]) == 3
    said = capsys.readouterr()
    assert "makespan_s is 1.0 in summary.json" in said.out and "1 fault (run again)" in said.err
    assert run(["verify", str(tmp_path)]) == 3


def test_a_figure_beyond_all_floats(kept: pointsman.Result) -> None:
    (found,) = faults(kept, {"makespan_s": 10**400})
    assert found.startswith("makespan_s is 1000") and "in summary.json" in found


@pytest.mark.parametrize(
    "window", [5, [], {}, {"from_s": 0}, {"from_s": 0, "to_s": 1e400}, {"from_s": 9e9, "to_s": 9e9}]
)
def test_a_window_that_is_none(kept: pointsman.Result, window: object) -> None:
    (found,) = faults(kept, {"window": window})
    assert found.startswith("window is ") and "in summary.json" in found
