"""Jobs that share uplinks: worked by hand, and against an independent water-filling at every instant."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.engine.run.simulation import Simulation
from pointsman.errors import UsageError
from pointsman.experiment import RunOptions
from pointsman.policies.registry import get_policy
from pointsman.speed.laws.fair_share import max_min_rates
from pointsman.types import JobState
from tests.free import simulate

from .test_rates import CATALOGUE, Scattered

CLUSTER = "8x4/rack=2,gpu=v100,nic=10Gbps"
"""Racks of two nodes::

      ┌────────── spine ──────────┐
    rack 0   rack 1   rack 2   rack 3
    n0 n1    n2 n3    n4 n5    n6 n7
"""
JOBS = 200
SHARED = ("level", "max-min", "duty-cycle", "node-link")


def oversubscribed(by: float) -> pointsman.Cluster:
    """The same with so much less bandwidth between racks than within."""
    cluster = load_cluster(CLUSTER)
    network = cluster.spec.network.model_copy(
        update={"pod": cluster.spec.network.pod.model_copy(update={"oversubscription": by})}
    )
    return cluster.model_copy(update={"spec": cluster.spec.model_copy(update={"network": network})})


def jobs_of(model: str, gpus: list[int], duration_s: float = 1000.0) -> pointsman.Workload:
    n = len(gpus)
    return pointsman.Workload.of(
        pl.DataFrame({"submit_s": [0.0] * n, "gpus": gpus, "duration_s": [duration_s] * n, "model": [model] * n})
    )


def opened(workload: Any, cluster: Any, policy: Any, contention: str) -> Simulation:
    spec = get_policy(policy) if isinstance(policy, str) else get_policy("fifo")
    made = spec.make() if isinstance(policy, str) else policy
    options = RunOptions(overheads="none", log=False, audit=True, contention=contention)
    simulation, _ = open_simulation(workload, cluster, spec, made, options)
    return simulation


def run_s(places: list[list[tuple[int, int]]], contention: str, model: str = "vgg16", by: float = 1.0) -> list[float]:
    gpus = [sum(many for _, many in place) for place in places]
    result = simulate(jobs_of(model, gpus), oversubscribed(by), Scattered(places), contention=contention, audit=True)
    return result.jobs["run_s"].to_list()


@pytest.mark.parametrize("contention", SHARED)
def test_a_lone_ring_is_as_fast_as_without_contention(contention: str) -> None:
    place = [(0, 2), (1, 2)]
    assert run_s([place], contention) == run_s([place], "none")
    apart = [[(0, 2), (1, 2)], [(4, 2), (5, 2)]]
    if contention != "level":  # which puts all racks together
        assert run_s(apart, contention) == run_s(apart, "none")


def test_two_rings_on_a_node_halve_their_bandwidth() -> None:
    """n0: A B, n1: A B. Alone each would fill the network cards; together each gets half, for as long as both run."""
    profile = CATALOGUE.model("vgg16")
    compute, _ = CATALOGUE.compute("vgg16", "v100")
    busy_s, delta = compute.time_s(profile.batch.per_gpu), compute.delta or profile.overlap.delta
    wire_s = 2 * (2 - 1) / 2 * profile.gradient.bytes / (10e9 / 8) + 2 * (2 - 1) * 5e-6

    def step_s(stretch: float) -> float:
        return (busy_s**delta + (stretch * wire_s) ** delta) ** (1 / delta)

    place = [(0, 1), (1, 1)]
    alone, both = run_s([place], "max-min"), run_s([place, place], "max-min")
    stretch = profile.gradient.bytes / wire_s / (10e9 / 8 / 2)  # a hop's latency makes it a little less than 2
    assert both[0] == both[1] == pytest.approx(alone[0] * step_s(stretch) / step_s(1.0), rel=1e-6)


def test_three_rings_by_hand() -> None:
    """::

        n0 ── A ── n1 ── B ── n2        C: n0, n2 of other racks
        │                      │
        └────────── C ─────────┘

    Every node carries two rings, so each gets half, though no two of the three share both of their nodes.
    """
    places = [[(0, 1), (1, 1)], [(1, 1), (2, 1)], [(0, 1), (2, 1)]]
    simulation = opened(jobs_of("vgg16", [2, 2, 2]), oversubscribed(1.0), Scattered(places), "max-min")
    simulation.run(1000)
    flows = simulation.handle.state.flows[:3]
    assert flows["share"].tolist() == pytest.approx([10e9 / 8 / 2] * 3)
    assert flows["stretch"].tolist() == pytest.approx([2.0] * 3, rel=1e-4)


def test_the_measured_law_charges_a_penalty_for_every_further_ring() -> None:
    """Two rings on one node, k = 2: the network phase takes 2 + 1 x 0.25 times as long."""
    places = [[(0, 1), (1, 1)], [(0, 1), (2, 1)]]
    simulation = opened(jobs_of("vgg16", [2, 2]), load_cluster(CLUSTER), Scattered(places), "node-link:0.25")
    simulation.run(1000)
    assert simulation.handle.state.flows["stretch"][:2].tolist() == [2.25, 2.25]


def test_rings_of_different_racks_share_an_oversubscribed_spine() -> None:
    """Two rings between racks 0 and 1 over different nodes: the spine has half a rack's bandwidth, one node's worth."""
    places = [[(0, 1), (2, 1)], [(1, 1), (3, 1)]]
    simulation = opened(jobs_of("vgg16", [2, 2]), oversubscribed(2.0), Scattered(places), "max-min")
    simulation.run(1000)
    assert simulation.handle.state.flows["share"][:2].tolist() == pytest.approx([10e9 / 8 / 2] * 2)


def random_jobs(seed: int, n: int) -> pointsman.Workload:
    draw = np.random.default_rng(seed)
    return pointsman.Workload.of(
        pl.DataFrame(
            {
                "submit_s": np.sort(draw.uniform(0, 8000, n)).round(3),
                "gpus": draw.choice([1, 2, 3, 5, 6, 8, 12], n),
                "duration_s": draw.uniform(10, 3000, n).round(3),
                "model": draw.choice(["vgg16", "resnet50", "bert_base", "lstm"], n),
            }
        )
    )


def expected_shares(simulation: Simulation, slots: list[int]) -> list[float]:
    """Max-min fair shares of the running rings, worked out from where the jobs are."""
    state = simulation.handle.state
    nodes, racks = len(state.nodes), len(state.racks)
    links = []
    for slot in slots:
        gpus = np.flatnonzero(np.asarray(state.occupants)[:, 0] == slot)
        on = np.unique(np.searchsorted(state.nodes["gpu0"], gpus, side="right") - 1).tolist()
        in_racks = {int(state.nodes["rack"][n]) for n in on}
        assert len(on) > 1
        links.append(on + ([nodes + r for r in in_racks] if len(in_racks) > 1 else []))
    demand = [float(state.flows["demand"][slot]) for slot in slots]
    return max_min_rates(links, demand, state.uplinks["capacity"][: nodes + racks].tolist())


@pytest.mark.parametrize("contention", ["max-min", "duty-cycle"])
@pytest.mark.parametrize("policy", ["dally", "fifo-backfill", "gandiva"])
def test_shares_are_max_min_fair_at_every_instant(policy: str, contention: str) -> None:
    """Against `max_min_rates`, which fills all links anew; the engine only looks at what changed."""
    seen = shared = 0
    for seed in range(3):
        simulation = opened(random_jobs(seed, 120), oversubscribed(4.0), policy, contention)
        for until_ms in range(0, 60_000_000, 157_000):
            simulation.run(until_ms)
            jobs, flows = simulation.handle.jobs, simulation.handle.state.flows
            slots = np.flatnonzero((jobs["state"] == JobState.RUNNING) & (jobs["nodes"] > 1)).tolist()
            assert (flows["first"][: len(jobs)] > 0).sum() == len(slots)
            if slots:
                want = expected_shares(simulation, slots)
                assert flows["share"][slots].tolist() == pytest.approx(want, rel=1e-6)
                seen += 1
                shared += sum(flows["share"][slots] < flows["demand"][slots])
        simulation.run()
        assert simulation.handle.world.clock[0]["ended"] == 120
    assert seen > 100
    assert shared > 50


@pytest.mark.parametrize("contention", SHARED)
def test_work_is_conserved_through_any_number_of_re_ratings(contention: str) -> None:
    """The rates that each job had, instant by instant, times how long it had them, are its work: no less, no more."""
    workload = random_jobs(5, JOBS)
    simulation = opened(workload, oversubscribed(2.0), "dally-nowait", contention)
    work_ms, ratings, done = simulation.handle.world.trace["work"], 0, np.zeros(JOBS)
    rates, since = {}, 0
    while simulation.handle.world.clock[0]["ended"] < JOBS:
        simulation.loop.run(simulation.handle.address, 1 << 60, 1)
        for row, rate in rates.items():
            done[row] += rate * (simulation.now_ms - since)
        jobs = simulation.handle.jobs[simulation.handle.jobs["state"] == JobState.RUNNING]
        now = dict(zip(jobs["row"].tolist(), jobs["rate"].tolist(), strict=True))
        ratings += sum(rates.get(row, rate) != rate for row, rate in now.items())
        rates, since = now, simulation.now_ms
    assert ratings > 20
    assert (done >= work_ms - 1e-3 * ratings).all()
    assert (done <= work_ms + 2.0).all()  # a job ends at the whole millisecond after its work is done


@pytest.mark.parametrize("contention", SHARED)
def test_there_is_room_for_the_rings_of_all_jobs_on_shared_gpus(contention: str) -> None:
    """Two gangs on the same two GPUs, each ring over two nodes, two racks and two pods: twice six crossings."""
    jobs, options = jobs_of("vgg16", [2, 2], 100.0), {"interference": "1", "contention": contention, "audit": True}
    ends = simulate(jobs, "2x1/rack=1,gpu=v100,nic=10Gbps", "sjf-bsbf", **options).jobs["end_s"].to_list()
    assert ends[0] == ends[1] > 150.0


@pytest.mark.parametrize("contention", SHARED)
def test_others_never_speed_a_job_up(contention: str) -> None:
    """The same places at the same times, with and without contention: who shares a link runs at least as long."""
    places = [[(0, 1), (2, 1)], [(0, 1), (1, 1)], [(1, 1), (3, 1)], [(2, 1), (3, 1), (4, 1)]]
    alone, together = run_s(places, "none", "bert_base"), run_s(places, contention, "bert_base")
    assert all(t >= a for t, a in zip(together, alone, strict=True))
    assert sum(together) > sum(alone) or contention in ("duty-cycle", "level")  # there is enough for all


def test_a_copy_goes_the_same_way() -> None:
    simulation = opened(random_jobs(2, 100), oversubscribed(4.0), "dally", "max-min")
    simulation.run(2_000_000)
    copy = simulation.copy()
    simulation.run()
    copy.run()
    assert simulation.handle.world.outcomes.tobytes() == copy.handle.world.outcomes.tobytes()


@pytest.mark.parametrize("contention", SHARED)
@pytest.mark.parametrize(
    ("gpus", "cluster", "congestion"),
    [
        (72, "16x8/rack=8,oversubscription=16,gpu=a100", {}),  # a full rack and one more node
        (128, "16x8/rack=8,oversubscription=16,gpu=a100", {}),  # two full racks
        (64, "16x8/rack=8,oversubscription=64,gpu=a100", {}),  # one rack
        (16, "4x8/rack=1,pod=1,gpu=a100", {"pod": 7}),  # there is no level POD to be congested
    ],
)
def test_alone_at_its_best_place_a_job_takes_what_was_recorded(
    contention: str, gpus: int, cluster: str, congestion: dict[str, float]
) -> None:
    """Oversubscription is in the recorded duration, whether it is paid always or when it is felt."""
    jobs = jobs_of("vgg16", [gpus])
    result = simulate(jobs, cluster, "fifo", contention=contention, congestion=congestion)
    assert result.jobs["jct_s"][0] == 1000.0


@pytest.mark.parametrize("text", ["rings", "max-min:2", "node-link:x", "node-link:-1", "node-link:nan", ""])
def test_an_unknown_contention_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="contention"):
        simulate(random_jobs(0, 3), CLUSTER, "fifo", contention=text)
