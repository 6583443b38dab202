"""Conservative backfilling: schedules worked out by hand, what `explain` says, and that no reservation is missed."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman import Workload
from pointsman.api import open_simulation
from pointsman.errors import UsageError
from pointsman.experiment import RunOptions
from pointsman.explain.pending import explain
from pointsman.policies.registry import get_policy
from tests.against_oracle.replay import run_engine, simulation_of
from tests.free import simulate
from tests.oracle.instances import PLAIN, Instance, random_instance


def of(*jobs: tuple[float, int, float], **columns: list[Any]) -> Workload:
    """(submit_s, gpus, duration_s)"""
    schema = {"submit_s": float, "gpus": int, "duration_s": float}
    frame = pl.DataFrame([(float(s), g, float(d)) for s, g, d in jobs], schema=schema, orient="row")
    names = pl.Series("job_id", [f"J{k}" for k in range(1, len(jobs) + 1)])
    return Workload.of(frame.with_columns(names, *(pl.Series(name, of) for name, of in columns.items())))


def starts(workload: Workload, cluster: str, policy: str = "conservative", **params: Any) -> list[float]:
    return simulate(workload, cluster, policy, params=params).jobs.sort("row")["start_s"].to_list()


DELAYED = of((0, 6, 100), (1, 8, 100), (2, 9, 100), (3, 2, 1000))
"""On ten GPUs, in tens of seconds from 0; what is reserved is in brackets:

    GPU  0-5  J1 J1 J1 J1 J1 J1 J1 J1 J1 J1 [J2 until 200] [J3 until 300]
         6-7                                [J2          ] [J3          ]
         8                                                 [J3          ]
         9

J4 needs two GPUs for 1,000 s. Beside J2 there are two, so EASY starts it at 3 s, and J3 waits until 1,003 s. J3 leaves
only one, so J4 waits until 300 s.
"""
IN_ORDER = {"weight_job_size": 0, "weight_fair_share": 0, "weight_partition": 0, "weight_age": 0}


@pytest.mark.parametrize("cluster", ["1x10", "2x5", "10x1"])
def test_a_backfilled_job_delays_no_job_with_a_reservation(cluster: str) -> None:
    """On two nodes J3 takes 5 + 4 and J4 would leave 3 of the second; on ten nodes gangs take whole nodes."""
    assert starts(DELAYED, cluster, "easy") == [0, 100, 1003, 3]
    assert starts(DELAYED, cluster) == [0, 100, 200, 300]


@pytest.mark.parametrize("cluster", ["1x10", "2x5", "10x1"])
def test_multifactor_backfills_likewise(cluster: str) -> None:
    assert starts(DELAYED, cluster, "multifactor", **IN_ORDER) == [0, 100, 200, 300]
    assert starts(DELAYED, cluster, "multifactor", backfill="easy", **IN_ORDER) == [0, 100, 1003, 3]
    assert starts(DELAYED, cluster, "multifactor", backfill="none", **IN_ORDER) == [0, 100, 200, 300]


def test_with_a_depth_of_one_it_is_easy() -> None:
    assert starts(DELAYED, "1x10", depth=1) == [0, 100, 1003, 3]
    assert starts(DELAYED, "1x10", depth=2) == [0, 100, 200, 300]


def test_slurm_tests_no_job_behind_bf_max_job_test() -> None:
    """J3 has two GPUs beside J2's reservation, and would end before it."""
    jobs = of((0, 6, 100), (1, 8, 100), (2, 2, 10))
    assert starts(jobs, "1x10", "multifactor", **IN_ORDER) == [0, 100, 2]
    assert starts(jobs, "1x10", "multifactor", bf_max_job_test=1, **IN_ORDER) == [0, 100, 100]
    assert starts(jobs, "1x10", "multifactor", backfill="none", **IN_ORDER) == [0, 100, 100]
    assert starts(jobs, "1x10", depth=1) == [0, 100, 2]


def test_jobs_of_other_nodes_start_behind_a_full_plan() -> None:
    """J2 waits for the V100s; J3 can use T4s alone, as Slurm's main scheduler would see."""
    jobs = of((0, 4, 100), (1, 4, 100), (2, 1, 10), (2, 1, 10), gpu_type=["v100", "v100", "t4", "v100"])
    said = starts(jobs, "1x4/gpu=v100+1x4/gpu=t4", "multifactor", bf_max_job_test=1, **IN_ORDER)
    assert said == [0, 100, 2, 200]


def test_reservations_are_of_single_nodes() -> None:
    """Two nodes of four GPUs, the second with two free until 300 s:

        node 0  J1 until 100  [J3 until 200]  [J4 until 300]
        node 1  J2 J2 until 300, two free

    Eight GPUs are not free at once before 300 s, but J5 touches no reservation: J3 and J4 have node 0.
    """
    jobs = of((0, 4, 100), (0, 2, 300), (1, 4, 100), (2, 4, 100), (3, 2, 290))
    assert starts(jobs, "2x4") == [0, 0, 100, 200, 3]


def test_a_hole_before_a_reservation_is_filled() -> None:
    """J5 ends just when J2 begins, J4 one second later."""
    jobs = of((0, 6, 100), (1, 10, 100), (2, 10, 100), (3, 4, 98), (3, 4, 97))
    assert starts(jobs, "1x10") == [0, 100, 200, 300, 3]


def test_a_job_that_ends_early_brings_reservations_forward() -> None:
    """J1 is estimated to take 100 s and takes 50."""
    jobs = of((0, 6, 50), (1, 8, 100), (2, 9, 100), (3, 2, 1000), time_limit_s=[100.0, 100.0, 100.0, 1000.0])
    assert starts(jobs, "1x10") == [0, 50, 150, 250]


def test_a_job_with_priority_goes_ahead_of_the_plan() -> None:
    """J4 has priority over J2 and J3, which were planned before it came."""
    jobs = of((0, 6, 100), (1, 8, 100), (2, 9, 100), (3, 2, 1000), priority=[0, 0, 0, 1])
    assert starts(jobs, "1x10") == [0, 100, 1003, 3]


def opened(policy: str, **params: Any) -> tuple[Any, Any]:
    spec = get_policy(policy)
    return open_simulation(
        DELAYED, pointsman.load_cluster("1x10"), spec, spec.make(params), RunOptions(overheads="none")
    )


@pytest.mark.parametrize(("policy", "params"), [("conservative", {}), ("multifactor", IN_ORDER)])
def test_explain_names_the_reservation_that_would_be_late(policy: str, params: dict[str, Any]) -> None:
    simulation, prepared = opened(policy, **params)
    answer = explain(simulation, prepared, 3, 10.0)
    assert (answer.state, answer.reason) == ("PENDING", "Reserved")
    assert "expected to take 16.7 min, and would delay job J3, whose reservation of 9 GPUs begins in 3.17 min" in (
        answer.said
    )


def test_explain_says_when_a_reservation_begins() -> None:
    simulation, prepared = opened("conservative")
    answer = explain(simulation, prepared, 2, 10.0)
    assert answer.reason == "Resources"
    assert "its reservation, 2 of 2, begins at 200 s (3.33 min after the first submit)" in answer.said


@pytest.mark.parametrize(("policy", "params"), [("conservative", {"depth": 0}), ("multifactor", {"backfill": "some"})])
def test_wrong_parameters_are_refused(policy: str, params: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(params))):
        get_policy(policy).make(params)


def promises(instance: Instance) -> dict[int, float]:
    """By row, when the first reservation of each job was to begin, ms."""
    log = run_engine(instance).log
    times = sorted({t for t, *_ in log} | {job.submit_ms for job in instance.jobs})
    simulation, found = simulation_of(instance), dict[int, float]()
    for until_ms in times:
        simulation.run(until_ms)
        for reserved in simulation.policy.reservations(simulation.handle.state):
            row = int(simulation.handle.state.jobs[reserved.slot]["row"])
            found.setdefault(row, reserved.begin_ms)
    return found


def test_no_job_starts_later_than_its_first_reservation_said() -> None:
    """Estimates are exact (a job is planned to take 1 ms at least), no node fails and no queue has a limit."""
    many = 0
    for seed in range(150):
        drawn = random_instance(seed, replace(PLAIN, policies=("conservative",), most_jobs=40, types=True))
        instance = replace(drawn, jobs=tuple(replace(job, work_ms=max(1, job.work_ms)) for job in drawn.jobs))
        start_ms, promised = run_engine(instance).first_start_ms, promises(instance)
        late = {row: (start_ms[row], at) for row, at in promised.items() if start_ms[row] > at}
        assert not late, (seed, late)
        many += len(promised)
    assert many > 150
