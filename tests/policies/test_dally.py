"""Dally on clusters small enough to draw: what waits for what, to the millisecond, in the engine and in the oracle."""

from dataclasses import asdict, replace
from math import ceil, floor
from typing import Any

import pytest

from tests.against_oracle.replay import run_engine, simulation_of
from tests.oracle.dally import VARIANTS
from tests.oracle.instances import PLAIN, Instance, Kind, random_instance
from tests.oracle.model import Job, Node, Schedule
from tests.oracle.placement import locality
from tests.oracle.simulator import OWN_PLACEMENT

FALLING = (1.0, 1.0, 0.5, 0.25, 0.125)
FLAT = (1.0,) * 5
FIXED = {"node_timer_s": 4.321, "rack_timer_s": 9, "levels": 0, "quantum_s": 1000}
"""Timers and nothing else."""
HOGS = (Job(0, 2, 20_000), Job(0, 2, 30_000))
PACKED: dict[str, Any] = {"placement": "consolidated"}
ONE_RACK, TWO_RACKS = (Node(3), Node(3)), (Node(3), Node(3, rack=1))


def instance_of(
    nodes: tuple[Node, ...], jobs: tuple[Job, ...], policy: str, params: dict[str, Any], **others: Any
) -> Instance:
    fields: dict[str, Any] = {
        "seed": 0, "placement": "tightest", "overheads": {}, "queue_limits": {}, "script": (),
        "rate_by_locality": FALLING, "round_ms": 0,
    }  # fmt: skip
    return Instance(nodes=nodes, jobs=jobs, policy=policy, params=params, **(fields | others))


def run(*args: Any, **others: Any) -> Schedule:
    instance = instance_of(*args, **others)
    engine, oracle = run_engine(instance), instance.run_oracle()
    assert asdict(engine) == asdict(oracle)
    return engine


def test_a_job_holds_out_for_a_node_until_its_timer_and_then_takes_the_rack() -> None:
    # n0  AA.   C asks for 2 of the GPUs that are free, one on each node of a rack, from 1.000 on; its timer for a
    # n1  BB.   node passes at 5.321. In the rack it runs at half speed.
    schedule = run(ONE_RACK, (*HOGS, Job(1000, 2, 1000)), "dally-manual", FIXED)
    assert schedule.log[2] == (5321, "START", 2, ((0, 4), (1, 4)))
    assert schedule.end_ms[2] == 7321


@pytest.mark.parametrize(
    ("policy", "start_ms"),
    [("dally-manual", 10_000), ("dally", 10_000), ("dally-nopreempt", 10_000), ("dally-nowait", 1000),
     ("dally-consolidated", 20_000)],
)  # fmt: skip
def test_of_two_racks_a_job_holds_out_for_both_levels(policy: str, start_ms: int) -> None:
    # n0  AA.  rack 0    C accepts a rack from 5.321 on, but none has 2 free GPUs; anything from 1 + 9 on.
    # n1  BB.  rack 1    A ends at 20, then a node has room.
    params = FIXED if policy != "dally-nowait" else {"levels": 0, "quantum_s": 1000}
    assert run(TWO_RACKS, (*HOGS, Job(1000, 2, 1000)), policy, params).first_start_ms[2] == start_ms


def test_each_timer_fires_once() -> None:
    # As above: three submits, two timers of C, three ends.
    simulation = simulation_of(instance_of(TWO_RACKS, (*HOGS, Job(1000, 2, 1000)), "dally-manual", FIXED))
    simulation.run()
    assert int(simulation.handle.world.clock["events"][0]) == 3 + 2 + 3


def test_every_timer_fires_when_it_is_due_and_never_twice() -> None:
    """Timers that are due by the start of a job have fired once each, and none besides: events are counted."""
    params = {"node_timer_s": 0.003, "rack_timer_s": 0.007, "least_entries": 10**9, "levels": 0, "quantum_s": 0}
    fired = 0
    for seed in range(100):
        plain = random_instance(seed, replace(PLAIN, policies=("dally-nopreempt",), mixed_sizes=True))
        instance = replace(plain, params=params, rate_by_locality=FALLING)
        simulation = simulation_of(instance)
        simulation.run()
        starts = instance.run_oracle().first_start_ms
        waits = [at - job.submit_ms for at, job in zip(starts, instance.jobs, strict=True) if at is not None]
        node, rack = most_on_a_node_and_in_a_rack(instance.nodes)
        due = [
            (wait >= 3 and job.gpus <= node) + (wait >= 7 and job.gpus <= rack)
            for wait, job in zip(waits, instance.jobs, strict=True)
        ]
        assert int(simulation.handle.world.clock["events"][0]) == 2 * len(instance.jobs) + sum(due)
        fired += sum(due)
    assert fired > 200


def most_on_a_node_and_in_a_rack(nodes: tuple[Node, ...]) -> tuple[int, int]:
    racks = {(node.pod, node.rack) for node in nodes}
    in_rack = [sum(node.gpus for node in nodes if (node.pod, node.rack) == rack) for rack in racks]
    return max(node.gpus for node in nodes), max(in_rack)


def test_on_a_flat_network_without_preemption_jobs_go_by_submission_whatever_happens() -> None:
    """With levels too, unless nodes fail: nobody who waits has had any service."""
    base = Kind(policies=("fifo-backfill",), placements=("tightest",), rates=False, models=False)
    for seed in range(100):
        plain = replace(random_instance(seed, replace(base, failures=seed % 2 == 0)), params={})
        params = {"node_timer_s": 3, "rack_timer_s": 7, "levels": 0 if seed % 2 == 0 else 12, "first_level_gpu_s": 0.01}
        dally = replace(plain, policy="dally-nopreempt", params=params)
        assert asdict(run_engine(dally)) == asdict(run_engine(plain))


@pytest.mark.parametrize("policy", list(VARIANTS))
def test_on_a_flat_network_nobody_holds_out(policy: str) -> None:
    """Without service levels the order is that of submission, nobody is worse than another, and no place is better."""
    timers = {} if policy in ("dally-nowait", "dally-whole-nodes") else {"node_timer_s": 3, "rack_timer_s": 7}
    params, kind = {"levels": 0, **timers}, Kind(**vars(PLAIN) | {"policies": ("fifo-backfill",)})
    for seed in range(40):
        plain = replace(random_instance(seed, replace(kind, placements=(OWN_PLACEMENT[policy],))), params={})
        assert plain.rate_by_locality == FLAT
        dally = replace(plain, policy=policy, params=params)
        assert asdict(run_engine(dally)) == asdict(run_engine(plain))


def test_timers_stay_where_they_are_if_no_node_ever_has_room() -> None:
    """Waits that ended in a rack are cut off at the timer: they neither shorten nor lengthen it."""
    # n0  AAA.   Every 100 s a job comes that takes the two free GPUs, 10 s later, for 2 s.
    # n1  BBB.
    hogs = (Job(0, 3, 5_000_000), Job(0, 3, 5_000_000))
    jobs = tuple(Job(100_000 * k, 2, 1000) for k in range(1, 30))
    params = {"node_timer_s": 10, "levels": 0, "quantum_s": 10_000, "least_entries": 3, "history_s": 2400}
    schedule = run((Node(4), Node(4)), (*hogs, *jobs), "dally", params)
    assert schedule.first_start_ms[2:] == [job.submit_ms + 10_000 for job in jobs]


@pytest.mark.parametrize("policy", ["dally", "dally-nowait", "gandiva", "tiresias-skew"])
def test_work_is_conserved_through_moves_to_the_millisecond(policy: str) -> None:
    """What each stretch of running did at the rate of its place adds up to the work of the job."""
    changes = 0
    for seed in range(150):
        kind = Kind(policies=(policy,), overheads=False, failures=False, cancels=False)
        instance = random_instance(seed, kind)
        if policy == "tiresias-skew":
            instance = replace(instance, rates_of_other=instance.rate_by_locality)
        schedule = run_engine(instance)
        done = dict.fromkeys(range(len(instance.jobs)), 0.0)
        last: dict[int, tuple[int, float]] = {}
        for time_ms, verb, row, masks in schedule.log:
            if verb == "START":
                place = frozenset((node, gpu) for node, mask in masks for gpu in range(64) if mask >> gpu & 1)
                rate = instance.rate(instance.jobs[row], locality(instance.nodes, place))
                changes += row in last and last[row][1] != rate
                last[row] = (time_ms, rate)
            else:
                began_ms, rate = last[row]
                done[row] += floor(1024 * rate * (time_ms - began_ms)) / 1024
        for row, (began_ms, rate) in last.items():
            assert schedule.end_ms[row] == began_ms + ceil((instance.jobs[row].work_ms - done[row]) / rate)
    assert changes > 30


def test_a_tuned_timer_is_mean_and_deviation_of_the_waits() -> None:
    # Four jobs of 2 GPUs wait 0 s, E waits 1 s: mean 0.2, deviation 0.4, so F holds out for 600 ms and no more.
    #     1  2  3  4  5 s
    # n0  AAAAAAEEEEEEEF   (A: 3 GPUs, which is another kind of demand; E: 2)
    # n1  BBBBBBBBB....F   (three of 1 GPU, one of which ends at 4)
    #     BBBBBBBBBBBBBB
    #     BBBBBBBBBBBBBB
    quick = tuple(Job(10 * k, 2, 5) for k in range(4))
    fillers = (Job(1000, 3, 2000), Job(1000, 1, 90_000), Job(1000, 1, 90_000), Job(1000, 1, 3000))
    params = {"node_timer_s": 4, "rack_timer_s": 9, "levels": 0, "quantum_s": 1000, "least_entries": 5}
    jobs = (*quick, *fillers, Job(2000, 2, 90_000), Job(5000, 2, 1000))
    schedule = run(ONE_RACK, jobs, "dally", params)
    assert schedule.first_start_ms[8:] == [3000, 5600]


@pytest.mark.parametrize(
    ("restore_s", "knows_work", "end_ms"),
    [(0, True, 13_500), (7, True, 20_500), (7.5, True, 21_000), (2, False, 15_500), (2.5, False, 21_000)],
)
def test_a_move_to_a_better_place_only_when_it_pays(restore_s: float, knows_work: bool, end_ms: int) -> None:
    # n0  AAC   C runs on one GPU of each node from 1 on, at half speed. A ends at 5; the next round is at 6, when C
    # n1  BBC   has done 2.5 s of its 10: it would win 7.5 s. Without an estimate it expects 2.5 s more, and wins 2.5.
    params = {"levels": 0, "quantum_s": 1, "round_s": 2}
    jobs = (Job(0, 2, 5000), Job(0, 2, 90_000), Job(1000, 2, 10_000))
    overheads = {"restore_s": restore_s}
    schedule = run(ONE_RACK, jobs, "dally-nowait", params, overheads=overheads, knows_work=knows_work)
    assert schedule.end_ms[2] == end_ms
    moves = [(6000, "PREEMPT", 2, ((0, 4), (1, 4))), (6000, "START", 2, ((0, 3),))]
    assert schedule.log[3:] == (moves if end_ms < 21_000 else [])


def test_a_move_makes_room_for_a_move_in_the_next_round() -> None:
    # From 3 on:  n0 2111   n1 1h   n2 h2. At 6 the h of n2 ends: 1 is looked at first and needs all of n0; 2 moves to
    # n2. Nothing else happens, and at the next round 1 moves to n0.
    hogs = tuple(Job(0, 1, work_ms) for work_ms in (1000, 100_000, 6000, 3000, 3000))
    params = {"levels": 0, "quantum_s": 0, "round_s": 2}
    jobs = (*hogs, Job(1000, 4, 40_000), Job(3000, 2, 40_000))
    schedule = run((Node(4), Node(2), Node(2)), jobs, "dally-nowait", params)
    assert schedule.log[7:] == [
        (6000, "PREEMPT", 6, ((0, 1), (2, 2))),
        (6000, "START", 6, ((2, 3),)),
        (8000, "PREEMPT", 5, ((0, 14), (1, 1))),
        (8000, "START", 5, ((0, 15),)),
    ]


def test_a_job_that_holds_out_closes_no_queue() -> None:
    # n0  AAADE   Queue y may hold 3 GPUs; D holds one. C would need 3, for which there is room on no node; E needs one.
    # n1  BBB..
    jobs = (
        Job(0, 3, 20_000),
        Job(0, 3, 30_000),
        *(Job(t, g, 9000, queue="y") for t, g in ((0, 1), (1000, 3), (2000, 1))),
    )
    schedule = run((Node(5), Node(5)), jobs, "dally-manual", FIXED | {"node_timer_s": 100}, queue_limits={"y": 3})
    assert schedule.first_start_ms[4] == 2000


def test_a_job_is_evicted_by_a_poorer_one_after_its_quantum() -> None:
    # n0  AAAAABA...   A sinks at 2 (2 GPU-seconds), but its quantum is 5 s.
    params = {"first_level_gpu_s": 2, "quantum_s": 5}
    schedule = run((Node(1),), (Job(0, 1, 10_000), Job(1000, 1, 1000)), "dally", params)
    assert schedule.first_start_ms == [0, 5000]
    assert schedule.end_ms == [11_000, 6000]


FOUR_NODES = (Node(2), Node(2), Node(2, rack=1), Node(2, rack=1))
WHOLE = {"levels": 0, "quantum_s": 1, "round_s": 2}


def test_gangs_get_one_node_or_whole_ones_and_wait_for_these() -> None:
    # n0  AA  B needs 2 GPUs, of which there is one on each of two nodes until C ends; D needs a whole node and half of
    # n1  C.  another. Under dally-nowait both would start at once.
    # n2  E.
    jobs = (Job(0, 2, 90_000), Job(0, 1, 5000), Job(0, 1, 8000), Job(1000, 2, 1000), Job(1000, 3, 1000))
    nodes = (Node(2), Node(2), Node(2))
    scattered = run(nodes, jobs, "dally-nowait", WHOLE)
    assert scattered.first_start_ms[3] == 1000
    schedule = run(nodes, (jobs[0], Job(0, 2, 5000), Job(0, 2, 8000), *jobs[3:]), "dally-whole-nodes", WHOLE, **PACKED)
    assert schedule.first_start_ms[3:] == [5000, 8000]


def test_whole_nodes_in_two_racks_are_left_for_those_of_one_and_for_no_others() -> None:
    # n0  AA  C runs on n1 and n2. If A ends first, the whole nodes of lowest index are those of a rack: C moves there.
    # n1  CC  If B does, they are C's own: it stays where it is, and is not preempted to be started there again.
    # n2  CC
    # n3  BB
    for a_ms, b_ms, places in ((5000, 90_000, [{1, 2}, {1, 2}, {0, 1}]), (90_000, 5000, [{1, 2}])):
        jobs = (Job(0, 2, a_ms), Job(0, 4, 500), Job(0, 2, b_ms), Job(600, 4, 10_000))
        schedule = run(FOUR_NODES, jobs, "dally-whole-nodes", WHOLE, **PACKED)
        assert [{node for node, _ in masks} for _, _, row, masks in schedule.log if row == 3] == places
