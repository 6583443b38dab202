"""Placers that forecast interference by another source than that which slows jobs."""

from pathlib import Path

import polars as pl
import pytest

import pointsman
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.errors import UsageError
from pointsman.experiment import RunOptions
from pointsman.policies.registry import get_policy
from tests.free import simulate

from ...engine.rate_models.learnt_file import learnt_file
from ...engine.rate_models.two_sockets import profile
from .drawn import picture, run, where

CORES = {"busy": profile(cores=2, mb_per_s=0), "idle": profile(cores=0.001, mb_per_s=0)}
TABLE = {"node_interference": "table:kappa=0"}
BEFORE, ON = "[##|#.] [#.|..]", {0: "busy", 1: "idle"}
"""Four busy jobs want 8 of 6 cores on the first node; on the second there are cores enough."""
LEARNT = learnt_file("""\
    busy:
      otherwise: {alone: 1.0, per_own_gpu: 1.0, beside: {idle: {met: 2.0, per_gpu: 1.0}}}
""")
"""The contrary: idle jobs slow busy ones, and busy ones do not."""
FORECASTERS = ("lif", "packed-lif", "scorer")


@pytest.fixture
def learnt(tmp_path: Path) -> str:
    (tmp_path / "learnt.yaml").write_text(LEARNT)
    return str(tmp_path / "learnt.yaml")


@pytest.mark.parametrize("policy", FORECASTERS)
def test_it_goes_where_the_file_says_that_it_is_calm(policy: str, learnt: str, tmp_path: Path) -> None:
    weights = {"gpus_left": 0.0, "broken_sockets": 0.0} if policy == "scorer" else {}
    by_truth, by_file = (
        where(tmp_path, policy, BEFORE, (1, "busy"), models=CORES, on=ON, params=weights | more, **TABLE)
        for more in ({}, {"interference": learnt})
    )
    assert by_truth == picture("[##|#.] [#A|..]")
    assert by_file == picture("[##|#A] [#.|..]")


def test_what_slows_jobs_is_that_of_the_run(learnt: str, tmp_path: Path) -> None:
    """On the first node 8 of 6 cores are wanted until it ends; before, the three there want 6."""
    options = {"models": CORES, "on": ON, "params": {"interference": learnt}, "log_speeds": True, **TABLE}
    result = run(tmp_path, "lif", BEFORE, [(1, "busy")], **options)
    speeds = result.speeds.filter(pl.col("row") == 4)
    assert speeds["computing_slowdown"][0] == pytest.approx(4 / 3)
    said = result.info["assumptions"]
    assert any(line.startswith("node interference table: kappa = 0") for line in said)
    assert any(line.startswith("forecasts of lif: node interference") and "learnt from runs" in line for line in said)


def test_it_forecasts_also_where_nothing_slows(learnt: str, tmp_path: Path) -> None:
    options = {"models": CORES, "on": ON, "params": {"interference": learnt}}
    result = run(tmp_path, "lif", BEFORE, [(1, "busy")], **options)
    assert result.jobs["slowed_s"].sum() == 0
    assert where(tmp_path, "lif", BEFORE, (1, "busy"), **options) == picture("[##|#A] [#.|..]")


def test_a_policy_may_forecast_by_a_law_that_is_not_the_truth(tmp_path: Path) -> None:
    """By the traffic of others alone, the first node is as calm as the second, and has fewer free GPUs."""
    moves = {"busy": profile(cores=2, mb_per_s=0), "idle": profile(cores=0.001, mb_per_s=1)}
    (tmp_path / "law.yaml").write_text(
        "{apiVersion: pointsman/v1, kind: NodeInterference, metadata: {name: l}, spec: {source: ours, kappa: 4, "
        "capped_mb_per_s: 450, models: {idle: {cores: {per_gpu: 0, theta: 1, source: o}, "
        "traffic: {mb_per_s_per_gpu: 1, theta: 1, source: o}}}}}"
    )
    options = {"models": moves, "on": ON, **TABLE}
    assert where(tmp_path, "packed-lif", BEFORE, (1, "busy"), **options) == picture("[##|#.] [#A|..]")
    options["params"] = {"interference": str(tmp_path / "law.yaml")}
    assert where(tmp_path, "packed-lif", BEFORE, (1, "busy"), **options) == picture("[##|#A] [#.|..]")


@pytest.mark.parametrize("source", ["table:kappa=13,sigma=0.3,seed=2", "learnt"])
def test_a_source_that_is_the_truth_changes_nothing(source: str, learnt: str) -> None:
    """Forecasts by the same source are those of the run itself."""
    if source == "learnt":
        Path(learnt).write_text(LEARNT.replace("busy:", "vgg16:").replace("idle:", "wlm:"))
        source = learnt
    jobs = pointsman.generate("philly", jobs=80, cluster_gpus=16, load=1.0, seed=1)
    models = [("vgg16", "resnet50", "wlm", "inception_bn")[k % 4] for k in range(80)]
    workload = pointsman.Workload.of(jobs.jobs.with_columns(model=pl.Series(models)))
    for policy in FORECASTERS:
        runs = [
            simulate(
                workload, "4x4/gpu=v100", policy, params=params, node_interference=source, oversized="drop", audit=True
            )
            for params in ({}, {"interference": source})
        ]
        assert runs[0].jobs.equals(runs[1].jobs), policy
        assert runs[0].jobs["slowed_s"].sum() > 0


def test_a_policy_that_takes_over_finds_no_file_of_its_own(learnt: str) -> None:
    jobs = pl.DataFrame({"submit_s": [0.0, 5.0], "gpus": [1, 1], "duration_s": [9.0, 9.0], "model": ["vgg16", "wlm"]})
    text = Path(learnt).read_text().replace("busy:", "vgg16:").replace("idle:", "wlm:")
    Path(learnt).write_text(text)
    lif = get_policy("lif")
    ours, theirs = lif.make({"interference": learnt}), lif.make({"interference": "table"})
    options = RunOptions.checked({"overheads": "none", "node_interference": "table", "audit": True})
    simulation, _ = open_simulation(pointsman.Workload.of(jobs), load_cluster("1x4/gpu=v100"), lif, ours, options)
    simulation.run(2000)
    with pytest.raises(UsageError, match="forecasts interference by 'table', which this run has not read"):
        simulation.what_if(theirs)
    for other in (ours, "fifo"):
        assert (
            simulation.what_if(other).handle.state.factor_loads.tolist()
            == simulation.handle.state.factor_loads.tolist()
        )
    simulation.run()
    assert not simulation.handle.state.factor_loads.any()


@pytest.mark.parametrize(
    ("source", "said"),
    [("none", "lif.interference = 'none': give table or a file"), ("tabel", "unknown node interference 'tabel'")],
)
def test_what_is_no_source_is_refused(source: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        run(tmp_path, "lif", BEFORE, [(1, "busy")], models=CORES, params={"interference": source})
