"""The audit sees what is wrong with a state, and nothing wrong with one that is right."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.setup.overheads import Overheads
from pointsman.engine.state import invariants
from pointsman.engine.state.invariants import FAILURES
from pointsman.errors import RunError
from pointsman.experiment import RunOptions
from pointsman.policies.registry import get_policy
from pointsman.types import JobState

NOTHING_TAKES_TIME = Overheads()
SOME_TIME = Overheads(start_s=2.0, stop_s=1.0)


def simulation_at_10_s(overheads: Overheads = NOTHING_TAKES_TIME) -> Simulation:
    """Slot 0 runs on two GPUs of the first node, slot 1 waits for all three, slot 2 has had a job and has another."""
    jobs = pl.DataFrame(
        {
            "submit_s": [0.0, 0.0, 0.0, 5.0, 20.0],
            "gpus": [2, 3, 1, 1, 1],
            "duration_s": [30.0, 30.0, 5.0, 30.0, 1.0],
            "gpu_type": ["v100", "v100", "v100", "v100", "p100"],
        }
    )
    spec, cluster = get_policy("fifo-backfill"), load_cluster("1x3/gpu=v100+1x3/gpu=p100")
    simulation, _ = open_simulation(
        pointsman.Workload.of(jobs), cluster, spec, spec.make(), RunOptions(overheads=overheads, log=False, audit=True)
    )
    simulation.run(10_000)
    assert simulation.handle.jobs["state"].tolist()[:2] == [JobState.RUNNING, JobState.PENDING]
    return simulation


def field(name: str, value: float, slot: int = 0, add: bool = False) -> Callable[[Simulation], None]:
    def tamper(simulation: Simulation) -> None:
        jobs = simulation.handle.jobs
        jobs[name][slot] = value + (jobs[name][slot] if add else 0)

    return tamper


def clock(name: str, more: int) -> Callable[[Simulation], None]:
    def tamper(simulation: Simulation) -> None:
        simulation.handle.world.clock[name] += more

    return tamper


def other_type(simulation: Simulation) -> None:
    """The class of slot 2 asks for one GPU of the other type."""
    simulation.handle.jobs["cls"][2] = int(simulation.handle.world.trace["cls"][4])


def ended_again(simulation: Simulation) -> None:
    simulation.handle.world.outcomes["state"][0] = JobState.COMPLETED


WORK = "work done is not a number, negative or beyond its work"
TIMES = "held GPU time, attained GPU time and run time do not add up"
CLASS = "demand class is not that of its GPUs, queue or nodes"
SUBMITTED = "the jobs submitted are not those that ended and those in the system"


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (field("done", np.nan), WORK),
        (field("done", np.nan, slot=1), WORK),
        (field("done", np.inf), WORK),
        (field("done", -1.0), WORK),
        (field("done", 1.0, slot=1), "work done|do not add up"),
        (field("done_when_rated", np.nan), WORK),
        (field("done_when_rated", 26_000.0), WORK),
        (field("rate", np.nan), WORK),
        (field("lost", np.nan), WORK),
        (field("waited", np.inf), WORK),
        (field("held", 2, add=True), TIMES),
        (field("held", -2, add=True), TIMES),
        (field("held", 2, slot=1), TIMES),
        (field("held_since", 1000), TIMES),
        (field("attained", 2, add=True), TIMES),
        (field("executed", 1, add=True), TIMES),
        (field("executed", -1), TIMES),
        (field("first_start", 9_000), TIMES),
        (field("first_start", -1), TIMES),
        (field("started", 11_000), TIMES),
        (field("cls", 99), CLASS),
        (field("cls", -1), CLASS),
        (field("cls", 1), "neither none nor all|demand class"),
        (field("cls", 0, slot=1), CLASS),
        (field("asked", 4, slot=1), CLASS),
        (other_type, CLASS),
        (field("queue", 7), "a queue's count of held GPUs"),
        (field("key", np.nan, slot=1), "by a key that is not a number"),
        (field("aux", np.nan, slot=1), "by a key that is not a number"),
        (field("row", 4), SUBMITTED),
        (clock("arrived", 1), SUBMITTED),
        (clock("ended", 1), SUBMITTED),
        (clock("ended", -1), SUBMITTED),
        (clock("jobs", -2), SUBMITTED),
        (ended_again, SUBMITTED),
    ],
)
def test_what_is_tampered_with_is_found(tamper: Callable[[Simulation], None], said: str) -> None:
    simulation = simulation_at_10_s()
    tamper(simulation)
    with pytest.raises(RunError, match=rf"audit at \d+\.000 s: .*({said})"):
        simulation.run(10_000)


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (field("held", 1, add=True), TIMES),
        (field("held", 60_000, add=True), TIMES),
        (field("held", -20_000, add=True), TIMES),
        (field("attained", 2, add=True), TIMES),
        (field("executed", 10_000, add=True), TIMES),
    ],
)
def test_and_where_starts_take_time(tamper: Callable[[Simulation], None], said: str) -> None:
    simulation = simulation_at_10_s(SOME_TIME)
    tamper(simulation)
    with pytest.raises(RunError, match=said):
        simulation.run(10_000)


def simulation_with_a_claim() -> Simulation:
    """At 3 s, slot 0 is stopping on both GPUs of the node, and slot 1 claims one of them."""
    jobs = pl.DataFrame({"submit_s": [0.0, 2.0], "gpus": [2, 1], "duration_s": [90.0, 5.0]})
    spec, options = get_policy("srtf"), RunOptions(overheads=Overheads(stop_s=4.0), log=False, audit=True)
    workload = pointsman.Workload.of(jobs)
    simulation, _ = open_simulation(workload, load_cluster("1x2"), spec, spec.make(), options)
    simulation.run(3_000)
    assert simulation.handle.jobs["state"].tolist()[:2] == [JobState.STOPPING, JobState.PENDING]
    return simulation


def claim(name: str, value: int) -> Callable[[Simulation], None]:
    def tamper(simulation: Simulation) -> None:
        simulation.handle.state.claims[name][0] = value

    return tamper


def claimed(mask: int) -> Callable[[Simulation], None]:
    def tamper(simulation: Simulation) -> None:
        simulation.handle.state.nodes["claimed"][0] = mask

    return tamper


@pytest.mark.parametrize(
    "tamper",
    [claim("gpus", 2), claim("mask", 3), claim("next", 0), claimed(0), claimed(3), field("claims", 0, slot=1),
     field("claims", 2, slot=1)],
)  # fmt: skip
def test_and_where_a_place_is_claimed(tamper: Callable[[Simulation], None]) -> None:
    simulation = simulation_with_a_claim()
    tamper(simulation)
    with pytest.raises(RunError, match=f"{FAILURES[invariants.CLAIMED]}|a queue's count"):
        simulation.run(3_000)


def test_an_untouched_claim_goes_on() -> None:
    simulation = simulation_with_a_claim()
    simulation.run()
    assert simulation.handle.world.outcomes["end"].tolist() == [99_000, 11_000]


def test_an_untouched_run_goes_on() -> None:
    for overheads in (NOTHING_TAKES_TIME, SOME_TIME):
        simulation = simulation_at_10_s(overheads)
        simulation.run(10_000)
        simulation.run()
        assert (simulation.handle.world.outcomes["state"] == JobState.COMPLETED).all()


def test_loads_of_factors_that_outlive_the_jobs_are_found() -> None:
    """While a job runs it may be what is counted."""
    jobs = pointsman.Workload.of(
        pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [30.0], "model": ["resnet50"]})
    )
    spec = get_policy("fifo")
    options = RunOptions(overheads="none", audit=True, node_interference="table")  # ty: ignore
    simulation, _ = open_simulation(jobs, load_cluster("1x4"), spec, spec.make(), options)
    simulation.run(10_000)
    simulation.handle.state.factor_loads[0] += 1
    simulation.run(20_000)
    with pytest.raises(RunError, match=FAILURES[invariants.LOADS]):
        simulation.run()


def test_every_failure_has_a_sentence() -> None:
    numbers: dict[str, Any] = {name: number for name, number in vars(invariants).items() if name.isupper()}
    known = {number for name, number in numbers.items() if isinstance(number, int)}
    assert known == set(FAILURES)
