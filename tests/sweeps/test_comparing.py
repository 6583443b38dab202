"""``pointsman.compare`` of a workload, a cluster and policies is what it says of the results of these."""

from typing import Any

import pytest

import pointsman
from pointsman.errors import UsageError

from .test_policy_objects import Counts

POLICIES = ("fifo", Counts(), Counts(10_000))


@pytest.fixture(scope="module")
def jobs() -> pointsman.Workload:
    return pointsman.generate("philly", jobs=60, cluster_gpus=8, load=0.7)


def test_it_is_the_comparison_of_the_results(jobs: pointsman.Workload) -> None:
    found = pointsman.compare(jobs, "2x4", POLICIES, window=(3600.0, 86400.0), overheads="none")
    results = [pointsman.simulate(jobs, "2x4", policy, overheads="none") for policy in POLICIES]
    expected = pointsman.compare((each for each in results), window=(3600.0, 86400.0))
    assert [row.policy for row in found.rows] == ["fifo", "counts (most=1000000)", "counts (most=10000)"]
    for mine, other in zip(found.groups, expected.groups, strict=True):
        (own,), (run,) = mine.runs, other.runs
        assert own.result.jobs.equals(run.result.jobs)
        assert own.result.events is not None and own.result.events.equals(run.result.events)
    timed = {"engine_s", "decisions_per_s"}
    for mine, other in zip(found.rows, expected.rows, strict=True):
        assert {k: v for k, v in mine.values.items() if k not in timed} == {
            k: v for k, v in other.values.items() if k not in timed
        }
        assert mine.differences["jct_mean_s"] == other.differences["jct_mean_s"]


def test_seeds_workload_seeds_and_baseline(jobs: pointsman.Workload) -> None:
    found = pointsman.compare(
        jobs, cluster="2x4", policy=["fifo", "srtf"], seeds=range(2), workload_seeds=[1, 2], baseline="srtf", load=0.9
    )
    assert (found.baseline.policy, found.baseline.seeds, found.baseline.workload_seeds) == ("srtf", [0, 1], [1, 2])
    assert {len(group.runs) for group in found.groups} == {4}
    assert all(run.summary["load"] == pytest.approx(0.9) for group in found.groups for run in group.runs)


def test_one_policy_is_a_comparison_of_one_and_a_table_is_a_workload(jobs: pointsman.Workload) -> None:
    assert repr(pointsman.compare(jobs.to_pandas(), "2x4", "fifo")) == "Comparison(fifo)"


@pytest.mark.parametrize("call", [pointsman.compare, pointsman.sweep])
def test_a_baseline_that_is_not_there_is_refused_before_any_run(
    call: Any, jobs: pointsman.Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pointsman.sweeps.cells.simulated", lambda *_: pytest.fail("a run began"))
    with pytest.raises(UsageError, match=r"the baseline 'las' is not among the policies compared \(fifo, counts\)"):
        call(jobs, "2x4", ["fifo", Counts()], baseline="las")


def test_a_policy_with_parameters_may_be_the_baseline(jobs: pointsman.Workload) -> None:
    found = pointsman.compare(jobs, "2x4", POLICIES, baseline="counts (most=10000)")
    assert found.rows[0].policy == found.baseline.policy == "counts (most=10000)"
