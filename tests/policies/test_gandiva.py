"""Gandiva and Tiresias with skew on clusters small enough to draw: to the millisecond, in the engine and the oracle."""

from dataclasses import asdict
from typing import Any

import pytest

from pointsman.policies.registry import get_policy
from tests.against_oracle.replay import log_of, run_engine, simulation_of
from tests.oracle.instances import Instance
from tests.oracle.model import Job, Node, Schedule

FALLING = (1.0, 1.0, 0.5, 0.25, 0.125)
"""One node, one rack, one pod, the cluster; of a model that suffers when spread."""


def instance_of(nodes: tuple[Node, ...], jobs: tuple[Job, ...], policy: str, **others: Any) -> Instance:
    """Jobs of the model "other" run at the same speed everywhere."""
    fields: dict[str, Any] = {
        "seed": 0, "params": {}, "placement": "tightest", "overheads": {}, "queue_limits": {}, "script": (),
        "rate_by_locality": FALLING, "round_ms": 0,
    }  # fmt: skip
    return Instance(nodes=nodes, jobs=jobs, policy=policy, **(fields | others))


def run(*args: Any, **others: Any) -> Schedule:
    instance = instance_of(*args, **others)
    engine, oracle = run_engine(instance), instance.run_oracle()
    assert asdict(engine) == asdict(oracle)
    return engine


def acts(schedule: Schedule) -> list[tuple[int, str, int]]:
    return [(time_ms, verb, row) for time_ms, verb, row, _ in schedule.log]


# -- gandiva -------------------------------------------------------------------------------------------


def test_two_jobs_take_turns_slice_by_slice() -> None:
    #     0    1    2    3    4 s
    # n0  AAAAABBBBBAAAAABBB      slices of 1 s; A works 2 s, B 1.6
    schedule = run((Node(1),), (Job(0, 1, 2000), Job(100, 1, 1600)), "gandiva", params={"slice_s": 1})
    assert acts(schedule)[1:] == [
        (1000, "PREEMPT", 0), (1000, "START", 1), (2000, "PREEMPT", 1), (2000, "START", 0), (3000, "START", 1),
    ]  # fmt: skip
    assert schedule.end_ms == [3000, 3600]


def test_who_had_its_slice_runs_on_until_somebody_comes() -> None:
    # n0  AAAAAAAAABBAAA      slices of 1 s; B comes at 2.5, works 0.5 s, and does not wait for a slice of A's to end
    schedule = run((Node(1),), (Job(0, 1, 4000), Job(2500, 1, 500)), "gandiva", params={"slice_s": 1})
    assert schedule.first_start_ms == [0, 2500]
    assert schedule.end_ms == [4500, 3000]


def test_a_slice_ends_once_a_run() -> None:
    # Events: two submits; the first slices of A and B, and the turns of A and B after them, at 2 and 3; A's second
    # slice ends with its work, so that it is only a FINISH; B's end.
    simulation = simulation_of(
        instance_of((Node(1),), (Job(0, 1, 2000), Job(100, 1, 1600)), "gandiva", params={"slice_s": 1})
    )
    simulation.run()
    assert int(simulation.handle.world.clock["events"][0]) == 2 + 2 + 2 + 2


def test_a_slice_begins_when_the_job_runs_and_ends_in_a_preemption_that_costs() -> None:
    #     0    1    2    3    4    5    6 s
    # n0  aaaaaAAAAAaabbbbbBBBBaaaaaAAAAAAA      start 1 s, stop 0.4 s (small letters), slices of 1 s; A loses 0.3 s
    overheads = {"start_s": 1, "stop_s": 0.4, "lost_s": 0.3}
    schedule = run((Node(1),), (Job(0, 1, 2000), Job(0, 1, 800)), "gandiva", params={"slice_s": 1}, overheads=overheads)
    assert acts(schedule) == [(0, "START", 0), (2000, "PREEMPT", 0), (2400, "START", 1), (4200, "START", 0)]
    assert schedule.end_ms == [4200 + 1000 + 1300, 4200]


def test_where_a_preemption_loses_a_slice_jobs_run_for_twice_that() -> None:
    #     0    1    2    3    4    5    6    7 s
    # n0  AAAAAAAAAABBBBBBBBBBAAAAAAABBBBBBBB      slices of 1 s; both work 2.5 s, and lose 1 s
    jobs = (Job(0, 1, 2500), Job(100, 1, 2500))
    schedule = run((Node(1),), jobs, "gandiva", params={"slice_s": 1}, overheads={"lost_s": 1})
    assert acts(schedule)[1:] == [
        (2000, "PREEMPT", 0), (2000, "START", 1), (4000, "PREEMPT", 1), (4000, "START", 0), (5500, "START", 1),
    ]  # fmt: skip
    assert schedule.end_ms == [5500, 7000]


def test_higher_priority_does_not_make_way() -> None:
    schedule = run((Node(1),), (Job(0, 1, 3000, priority=1), Job(0, 1, 1000)), "gandiva", params={"slice_s": 1})
    assert schedule.first_start_ms == [0, 3000]


@pytest.mark.parametrize("start_s", [0, 0.1])
def test_one_job_that_waits_stops_one_job_a_slice(start_s: float) -> None:
    # Eight jobs on eight GPUs, and a ninth that comes. At the end of each slice one makes way.
    jobs = (*(Job(0, 1, 20_000) for _ in range(8)), Job(500, 1, 20_000))
    schedule = run((Node(8),), jobs, "gandiva", params={"slice_s": 1}, overheads={"start_s": start_s})
    assert sum(schedule.preemptions) <= 24


@pytest.mark.parametrize(("work_ms", "end_ms"), [(8000, 6000 + 3000 + 5500), (4000, 9000)])
def test_a_job_moves_when_a_node_has_room_and_it_pays(work_ms: int, end_ms: int) -> None:
    # n0  AAC   C runs on one GPU of each node from 1 on, at half speed, and has had its slice at 2. A ends at 5; the
    # n1  BBC   next round is at 6, when C has done 2.5 s. Of 8 s it would win 5.5, of 4 s 1.5; the move costs 3.
    jobs = (Job(0, 2, 5000), Job(0, 2, 90_000), Job(1000, 2, work_ms))
    params = {"slice_s": 1, "round_s": 2}
    overheads = {"restore_s": 3}
    schedule = run((Node(3), Node(3)), jobs, "gandiva", params=params, overheads=overheads)
    assert schedule.end_ms[2] == end_ms
    moves = [(6000, "PREEMPT", 2, ((0, 4), (1, 4))), (6000, "START", 2, ((0, 3),))]
    assert schedule.log[3:] == (moves if work_ms == 8000 else [])


# -- tiresias-skew -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "start_ms", "masks"), [("", 5000, ((0, 3),)), ("other", 1000, ((0, 4), (1, 4)))])
def test_only_a_job_that_suffers_when_spread_waits_for_a_node(model: str, start_ms: int, masks: Any) -> None:
    # n0  AA.   C asks for two GPUs at 1. If it suffers when spread it waits until A ends at 5, though two are free.
    # n1  BB.
    jobs = (Job(0, 2, 5000), Job(0, 2, 9000), Job(1000, 2, 1000, model=model))
    schedule = run((Node(3), Node(3)), jobs, "tiresias-skew")
    assert schedule.log[2] == (start_ms, "START", 2, masks)
    assert schedule.end_ms[2] == start_ms + 1000


@pytest.mark.parametrize(("skew", "start_ms"), [(0.99, 5000), (1.0, 1000)])
def test_skew_is_how_much_faster_it_must_be(skew: float, start_ms: int) -> None:
    # As above; one node is twice as fast as the rack, which is not more than 1 + 1 times.
    jobs = (Job(0, 2, 5000), Job(0, 2, 9000), Job(1000, 2, 1000))
    schedule = run((Node(3), Node(3)), jobs, "tiresias-skew", params={"skew": skew})
    assert schedule.first_start_ms[2] == start_ms


def test_a_skewed_job_does_not_keep_others_of_its_demand_waiting() -> None:
    # As above; C suffers when spread, D does not and takes the two GPUs that C left.
    jobs = (Job(0, 2, 5000), Job(0, 2, 9000), Job(1000, 2, 1000), Job(2000, 2, 1000, model="other"))
    assert run((Node(3), Node(3)), jobs, "tiresias-skew").first_start_ms[2:] == [5000, 2000]


def test_a_skewed_job_evicts_for_a_node_of_its_own() -> None:
    # n0  AA.   All of level 0 until A and B have had 4 GPU-seconds, at 2. Then C could have the two free GPUs, but is
    # n1  BB.   skewed: B, of the higher row, makes way.
    jobs = (Job(0, 2, 9000), Job(0, 2, 9000), Job(1000, 2, 1000))
    schedule = run((Node(3), Node(3)), jobs, "tiresias-skew", params={"thresholds_gpu_s": (4,)})
    assert schedule.log[2:4] == [(2000, "PREEMPT", 1, ((1, 3),)), (2000, "START", 2, ((1, 3),))]


def test_what_one_job_lacked_anywhere_does_not_keep_another_from_a_node() -> None:
    # n0  AA   C takes any place and lacks 2 GPUs at 1; D, of the same demand, waits for a node. At 2 A and B sink:
    # n1  BB   C evicts B, D evicts A.
    jobs = (Job(0, 2, 9000), Job(0, 2, 9000), Job(1000, 2, 1000, model="other"), Job(1000, 2, 1000))
    schedule = run((Node(2), Node(2)), jobs, "tiresias-skew", params={"thresholds_gpu_s": (4,)})
    assert schedule.first_start_ms == [0, 0, 2000, 2000]


def test_who_takes_over_from_another_policy_takes_any_place() -> None:
    # n0  AA.   C waits for a node under tiresias-skew; then gandiva decides, for which any place will do: it starts C
    # n1  BB.   at once, at the last instant that there was.
    jobs = (Job(0, 2, 5000), Job(0, 2, 9000), Job(1000, 2, 1000), Job(2000, 2, 1000, model="other"))
    simulation = simulation_of(instance_of((Node(3), Node(3)), jobs, "tiresias-skew"))
    simulation.run(until_ms=1500)
    other = simulation.adopt(get_policy("gandiva").make({}))
    other.run()
    assert log_of(other)[2] == (1000, "START", 2, ((0, 4), (1, 4)))


def test_who_takes_over_finds_nothing_of_another_policy_in_the_jobs() -> None:
    # n0  AA   Under tiresias A sinks at 2 and makes way for B, though dally kept its timer of an hour where tiresias
    #          keeps the service from which it counts.
    simulation = simulation_of(
        instance_of((Node(2),), (Job(0, 2, 9000), Job(1000, 2, 1000)), "dally-manual", params={"node_timer_s": 3600})
    )
    simulation.run(until_ms=500)
    other = simulation.adopt(get_policy("tiresias").make({"thresholds_gpu_s": (4,)}))
    other.run()
    assert log_of(other)[1] == (2000, "PREEMPT", 0, ((0, 3),))


def test_who_takes_over_counts_the_service_of_those_that_run() -> None:
    # n0  AA   A has had 60 GPU-seconds under fifo when las comes, far beyond its level 0: B evicts it at once.
    jobs = (Job(0, 2, 90_000), Job(30_000, 2, 1000), Job(41_000, 2, 1000))
    simulation = simulation_of(instance_of((Node(2),), jobs, "fifo"))
    simulation.run(until_ms=40_000)
    other = simulation.adopt(get_policy("las").make({"thresholds_gpu_s": (10,)}))
    other.run()
    assert log_of(other)[1:3] == [(30_000, "PREEMPT", 0, ((0, 3),)), (30_000, "START", 1, ((0, 3),))]


def test_who_takes_over_does_not_go_back_in_time() -> None:
    # n0  A   A sank to the last level of three at 30; of the two of who takes over at 50 it has long left the first.
    jobs = (Job(0, 1, 100_000), Job(50_000, 1, 10_000, priority=-1))
    simulation = simulation_of(instance_of((Node(1),), jobs, "las", params={"thresholds_gpu_s": (1, 30)}))
    simulation.run(until_ms=50_000)
    other = simulation.adopt(get_policy("las").make({"thresholds_gpu_s": (1,)}))
    other.run()
    times = other.log()["time"]
    assert list(times) == sorted(times)
    assert other.handle.world.outcomes[["start", "end"]].tolist() == [(0, 100_000), (100_000, 110_000)]
