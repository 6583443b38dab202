"""Runs on several generated workloads: paired by workload and seed, with intervals over the workloads."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import pointsman
from pointsman.errors import UsageError
from pointsman.report.figures.catalogue import runs_caption
from pointsman.report.metrics.groups import group_runs, run_name
from pointsman.report.metrics.paired.changes import changes
from pointsman.report.metrics.paired.confidence import ratio_interval
from pointsman.report.metrics.paired.differences import difference
from pointsman.report.pages.page import facts
from pointsman.report.result import Result

MADE = {"jobs": 60, "cluster_gpus": 8, "load": 0.9}
WORKLOADS, SEEDS = (4, 1, 9), (0, 5)


@pytest.fixture(scope="module")
def results() -> dict[tuple[str, int, int], Result]:
    """Both policies on three workloads with two seeds each, which draw the errors of estimates."""
    logs = {drawn: pointsman.generate("philly", seed=drawn, **MADE) for drawn in WORKLOADS}
    return {
        (policy, drawn, seed): pointsman.simulate(logs[drawn], "2x4", policy, seed=seed, estimate="lognormal:1.5")
        for policy in ("sjf", "srtf")
        for drawn in WORKLOADS
        for seed in SEEDS
    }


def test_a_workload_is_the_mean_of_its_seeds(results: dict[tuple[str, int, int], Result]) -> None:
    jct = {key: result.jobs["jct_s"].mean() for key, result in results.items()}
    means = {p: np.array([np.mean([jct[p, w, s] for s in SEEDS]) for w in sorted(WORKLOADS)]) for p in ("sjf", "srtf")}
    base, row = pointsman.compare([*results.values()]).rows
    assert (row.seeds, row.workload_seeds, row.jobs_counted) == ([0, 5], [1, 4, 9], 360)
    assert row.values["jct_mean_s"] == pytest.approx(means["srtf"].mean())
    change, paired = row.differences["jct_mean_s"], means["srtf"] - means["sjf"]
    assert change.value == pytest.approx(paired.mean())
    assert change.interval == pytest.approx(stats.t.interval(0.95, 2, paired.mean(), stats.sem(paired)))
    assert change.ratio_interval == pytest.approx(ratio_interval(means["srtf"], means["sjf"]))
    assert change.method == "Student's t over 3 workloads, each the mean of its seeds"
    assert base.differences["jct_mean_s"].method == "baseline"


def test_one_seed_each_and_one_workload(results: dict[tuple[str, int, int], Result]) -> None:
    def method(**kept: int) -> str:
        named = {"workload": 1, "seed": 2}
        groups = group_runs([r for key, r in results.items() if all(key[named[n]] == v for n, v in kept.items())])
        return difference(groups[1], groups[0], "jct_mean_s").method

    assert method(seed=5) == "Student's t over 3 workloads"
    assert method(workload=4) == "Student's t over 2 common seeds of estimates and failures, the jobs the same"
    assert method(workload=4, seed=5) == "block bootstrap over the jobs of one seed"


def test_the_page_says_which_is_which(results: dict[tuple[str, int, int], Result]) -> None:
    groups = group_runs([*results.values()])
    assert "3 workloads × 2 seeds; generated like philly" in runs_caption(groups)
    said = "3 workloads × 2 seeds: jobs drawn with workload seed 1, 4, 9; runs with seed 0, 5"
    assert ("Workloads and seeds", said) in facts(groups)
    part = [result for key, result in results.items() if key != ("sjf", 4, 0)]
    assert "counted, 3 workloads × 2 seeds;" in runs_caption(group_runs(part))
    one = group_runs([result for key, result in results.items() if key[1] == 4])
    assert "seeds 0, 5; generated" in runs_caption(one) and ("Seeds", "0, 5") in facts(one)


def test_groups_of_jobs_have_intervals_over_workloads(results: dict[tuple[str, int, int], Result]) -> None:
    base, group = group_runs([*results.values()])
    (one,) = [change for change in changes(group, base) if change.kind == "gpus" and change.name == "1"]

    def sums(policy: str) -> np.ndarray:
        """Completion times of jobs of one GPU, by workload."""
        one = {key: r.jobs.filter(pl.col("gpus") == 1)["jct_s"].sum() for key, r in results.items()}
        return np.array([sum(one[policy, drawn, seed] for seed in SEEDS) for drawn in sorted(WORKLOADS)])

    assert one.jct_interval == pytest.approx(ratio_interval(sums("srtf"), sums("sjf")))


def test_names_of_runs_tell_them_apart(results: dict[tuple[str, int, int], Result]) -> None:
    (group,) = group_runs([result for key, result in results.items() if key[0] == "sjf"])
    names = [run_name(group, run) for run in group.runs]
    assert names == [f"sjf_w{w}_s{s}" for w in (1, 4, 9) for s in (0, 5)]
    (own,) = group_runs([results["sjf", 4, 0], results["sjf", 9, 5]])
    assert [run_name(own, run) for run in own.runs] == ["sjf_s0", "sjf_s5"], "as of suites, whose seeds draw both"


def test_a_comparison_is_read_back(results: dict[tuple[str, int, int], Result], tmp_path: Path) -> None:
    from pointsman.report import read_runs, write_comparison

    written = write_comparison(tmp_path / "out", [*results.values()], figures=False)
    assert pointsman.compare(read_runs(tmp_path / "out")).rows == written.rows


def test_what_is_no_draw_of_one_workload_is_refused(results: dict[tuple[str, int, int], Result]) -> None:
    busier = pointsman.generate("philly", seed=2, **MADE | {"load": 1.1})
    other = pointsman.simulate(busier, "2x4", "sjf", estimate="lognormal:1.5")
    with pytest.raises(
        UsageError, match=r"of sjf differ in more than the seed: generate\(.*load=0.9.*; generate\(.*1.1"
    ):
        pointsman.compare([results["sjf", 1, 0], other])
    with pytest.raises(UsageError, match="sjf occurs twice with the same seed"):
        pointsman.compare([results["sjf", 1, 0], results["sjf", 1, 0]])
    with pytest.raises(UsageError, match="srtf and sjf did not run the same jobs"):
        pointsman.compare([results["sjf", 1, 0], results["srtf", 4, 0]])
