"""The figures of a run on the tree, by hand."""

from pathlib import Path

import polars as pl
import pytest

import pointsman
from pointsman.report.metrics.proximity import places
from pointsman.report.run_reading import read_run
from pointsman.report.rundir import write_run
from pointsman.report.summary import summarise
from tests.free import simulate


def run(until_s: float | None = None, log: bool = True, rate_model: str = "tree") -> pointsman.Result:
    """On two racks of four nodes of four: gangs of 1, 6 and 6 GPUs that do 900 s of work, and one of 20 that waits."""
    jobs = pl.DataFrame({"submit_s": [0.0] * 4, "gpus": [1, 6, 6, 20], "duration_s": [900.0] * 4})
    return simulate(
        pointsman.Workload.of(jobs), "topdrl", "pick-place", params={"gpus": "first-available"}, until_s=until_s,
        rate_model=rate_model, log=log,
    )  # fmt: skip


def test_places_are_the_racks_nodes_and_gpus_of_each_start() -> None:
    found = places(run())
    assert found["row"].to_list() == [0, 1, 2, 3]
    assert found.select("gpus", "nodes", "racks").rows()[:3] == [(1, 1, 1), (6, 2, 1), (6, 3, 1)]
    assert found["cost"].to_list()[:3] == pytest.approx([0.775, 0.5 + 0.5 + 0.15, 0.5 + 0.75 + 0.15])
    assert found["proximity"].to_list()[:3] == [None, pytest.approx(1.0), pytest.approx(1 - 0.25 / 1.5)]


def test_work_done_by_the_horizon_counts_of_jobs_cut_too() -> None:
    cut = run(until_s=500.0)
    rates = [1 / 0.775, 1 / 1.15, 1 / 1.4, 0.0]
    assert cut.jobs["done_s"].to_list() == pytest.approx([500 * rate for rate in rates], rel=1e-6)
    figures = summarise(cut)["tree"]
    done_gpu_s = 500 * (rates[0] + 6 * rates[1] + 6 * rates[2])
    assert figures["work_gpu_hours_per_hour"] == pytest.approx(done_gpu_s / 500, rel=1e-6)
    assert figures["jobs_per_hour"] == 0
    assert figures["cost_sum"] == pytest.approx(0.775 + 1.15 + 1.4)
    assert figures["proximity_mean"] == pytest.approx((1 + 1 - 0.25 / 1.5) / 2)
    assert [group["gpus"] for group in figures["by_gang"]] == [1, 6]
    whole = run()
    assert whole.jobs["done_s"].to_list() == [900.0] * 4
    assert summarise(whole)["gpu_productive_ratio"] == pytest.approx(33 * 900 / (32 * whole.jobs["end_s"].max()))


def test_without_a_log_places_are_not_known_and_other_rate_models_have_no_tree(tmp_path: Path) -> None:
    figures = summarise(run(log=False))["tree"]
    assert figures["cost_mean"] is None and figures["work_gpu_hours_per_hour"] > 0
    other = run(rate_model="rates")
    assert "tree" not in summarise(other) and "done_s" not in other.jobs.columns
    with pytest.raises(ValueError, match="tree"):
        places(other)
    assert places(read_run(write_run(tmp_path / "out", run(), figures=False))).equals(places(run()))


def test_figures_are_the_same_to_the_last_bit_each_time() -> None:
    """Sums depend on their order, and that of unordered groups depends on threads."""
    jobs = pointsman.generate("topdrl", jobs=300, cluster_gpus=32, load=1.2, seed=1)
    run = simulate(jobs, "8x4/rack=2", "tiresias", rate_model="tree:rack=20,node=3")
    first = summarise(run)["tree"]
    assert all(summarise(run)["tree"] == first for _ in range(20))
