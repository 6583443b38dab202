"""What a preemption costs, and bounded waits, under `srtf`, `las`, `tiresias` and `dally`: small enough to draw."""

from typing import Any

import pytest

from tests.oracle.model import Job, Node, Schedule
from tests.policies.test_dally import FLAT, run

COSTS: dict[str, Any] = {"start_s": 1, "lost_s": 2}
"""A preemption costs 3 s for each GPU."""
WAITS = {"patience_s": 20, "patience_growth": 3, "grant_s": 10, "grant_share": 1}


def one_node(policy: str, jobs: tuple[Job, ...], params: dict[str, Any], gpus: int = 1, **others: Any) -> Schedule:
    placement = "tightest" if policy in ("dally", "tiresias-skew") else "consolidated"
    costs = {"overheads": COSTS, "placement": placement, "rate_by_locality": FLAT}
    return run((Node(gpus),), jobs, policy, params, **(costs | others))


@pytest.mark.parametrize(("cost_weight", "start_ms"), [(0, 10_000), (10, 10_000), (10.16, 10_000), (10.17, 101_000)])
def test_srtf_gains_more_than_what_both_cost(cost_weight: float, start_ms: int) -> None:
    # A  |start|1 ........ 10| 91 s are left       B has 30 s to do. It gains 61 s; each of the two costs 3 s.
    jobs = (Job(0, 1, 100_000), Job(10_000, 1, 30_000))
    assert one_node("srtf", jobs, {"cost_weight": cost_weight}).first_start_ms[1] == start_ms


@pytest.mark.parametrize("policy", ["tiresias", "tiresias-skew", "las", "dally"])
@pytest.mark.parametrize(("cost_weight", "start_ms"), [(0, 11_000), (2, 17_000), (3.5, 31_500), (7, 101_000)])
def test_a_level_of_service_counts_after_what_preemptions_cost(policy: str, cost_weight: float, start_ms: int) -> None:
    # A  |start|1 ........ 11| level 1 ........ 21| level 2        B comes at 5 s. A and B cost 3 s each.
    # Weighed twice: A is at level 1 as a victim when it has had 10 + 6 s, and B is still at level 0 with 6 s more.
    # 3.5 times: B is at level 1 with 10.5 s more, and A at level 2 when it has had 20 + 10.5 s.
    # 7 times: B is at level 2 with 21 s more, and there is no lower level.
    jobs = (Job(0, 1, 100_000), Job(5000, 1, 30_000))
    levels = {"first_level_gpu_s": 10, "levels": 2, "quantum_s": 0} if policy == "dally" else {}
    params = (levels or {"thresholds_gpu_s": [10, 20]}) | {"cost_weight": cost_weight}
    assert one_node(policy, jobs, params).first_start_ms[1] == start_ms


@pytest.mark.parametrize("policy", ["tiresias", "dally"])
def test_what_a_gang_costs_is_that_of_its_gpus(policy: str) -> None:
    # A has 2 GPUs: 40 GPU s in the 20 s from 1 s on. Its preemption costs 6 GPU s, weighed twice 12: 52 after 26 s.
    jobs = (Job(0, 2, 100_000), Job(5000, 1, 10_000))
    levels = {"first_level_gpu_s": 40, "levels": 1, "quantum_s": 0} if policy == "dally" else {}
    params = (levels or {"thresholds_gpu_s": [40]}) | {"cost_weight": 2}
    assert one_node(policy, jobs, params, gpus=2).first_start_ms[1] == 27_000


@pytest.mark.parametrize("policy", ["srtf", "tiresias", "tiresias-skew", "las"])
def test_a_job_that_has_waited_for_its_limit_goes_first_for_a_grant(policy: str) -> None:
    # GPU 0  |A ......... 25|C ..... 35|   C asks for both GPUs and has most to do. It has waited for 20 s at 25 s.
    # GPU 1  |B ......... 25|C ..... 35|   D comes at 26 s. By remaining time it starts when the grant of C ends. At an
    # equal level of service it waits for its own limit, which is twice as long: A and B wait when it comes.
    thresholds = {} if policy == "srtf" else {"thresholds_gpu_s": [1000]}
    jobs = (Job(0, 1, 40_000), Job(0, 1, 40_000), Job(5000, 2, 60_000), Job(26_000, 1, 1000))
    schedule = one_node(policy, jobs, thresholds | WAITS, gpus=2, overheads={})
    assert schedule.first_start_ms[2] == 25_000
    assert [entry[1:3] for entry in schedule.log[2:5]] == [("PREEMPT", 1), ("PREEMPT", 0), ("START", 2)]
    assert schedule.first_start_ms[3] == (35_000 if policy == "srtf" else 66_000)


@pytest.mark.parametrize(("promote_knob", "again_ms"), [(0, 45_000), (2, 30_000), (4, 45_000)])
def test_the_earlier_of_promotion_and_limit_counts(promote_knob: float, again_ms: int) -> None:
    # |A ... 10|B ... 20|C ...     each sinks after 10 s. A is promoted when it has waited for 10 s times the knob,
    # and goes first when it has waited for 20 + 1.5 * 10 s.
    jobs = (Job(0, 1, 50_000), Job(10_000, 1, 25_000), Job(11_000, 1, 90_000))
    params = {"thresholds_gpu_s": [10], "promote_knob": promote_knob, **WAITS, "patience_growth": 1.5}
    log = one_node("tiresias", jobs, params, overheads={}).log
    assert [time_ms for time_ms, verb, row, _ in log if (verb, row) == ("START", 0)][:2] == [0, again_ms]
