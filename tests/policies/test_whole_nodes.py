"""`gittins` places gangs on whole nodes where leaving a node is what slows those that arrive, by hand."""

import pytest

from tests.against_oracle.test_policies import drawn
from tests.oracle.model import Job, Node
from tests.oracle.whole_nodes import ChoosingWorld
from tests.policies.test_dally import FALLING, HOGS, ONE_RACK, TWO_RACKS, run

NODE_COUNTS = (1.0, 1.0, 0.5, 0.5, 0.5)
"""Rates where leaving a node costs half, and leaving the rack nothing."""
WAITS = {"node_timer_s": 4.321, "rack_timer_s": 9, "least_entries": 10**9, "preempt": False, "whole_nodes_gpus": 6}
GANG = Job(1000, 2, 1000)


@pytest.mark.parametrize(
    ("changed", "start_ms"),
    [({}, 20_000), ({"whole_nodes_loss": 0}, 5321), ({"whole_nodes_loss": 1.001}, 5321),
     ({"whole_nodes_loss": 0.999}, 20_000), ({"whole_nodes_gpus": 7}, 5321)],
)  # fmt: skip
def test_gangs_wait_for_a_node_where_leaving_it_costs(changed: dict[str, float], start_ms: int) -> None:
    # n0  AA.  rack 0    C asks for two GPUs from 1 on. They are free, one on each node. By levels it takes any place
    # n1  BB.  rack 1    when its timer passes, at 1 + 4.321; on whole nodes it waits for A, which ends at 20.
    schedule = run(TWO_RACKS, (*HOGS, GANG), "gittins", WAITS | changed, rate_by_locality=NODE_COUNTS)
    assert schedule.first_start_ms[2] == start_ms


@pytest.mark.parametrize(("racks", "start_ms"), [(TWO_RACKS, 10_000), (ONE_RACK, 20_000)])
def test_not_where_leaving_the_rack_costs_as_much(racks: tuple[Node, ...], start_ms: int) -> None:
    assert run(racks, (*HOGS, GANG), "gittins", WAITS, rate_by_locality=FALLING).first_start_ms[2] == start_ms


@pytest.mark.parametrize(("beyond_its_rack", "start_ms"), [(0.25, 5321), (0.3, 20_000)])
def test_the_choice_is_made_anew_only_if_losses_change_enough(beyond_its_rack: float, start_ms: int) -> None:
    # As above. At 3, D asks for five GPUs, and leaving the rack costs it three times its speed, or 2.33 times: 15 / 11
    # or 11.7 / 11 in the mean of all GPUs, against 1 for leaving a node, and 1.25 times that must be exceeded.
    rates = (1.0, 1.0, 1.0, beyond_its_rack, beyond_its_rack)
    schedule = run(TWO_RACKS, (*HOGS, GANG, Job(3000, 5, 1000, model="other")), "gittins", WAITS,
                   rate_by_locality=NODE_COUNTS, rates_of_other=rates)  # fmt: skip
    assert schedule.first_start_ms[2] == start_ms


def test_a_gang_that_could_never_be_placed_so_is_placed_by_levels() -> None:
    # n0  ...    A has n1 until 20. B asks for six GPUs, as two nodes of three have, of which there is one.
    # n1  AA
    # n2  ..
    nodes, jobs = (Node(3), Node(2), Node(2)), (Job(0, 2, 20_000), Job(1000, 6, 1000))
    schedule = run(nodes, jobs, "gittins", WAITS | {"whole_nodes_gpus": 1}, rate_by_locality=NODE_COUNTS)
    assert schedule.log[1] == (20_000, "START", 1, ((0, 7), (1, 3), (2, 1)))


def test_random_instances_change_their_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those by which the engine and the oracle are compared."""
    changed: set[int] = set()
    choose = ChoosingWorld.choose_places

    def watched(world: ChoosingWorld) -> None:
        before = world.whole
        choose(world)
        if world.whole != before:
            changed.add(seed)

    monkeypatch.setattr(ChoosingWorld, "choose_places", watched)
    for seed in range(40):
        drawn(seed, "gittins").run_oracle()
    assert len(changed) > 5
