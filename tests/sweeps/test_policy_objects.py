"""`sweep` with policy objects: alone, beside names, in processes, and those of which no copy can be made."""

import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

import pointsman
from pointsman.errors import RunError, UsageError
from pointsman.policies.classical.srtf import Srtf


class Counts:
    """Starts jobs in order; after so many decisions, which a second run of the same object would begin with, none."""

    name, needs = "counts", "none"

    def __init__(self, most: int = 1_000_000) -> None:
        self.most, self.decisions = most, 0

    def decide(self, view: Any) -> None:
        self.decisions += 1
        for slot in view.heads() if self.decisions < self.most else ():
            view.start(slot)


@pytest.fixture(scope="module")
def jobs() -> pointsman.Workload:
    return pointsman.generate("philly", jobs=60, cluster_gpus=8, load=0.7)


def means(grid: Any) -> dict[str, float]:
    (cell,) = grid.cells
    return {row.policy: row.values["jct_mean_s"] for row in cell.rows}


def test_objects_and_names_have_clear_labels(jobs: pointsman.Workload) -> None:
    policies = ["fifo", Counts(), Counts(10_000), Srtf(), Srtf(margin_s=600)]
    found = means(pointsman.sweep(jobs, "2x4", policies))
    assert list(found) == [
        "fifo", "counts (most=1000000)", "counts (most=10000)", "srtf (margin_s=0.0)", "srtf (margin_s=600.0)",
    ]  # fmt: skip
    alone = pointsman.simulate(jobs, "2x4", Srtf(margin_s=600))
    assert found["srtf (margin_s=600.0)"] == alone.summary["jct_mean_s"]
    assert found["counts (most=1000000)"] == pointsman.simulate(jobs, "2x4", Counts()).summary["jct_mean_s"]


def test_every_run_has_a_copy_of_its_own(jobs: pointsman.Workload) -> None:
    mine = Counts()
    pointsman.simulate(jobs, "2x4", mine)
    needed, mine = mine.decisions, Counts()
    mine.most = needed + 1
    grid = pointsman.sweep(jobs, ["2x4", "3x4"], mine, seeds=[0, 1])
    assert mine.decisions == 0
    assert all(row.values["jct_mean_s"] is not None for cell in grid.cells for row in cell.rows)


def test_processes_run_objects_too(jobs: pointsman.Workload) -> None:
    policies = [Counts(), "srtf"]
    assert means(pointsman.sweep(jobs, "2x4", policies, at_once=2)) == means(pointsman.sweep(jobs, "2x4", policies))


def test_no_later_call_takes_the_runs_of_an_object_for_its_own(
    jobs: pointsman.Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that ends early keeps its runs; the next one goes on with those of names alone."""
    began: list[str] = []
    monkeypatch.setattr("pointsman.sweeps.grids.assemble_grid", lambda *_, **__: pytest.fail("cut"))
    with pytest.raises(pytest.fail.Exception, match="cut"):
        pointsman.sweep(jobs, "2x4", ["fifo", Counts()], directory=tmp_path / "out")
    monkeypatch.undo()

    def simulated(spec: Any, workload: Any, run: Any, tell: Any) -> Any:
        from pointsman.sweeps.runs import simulated

        began.append(run.label)
        return simulated(spec, workload, run, tell)

    monkeypatch.setattr("pointsman.sweeps.cells.simulated", simulated)
    pointsman.sweep(jobs, "2x4", ["fifo", Counts()], directory=tmp_path / "out")
    assert began == ["counts"]
    config = yaml.safe_load((tmp_path / "out/config.resolved.yaml").read_text())
    assert config["spec"]["policies"][1] == {"name": "counts", "params": {"most": 1_000_000}}


def named(name: str) -> Counts:
    policy = Counts()
    policy.name = name  # ty: ignore
    return policy


def locked() -> Counts:
    policy = Counts()
    policy.lock = threading.Lock()  # ty: ignore
    return policy


@pytest.mark.parametrize(
    ("policies", "said"),
    [
        ([Counts(), Counts()], "several policies are called 'counts' and state the parameters {'most': 1000000}"),
        (["fifo", named("fifo")], "several policies are called 'fifo'"),
        (["srtf", Srtf()], "policies: srtf is given twice"),
        (["fifo", Counts], "the policy is the class Counts: give an object of it, Counts()"),
        (["fifo", 3], "the policy is int 3: give a name"),
        ([locked()], "the policy 'counts' cannot be pickled, and each run needs a copy of its own: cannot pickle"),
    ],
)
def test_what_cannot_be_run_is_refused_before_a_run_begins(
    policies: list[Any], said: str, jobs: pointsman.Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pointsman.sweeps.cells.simulated", lambda *_: pytest.fail("a run began"))
    with pytest.raises(UsageError) as refused:
        pointsman.sweep(jobs, "2x4", policies)
    assert said in str(refused.value)


def test_a_sweep_in_memory_keeps_no_log_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POINTSMAN_MOST_EVENTS", "20000")
    jobs = pointsman.generate("philly", jobs=1500, cluster_gpus=16, load=1.5, seed=3)
    assert means(pointsman.sweep(jobs, "2x8", "gandiva"))["gandiva"] > 0
    for more in ({"log": True}, {"directory": tmp_path / "out"}):
        with pytest.raises(RunError, match="more than 20,000 events"):
            pointsman.sweep(jobs, "2x8", "gandiva", **more)
