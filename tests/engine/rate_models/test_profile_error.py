"""What policies are told of model profiles may be wrong; how fast jobs run is not."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.api import open_simulation
from pointsman.errors import UsageError
from pointsman.experiment import RunOptions
from pointsman.policies.registry import BUILT_IN, get_policy
from tests.free import simulate

CLUSTER = "8x4/rack=2,gpu=v100"
AFFECTED = ("easy", "multifactor", "tiresias-skew", "gandiva", "gandiva-packing", "dally", "sjf-bsbf", "pollux")
UNAFFECTED = ("fifo", "srtf", "tiresias", "sjf-ffs", "packed")
REFUSED = ("lwf", "srsf", "ada-srsf", "lif", "packed-lif", "tetris-place", "scorer")


@pytest.fixture(scope="module")
def jobs() -> pointsman.Workload:
    return pointsman.generate("philly", jobs=300, cluster_gpus=32, load=1.3, seed=4)


def run(jobs: pointsman.Workload, policy: str, sigma: float, **options: Any) -> pointsman.Result:
    return simulate(
        jobs, CLUSTER, policy, assign_models=7, oversized="drop", profile_error=sigma,
        **{"congestion": {"network": 8.0}, **options},
    )  # fmt: skip


def tables(sigma: float, seed: int = 0, **options: Any) -> Any:
    """The state of a run, with what holds and what is told."""
    policy = options.pop("policy", "pollux")
    spec = get_policy(policy)
    found = RunOptions(seed=seed, profile_error=sigma, assign_models=7, oversized="drop", **options)
    workload = pointsman.generate("philly", jobs=300, cluster_gpus=32, load=1.3, seed=4)
    simulation, prepared = open_simulation(workload, pointsman.load_cluster(CLUSTER), spec, spec.make(), found)
    return simulation.handle.state, prepared


@pytest.mark.parametrize("policy", AFFECTED)
def test_a_policy_told_wrong_decides_otherwise(policy: str, jobs: pointsman.Workload) -> None:
    true, wrong = run(jobs, policy, 0.0), run(jobs, policy, 1.5)
    assert (true.info["told_profiles"], wrong.info["told_profiles"]) == ("true", "lognormal:1.5")
    assert not true.jobs.equals(wrong.jobs)
    assert run(jobs, policy, 1.5).jobs.equals(wrong.jobs)


@pytest.mark.parametrize("policy", UNAFFECTED)
def test_a_policy_that_is_told_none_decides_alike(policy: str, jobs: pointsman.Workload) -> None:
    true, wrong = run(jobs, policy, 0.0), run(jobs, policy, 1.5)
    assert (true.info["told_profiles"], wrong.info["told_profiles"]) == ("none", "none")
    assert true.jobs.equals(wrong.jobs)


@pytest.mark.parametrize("policy", REFUSED)
def test_what_has_no_error_yet_is_refused(policy: str, jobs: pointsman.Workload) -> None:
    with pytest.raises(UsageError, match=f"policy '{policy}' uses profiles of .* leave the option"):
        run(jobs, policy, 0.1)


def test_every_policy_is_affected_unaffected_or_refused() -> None:
    with_error, without = {"places", "pairs", "goodput"}, {"iterations", "nodes"}
    for name in BUILT_IN:
        profiles = set(get_policy(name).profiles)
        assert profiles <= with_error | without
        assert (name in REFUSED) == bool(profiles & without), name
    assert all(set(get_policy(name).profiles) & with_error for name in AFFECTED)
    assert not any(get_policy(name).profiles for name in UNAFFECTED)


def test_jobs_run_at_the_true_rates(jobs: pointsman.Workload) -> None:
    """Jobs that ran alone, at their best locality, took their duration."""
    result = run(jobs, "dally-nopreempt", 1.5)
    best = result.jobs.filter(pl.col("gpus") == 1)
    assert len(best) > 20
    assert (best["run_s"] - best["duration_s"]).abs().max() == pytest.approx(0.0, abs=0.002)


def test_errors_are_drawn_by_model_and_place() -> None:
    state, prepared = tables(0.5)
    assert prepared.speeds.told is not None
    factor = np.asarray(state.told_rates) / np.asarray(state.rates)
    by_model: dict[int, set[tuple[float, ...]]] = {}
    for row, kind in enumerate(np.asarray(prepared.trace["speed"])):
        by_model.setdefault(prepared.jobs["model"][row], set()).add(tuple(np.round(factor[kind], 6)))
    assert len(by_model) > 5
    assert all(len(found) == 1 for found in by_model.values()), "one error a model and place, whatever the gang"
    drawn = np.log(np.array([found.pop() for found in by_model.values()])).ravel()
    assert len(set(drawn.round(5))) == len(drawn)
    assert 0.3 < drawn.std() < 0.7


def test_goodputs_of_a_place_are_wrong_alike() -> None:
    state, _ = tables(0.5)
    told, true = np.asarray(state.told_goodputs), np.asarray(state.goodputs)
    table = np.divide(told, true, out=np.ones_like(told), where=true > 1e-3).reshape(len(told), -1, 5)
    assert ((true > 0) == (told > 0)).all()
    spread = np.nanmax(np.where(true.reshape(table.shape) > 1e-3, table, np.nan), axis=1) - np.nanmin(
        np.where(true.reshape(table.shape) > 1e-3, table, np.nan), axis=1
    )
    assert np.nanmax(spread) < 1e-4
    assert np.abs(np.log(table)).max() > 0.3


def test_slowdowns_of_pairs_stay_slowdowns() -> None:
    state, _ = tables(0.5, policy="sjf-bsbf")
    told, true = np.asarray(state.told_slowdowns), np.asarray(state.slowdowns)
    assert (told >= 1.0).all() and (told[0] == 1.0).all() and (told[:, 0] == 1.0).all()
    assert (told[1:, 1:] != true[1:, 1:]).mean() > 0.5


def test_seeds_draw_other_errors_and_no_error_is_the_truth() -> None:
    first, second, none = (np.asarray(tables(sigma, seed)[0].told_rates) for sigma, seed in ((1, 0), (1, 1), (0, 0)))
    assert not np.array_equal(first, second)
    assert np.array_equal(none, np.asarray(tables(0)[0].rates))


def test_without_models_it_says_that_it_changes_nothing(jobs: pointsman.Workload) -> None:
    result = simulate(jobs, CLUSTER, "dally", profile_error=0.5, oversized="drop")
    assert result.info["told_profiles"] == "none"
    assert any("no profiles for --profile-error to change" in each for each in result.info["assumptions"])


@pytest.mark.parametrize("value", [-0.1, 10, float("nan"), True])
def test_errors_out_of_range_are_refused(value: Any, jobs: pointsman.Workload) -> None:
    with pytest.raises(UsageError, match="profile_error"):
        run(jobs, "dally", value)
