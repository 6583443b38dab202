"""A live world, told of starts, stops and ends from outside and of no durations, decides as `simulate` does."""

from functools import cache

import pytest

import pointsman
from pointsman.errors import UsageError
from pointsman.live.world.live_world import LiveWorld
from pointsman.policies.registry import BUILT_IN, LEARNED
from pointsman.workload import Workload

from .toy import Case, Toy

NEVER_LIVE = {
    "lwf": "lets transfers",
    "srsf": "lets transfers",
    "ada-srsf": "lets transfers",
    "pollux": "changes the number of GPUs",
    "sjf-bsbf": "share a GPU",
    "sjf-bsbf-consolidated": "share a GPU",
    "sjf-ffs": "share a GPU",
    "gandiva-packing": "share a GPU",
    "gandiva": "slices of 60 s are not long",
}
OTHERS = ("rounds(srtf, 60)", "rounds(dally, 300)", "examples/my_policy.py:MyPolicy")
WITHOUT_WEIGHTS = ("deeprm", "proximity-drl")
LIVE = [name for name in (*BUILT_IN, *LEARNED, *OTHERS) if name not in (*NEVER_LIVE, *WITHOUT_WEIGHTS)]
SLOW_LEARNERS = [("metarl", "philly"), ("metarl", "helios")]
CLUSTERS = {"philly": "8x8/rack=4", "helios": "4x8/rack=2", "itp": "6x4/rack=3"}


@cache
def workload(like: str, jobs: int = 250) -> Workload:
    gpus = {"philly": 64, "helios": 32, "itp": 24}[like]
    return pointsman.generate(like, jobs=jobs, cluster_gpus=gpus, load=1.1, seed=5)


EVERYWHERE = ("gittins", "dally", "easy", "multifactor")
CASES = [(policy, like) for policy in LIVE for like in CLUSTERS if (policy, like) not in SLOW_LEARNERS]
EVERY_DAY = [(policy, like) for policy, like in CASES if like == "itp" or policy in EVERYWHERE]


@pytest.mark.parametrize(("policy", "like"), EVERY_DAY)
def test_decides_as_simulated(policy: str, like: str) -> None:
    check_decides_as_simulated(policy, like)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "like"), [case for case in CASES if case not in EVERY_DAY])
def test_decides_as_simulated_on_other_logs(policy: str, like: str) -> None:
    check_decides_as_simulated(policy, like)


def check_decides_as_simulated(policy: str, like: str) -> None:
    if policy in LEARNED:
        pytest.importorskip("torch", reason="make learn")
    jobs = 60 if policy == "metarl" else 250  # which refits its model as it goes
    case = Case(workload(like, jobs), CLUSTERS[like], policy, oversized="drop")
    expected = case.simulated()
    world = case.world()
    assert Toy(case, world).run() == expected
    assert world.ignored == 0
    assert len(expected) >= len(case.prepared.trace)
    g = world.simulation.handle.state.g[0]
    assert (g["free"], g["pending"]) == (g["gpus"], 0)


@pytest.mark.parametrize("policy", ["gittins", "dally", "tiresias-skew", "easy"])
def test_decides_as_simulated_where_models_run_at_rates_of_their_own(policy: str) -> None:
    case = Case(workload("itp"), CLUSTERS["itp"], policy, assign_models=1, overheads="periodic")
    assert Toy(case, case.world()).run() == case.simulated()


@pytest.mark.parametrize("policy", ["sjf", "srtf", "easy"])
def test_learns_how_long_jobs_last_as_simulated(policy: str) -> None:
    case = Case(workload("philly"), CLUSTERS["philly"], policy, estimate="history", oversized="drop")
    assert Toy(case, case.world()).run() == case.simulated()


@pytest.mark.parametrize(("policy", "reason"), NEVER_LIVE.items())
def test_what_no_backend_can_do_is_refused_with_the_reason(policy: str, reason: str) -> None:
    case = Case(workload("itp"), CLUSTERS["itp"], policy, {"slice_s": 60.0} if policy == "gandiva" else None)
    with pytest.raises(UsageError, match=reason):
        case.world()


def test_gandiva_with_long_slices_decides_as_simulated() -> None:
    case = Case(workload("itp", 60), CLUSTERS["itp"], "gandiva", {"slice_s": 600.0})
    assert Toy(case, case.world()).run() == case.simulated()


def test_a_policy_that_is_to_be_told_of_queues_is_refused_without() -> None:
    case = Case(workload("itp"), CLUSTERS["itp"], "kueue")
    with pytest.raises(UsageError, match="told of users and queues"):
        LiveWorld(case.prepared, case.rules, case.policy())


def test_a_job_without_an_estimate_is_refused_by_a_policy_that_needs_one() -> None:
    case = Case(workload("itp"), CLUSTERS["itp"], "sjf")
    with pytest.raises(UsageError, match="needs an estimate"):
        case.world().submit(case.asks()[0]._replace(estimate_ms=float("nan")), 0)


def test_two_worlds_of_one_preparation_do_not_learn_into_each_other() -> None:
    case = Case(workload("philly"), CLUSTERS["philly"], "sjf", estimate="history", oversized="drop")
    assert Toy(case, case.world()).run() == Toy(case, case.world()).run()
