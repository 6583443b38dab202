"""`gittins`: its parameters, whom it preempts when, and what it takes along."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from pointsman.engine.setup.overheads import Overheads
from pointsman.errors import UsageError
from pointsman.policies.dally.declared import Gittins, GittinsKept
from tests.free import simulate
from tests.oracle.gittins import BUCKET_BEGINS, FALLING, indices, last_begun
from tests.policies.gittins_runs import QUICK, busy, index_of, jobs_of, learnt, opened

# -- parameters ----------------------------------------------------------------------------------------


def test_without_preemption_nobody_is_preempted() -> None:
    assert simulate(busy(2), "2x8", "gittins", params={"preempt": False}).jobs["preemptions"].sum() == 0
    assert simulate(busy(2), "2x8", "gittins").jobs["preemptions"].sum() > 0


@pytest.mark.parametrize("wrong", [{"patience_s": 3600.0}, {"cost_weight": 2.0}])
def test_without_preemption_what_is_about_it_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"nothing is preempted, and {min(wrong)} is about preemption"):
        simulate(busy(2), "2x8", "gittins", params={"preempt": False, **wrong})


def test_with_ageing_jobs_go_by_submission() -> None:
    def overtaken(ageing: float) -> int:
        starts_s = simulate(busy(2), "1x4", "gittins", params={"ageing": ageing}).jobs["start_s"]
        return int((starts_s.rank("ordinal").cast(int) - 1 - pl.arange(len(starts_s), eager=True)).abs().sum())

    assert overtaken(1e6) < 0.2 * overtaken(0.0)


@pytest.mark.parametrize(("lost_s", "preempted_s"), [(0.0, 600.0), (599.0, 600.0), (600.0, 1200.0), (900.0, 1800.0)])
def test_where_a_preemption_loses_a_quantum_jobs_run_for_twice_that(lost_s: float, preempted_s: float) -> None:
    """A quantum is 600 s. If they lost that, two jobs would take turns for ever and get nothing done."""
    costs = Overheads(lost_s=lost_s)
    two = jobs_of([(0.0, 1, 7200.0), (10.0, 1, 7200.0)])
    jobs = simulate(two, "1x1", "gittins", overheads=costs, params={"cost_weight": 0}).jobs
    assert jobs["start_s"].to_list() == [0.0, preempted_s]
    assert jobs["preemptions"].sum() >= 2 and jobs["lost_s"].sum() == lost_s * jobs["preemptions"].sum()


@pytest.mark.parametrize("cost_weight", [0.5, 8.0])
@pytest.mark.parametrize("lost_s", [0.0, 300.0, 900.0])
def test_a_preemption_must_gain_a_multiple_of_what_it_costs(lost_s: float, cost_weight: float) -> None:
    """One job has both GPUs; another comes for one of them. The first is preempted when a bucket begins in which twice
    its index exceeds the index of the other by `cost_weight` times what the preemption of either costs, for two GPUs
    and for one; and not before it has done twice what a preemption loses.
    """
    costs = Overheads(start_s=10.0, stop_s=5.0, restore_s=20.0, lost_s=lost_s)
    params = {"cost_weight": cost_weight, "quantum_s": 0}
    jobs = simulate(jobs_of([(0.0, 2, 1e6), (10.0, 1, 1e6)]), "1x2", "gittins", overheads=costs, params=params).jobs
    index, cost_ms = indices(tuple(FALLING)), 35_000 + 1000 * lost_s
    pays = (2 * here - cost_weight * 2 * cost_ms > index[0] + cost_weight * cost_ms for here in index)
    first_ms = next(begin for begin, enough in zip(BUCKET_BEGINS, pays, strict=True) if enough)
    worked_ms = max(math.ceil(first_ms), 2000 * lost_s)
    assert jobs["start_s"][1] == pytest.approx(10 + worked_ms / 1000 + 5, abs=1e-9)


def test_a_job_is_preempted_just_after_a_checkpoint() -> None:
    """A checkpoint comes after each 1000 s of work. Another job comes when the first has done 1400 s, and gains enough
    for the loss of a quarter of that, not for that of three.
    """
    costs = Overheads(checkpoint_every_s=1000.0, loses_since_checkpoint=True)
    index = indices(tuple(FALLING))
    gain = index[last_begun(BUCKET_BEGINS, 2_000_000)] - index[0]
    params = {"quantum_s": 0, "cost_weight": gain / (500_000 + 400_000), "memory_jobs": 0, "patience_s": 0}
    two = jobs_of([(0.0, 1, 1e6), (1400.0, 1, 10.0)])
    jobs = simulate(two, "1x1", "gittins", overheads=costs, params=params).jobs
    assert jobs["start_s"].to_list() == [0.0, 2000.0] and jobs["lost_s"].to_list() == [0.0, 0.0]


def test_work_that_is_done_again_says_nothing_new() -> None:
    """A job that has lost some work has the rank of the most that it had done, and for the loss on top."""
    two, costs = jobs_of([(0.0, 1, 1e5), (10.0, 1, 9e4)]), Overheads(lost_s=1000.0)
    simulation = opened(two, "1x1", overheads=costs, cost_weight=0.1, quantum_s=0)
    simulation.run(10_000_000)
    job = simulation.handle.jobs[0]
    assert job["reached"] == job["done"] + 1e6 >= 2e6
    bucket = sum(begin <= job["reached"] for begin in BUCKET_BEGINS) - 1
    assert job["level"] == math.floor(indices(tuple(FALLING))[bucket] + 1e6 + 0.5)


def test_all_jobs_end_where_a_preemption_loses_more_than_a_quantum() -> None:
    """On slow places, too, and whatever else changes their rates."""
    costs = Overheads(lost_s=900.0, start_s=30.0)
    options = {"overheads": costs, "assign_models": 7, "contention": "level"}
    jobs = simulate(busy(2), "4x2/rack=1", "gittins", params={"quantum_s": 0, "cost_weight": 0}, **options).jobs
    assert (jobs["state"] == "COMPLETED").all() and jobs["preemptions"].sum() > 20


@pytest.mark.parametrize(
    ("name", "value"),
    [("quantum_s", -1), ("groups", 0), ("groups", 33), ("refit_s", 0.5), ("least_ends", 0), ("strength", 0),
     ("strength", float("inf")), ("strength", float("nan")), ("ageing", -1), ("predictor", "oracle")],
)  # fmt: skip
def test_nonsense_is_refused(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"gittins.{name}"):
        simulate(busy(1, 3), "2x8", "gittins", params={name: value})


@pytest.mark.parametrize(
    "params",
    [{"quantum_s": 0}, {"quantum_s": 1e9}, {"groups": 32}, {"refit_s": 1, "least_ends": 1},
     {"strength": 1e-300}, {"strength": 2.0**53}, {"ageing": 2.0**53}, {"memory_jobs": 1e-300}, {"cost_weight": 1e12},
     {"patience_s": 1e-3, "patience_growth": 0, "grant_share": 0.001}, {"patience_s": 1e9, "patience_growth": 1e12}],
)  # fmt: skip
@pytest.mark.parametrize("durations_s", [[0.0] * 60, [1e9, 1.0, 1e6] * 20, [1e9] * 60])
def test_extremes_are_borne(durations_s: list[float], params: dict[str, Any]) -> None:
    """Jobs of no duration, and beyond the last bucket. No grant ends before these do: centuries would be millions."""
    workload = jobs_of([(7.0 * k, 1 + k % 8, duration_s) for k, duration_s in enumerate(durations_s)])
    jobs = simulate(
        workload, "2x8", "gittins", params=QUICK | {"refit_s": 1e5, "grant_s": 1e9} | params, audit=True
    ).jobs
    assert (jobs["state"] == "COMPLETED").all()


def test_older_jobs_count_for_as_many_as_are_remembered() -> None:
    """A refit comes once an hour, and then what has been counted before weighs no more than 50 jobs."""
    simulation = opened(busy(4), "2x8", **(QUICK | {"memory_jobs": 50}))
    H = learnt(simulation)
    remembered = refitted = forgotten = 0.0
    for hour in range(1, 14):
        simulation.run(hour * 3_600_000)
        if H.refitted != refitted:
            since = H.ends_before - forgotten
            remembered = (remembered + since) * 50 / (50 + since)
            refitted, forgotten = H.refitted, H.ends_before
        assert H.ended.array.sum() == pytest.approx(remembered + H.ends - forgotten)
    assert 45 < remembered < 50 and forgotten > 300


# -- what it takes along -------------------------------------------------------------------------------


def test_copies_go_on_alike() -> None:
    simulation = opened(busy(7), "2x8", **QUICK)
    simulation.run(15_000_000)
    assert learnt(simulation).refitted > 0
    copy = simulation.copy()
    for run in (simulation, copy):
        run.run()
    ends = [run.handle.world.outcomes["end"].tolist() for run in (simulation, copy)]
    assert ends[0] == ends[1]


def test_what_it_has_learnt_outlives_a_takeover_by_itself_only() -> None:
    simulation = opened(busy(7), "2x8", **QUICK)
    simulation.run(15_000_000)
    index, ended = index_of(simulation), learnt(simulation).ends
    assert ended > 50
    itself = simulation.what_if(Gittins(**QUICK, ageing=1.0))
    assert (index_of(itself) == index).all()
    assert learnt(itself).ends == ended
    assert learnt(simulation.what_if(Gittins(**QUICK, predictor="none"))).ends == 0
    assert not learnt(simulation.what_if("dally")).as_numbers.array.any()
    itself.run(15_100_000)
    other = opened(busy(7), "2x8", "fifo")
    other.run(15_000_000)
    new = other.adopt(Gittins(**QUICK))
    assert learnt(new).ends == 0
    new.run()
    assert (new.handle.world.outcomes["end"] > 0).all()


def test_after_a_takeover_it_refits_at_its_own_period() -> None:
    """The run has refitted at 3 h; every 5 h comes next at 5 h, and not after as many periods as there were of an hour
    each.
    """
    simulation = opened(busy(7), "2x8", **QUICK)
    simulation.run(14_000_000)
    other = simulation.adopt(Gittins(refit_s=18_000, least_ends=20))
    last_ms = learnt(other).refitted
    other.run(17_999_999)
    assert 10_800_000 < last_ms == learnt(other).refitted
    other.run(18_500_000)
    assert learnt(other).refitted > 18_000_000


@pytest.mark.parametrize(("before", "one_class"), [("srtf", True), ("gittins", False)])
def test_who_learns_from_history_does_not_sort_by_the_estimates_of_another_policy(before: str, one_class: bool) -> None:
    """`srtf` is told the true durations."""
    simulation = opened(busy(7), "2x8", before)
    simulation.run(15_000_000)
    other = simulation.adopt(Gittins(**QUICK))
    other.run(25_000_000)
    assert not np.isnan(other.handle.jobs["estimate"]).any()
    jobs = other.handle.jobs
    classes = {int(GittinsKept(job).class_number) for job in jobs[jobs["state"] != 0]}
    assert (classes == {1}) == one_class and classes
