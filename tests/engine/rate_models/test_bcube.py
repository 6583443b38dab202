"""Rings on the two cards of the nodes of a BCube, worked by hand (semantics.md §8).

A line is a rack, whose nodes a switch of level 0 joins by their first cards; a column is the nodes of one number, which
a switch of level 1 joins by their second cards::

    n0  n1  n2
    n3  n4  n5
    n6  n7  n8
"""

from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.cluster import load_cluster
from pointsman.engine.run.simulation import Simulation
from pointsman.types import JobState
from tests.free import simulate

from .test_contention import jobs_of, opened
from .test_rates import CATALOGUE, Scattered

CLUSTER = "bcube:3x1/gpus=4,nic=10Gbps"
CARD = 10e9 / 8
SHARED = ("level", "max-min", "duty-cycle", "node-link")
ROW, COLUMN, CORNER, DIAGONAL = (0, 1), (0, 3), (0, 1, 3), (0, 4)
Nodes = tuple[int, ...]


def running(gangs: list[Nodes], contention: str, cluster: str = CLUSTER) -> Simulation:
    """Gangs with one GPU on each of these nodes, from the first instant on."""
    places = [[(node, 1) for node in gang] for gang in gangs]
    simulation = opened(
        jobs_of("vgg16", [len(gang) for gang in gangs]), load_cluster(cluster), Scattered(places), contention
    )
    simulation.run(1000)
    return simulation


def run_s(gangs: list[Nodes], contention: str, **options: Any) -> list[float]:
    places = [[(node, 1) for node in gang] for gang in gangs]
    jobs = jobs_of("vgg16", [len(gang) for gang in gangs])
    result = simulate(jobs, CLUSTER, Scattered(places), contention=contention, audit=True, **options)
    return result.jobs["run_s"].to_list()


def picture(rings: np.ndarray) -> list[str]:
    return ["".join(str(many) for many in row) for row in rings.reshape(3, 3).tolist()]


@pytest.mark.parametrize(
    ("gang", "first", "second"),
    [
        (ROW, ["110", "000", "000"], ["000", "000", "000"]),
        ((3, 4, 5), ["000", "111", "000"], ["000", "000", "000"]),
        (COLUMN, ["000", "000", "000"], ["100", "100", "000"]),
        ((2, 5, 8), ["000", "000", "000"], ["001", "001", "001"]),
        (CORNER, ["110", "100", "000"], ["110", "100", "000"]),
        (DIAGONAL, ["100", "010", "000"], ["100", "010", "000"]),
        ((4, 0), ["100", "010", "000"], ["100", "010", "000"]),
        ((0, 1, 3, 4), ["110", "110", "000"], ["110", "110", "000"]),
    ],
)
@pytest.mark.parametrize("contention", ["max-min", "duty-cycle", "node-link"])
def test_which_cards_a_ring_uses(gang: Nodes, first: list[str], second: list[str], contention: str) -> None:
    """All in one line: first cards. All in one column: second cards. Else both of all its nodes, whatever its order."""
    cards = running([gang], contention).handle.state.uplinks
    assert [picture(cards["rings"][:9]), picture(cards["rings"][9:])] == [first, second]
    assert cards["capacity"].tolist() == [CARD] * 18
    assert set(cards["load"][cards["rings"] > 0].tolist()) == {cards["load"].max()}


@pytest.mark.parametrize(("gang", "pools"), [(ROW, [2, 0]), (COLUMN, [0, 2]), (CORNER, [3, 3])])
def test_by_level_there_is_a_pool_of_first_cards_and_one_of_second_cards(gang: Nodes, pools: list[int]) -> None:
    simulation = running([gang], "level")
    cards, wants = simulation.handle.state.uplinks, simulation.handle.state.flows["demand"][0]
    assert cards["capacity"].tolist() == [9 * CARD] * 2
    assert cards["load"].tolist() == [many * wants for many in pools]


@pytest.mark.parametrize("contention", SHARED)
def test_alone_a_ring_is_as_fast_as_without_contention(contention: str) -> None:
    for gang in (ROW, COLUMN, CORNER, DIAGONAL):
        assert run_s([gang], contention) == run_s([gang], "none")


@pytest.mark.parametrize("contention", SHARED)
def test_rings_of_one_node_do_not_meet_on_different_cards(contention: str) -> None:
    """n0 and n1 in a line, n0 and n3 in a column; each fills a card of n0, and none waits for the other."""
    assert run_s([ROW, COLUMN], contention) == run_s([ROW], "none") + run_s([COLUMN], "none")


def wire_s(hop_s: float = 5e-6) -> float:
    """Of the all-reduce of two nodes alone, in a rack; in a column hops are longer."""
    return CATALOGUE.model("vgg16").gradient.bytes / CARD + 2 * hop_s


def step_s(stretch: float, hop_s: float = 5e-6) -> float:
    profile = CATALOGUE.model("vgg16")
    compute, _ = CATALOGUE.compute("vgg16", "v100")
    busy_s, delta = compute.time_s(profile.batch.per_gpu), compute.delta or profile.overlap.delta
    return (busy_s**delta + (stretch * wire_s(hop_s)) ** delta) ** (1 / delta)


def test_a_ring_on_both_cards_meets_each_of_them() -> None:
    """A in a line, C on the diagonal: they halve the first card of n0. C's second cards are half idle."""
    simulation = running([ROW, DIAGONAL], "max-min")
    assert simulation.handle.state.flows["share"][:2].tolist() == [CARD / 2] * 2
    stretch = CATALOGUE.model("vgg16").gradient.bytes / wire_s() / (CARD / 2)
    slowed, _ = run_s([ROW, DIAGONAL], "max-min")
    assert slowed == pytest.approx(run_s([ROW], "none")[0] * step_s(stretch) / step_s(1.0), rel=1e-6)


def test_cards_are_not_pooled() -> None:
    """Two rings in a line and one on both cards: a third of the first card each. A ring in the column may have the
    other two thirds of the second card of n0; pooled, each would have half a card.
    """
    simulation = running([ROW, ROW, DIAGONAL, COLUMN], "max-min")
    third = np.floor(CARD / 3 * 1024) / 1024
    assert simulation.handle.state.flows["share"][:4].tolist() == [third, third, third, CARD - third]


def test_the_measured_law_counts_the_rings_of_a_card() -> None:
    """On n0 two rings in a line, one in the column, one on both cards: three on the first card, two on the second."""
    simulation = running([ROW, ROW, COLUMN, DIAGONAL], "node-link:0.25")
    assert simulation.handle.state.flows["stretch"][:4].tolist() == [3.5, 3.5, 2.25, 3.5]


def test_levels_are_crowded_each_for_itself() -> None:
    """Two rings on all nodes of each line want twice all first cards; one in a column has its second cards alone."""
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
    simulation = running([*lines, *lines, (0, 3, 6)], "level")
    stretch = simulation.handle.state.flows["stretch"][:7].tolist()
    assert stretch[:6] == pytest.approx([2.0] * 6, rel=1e-3)
    assert stretch[6] == 1.0


@pytest.mark.parametrize("contention", ["level", "max-min", "duty-cycle"])
def test_congestion_between_racks_narrows_second_cards(contention: str) -> None:
    """A lone ring in a column feels it as without contention; one in a line does not. Under `level` it has the others'
    cards to itself.
    """
    options = {"congestion": {"pod": 4.0}}
    assert run_s([ROW], contention, **options) == run_s([ROW], contention)
    [narrow], [wide] = run_s([COLUMN], contention, **options), run_s([COLUMN], contention)
    if contention == "max-min":
        assert narrow == pytest.approx(run_s([COLUMN], "none", **options)[0], rel=1e-3)
    assert (narrow > 1.2 * wide) == (contention != "level")


@pytest.mark.parametrize("contention", SHARED)
@pytest.mark.parametrize("gpus", [12, 14, 36])
def test_alone_at_its_best_place_a_job_takes_what_was_recorded(contention: str, gpus: int) -> None:
    """A rack, a little more, the whole cluster."""
    assert simulate(jobs_of("vgg16", [gpus]), CLUSTER, "fifo", contention=contention).jobs["jct_s"][0] == 1000


def crowd(seed: int, n: int, gpus: list[int], span_s: float) -> pointsman.Workload:
    draw = np.random.default_rng(seed)
    return pointsman.Workload.of(
        pl.DataFrame(
            {
                "submit_s": np.sort(draw.uniform(0, span_s, n)).round(3),
                "gpus": draw.choice(gpus, n),
                "duration_s": draw.uniform(10, 3000, n).round(3),
                "model": draw.choice(["vgg16", "resnet50", "bert_base", "lstm"], n),
            }
        )
    )


@pytest.mark.parametrize("contention", SHARED)
def test_a_copy_goes_the_same_way(contention: str) -> None:
    simulation = opened(crowd(2, 100, [1, 2, 3, 6, 9], 8000.0), load_cluster(CLUSTER), "dally", contention)
    simulation.run(2_000_000)
    copy = simulation.copy()
    simulation.run()
    copy.run()
    assert simulation.handle.world.outcomes.tobytes() == copy.handle.world.outcomes.tobytes()


@pytest.mark.parametrize("contention", SHARED)
def test_a_future_is_as_slow_as_what_comes(contention: str) -> None:
    """No job is to come, and estimates are the truth: jobs end when the what-if says."""
    jobs = crowd(3, 30, [2, 3, 6, 9], 0.0)
    simulation = opened(jobs, load_cluster(CLUSTER), "sjf", contention)
    simulation.run(1_000_000)
    assert (simulation.handle.state.uplinks["rings"] > 0).sum() > (1 if contention == "level" else 9)
    ahead = simulation.what_if("sjf")
    simulation.run()
    ahead.run()
    ends, foreseen = (each.handle.world.outcomes["end"] for each in (simulation, ahead))
    still_there = ends > 1_000_000
    assert foreseen[still_there].tolist() == ends[still_there].tolist()
    assert still_there.sum() > 10
    free = simulate(jobs, CLUSTER, "sjf").jobs["end_s"]
    assert contention == "level" or (ends / 1000).sum() > free.sum()


@pytest.mark.parametrize("policy", ["lif", "packed-patience", "scorer"])
def test_placers_on_121_servers(policy: str) -> None:
    """All end, audited at every instant; some gangs are wider than a rack."""
    simulation = opened(
        crowd(4, 200, [1, 4, 8, 16, 60], 3000.0), load_cluster("bcube:11x1/gpus=4,nic=10Gbps"), policy, "duty-cycle"
    )
    simulation.run(2_000_000)
    cards = simulation.handle.state.uplinks
    assert (cards["rings"][:121] > 0).any()
    assert (cards["rings"][121:] > 0).any()
    simulation.run()
    assert (simulation.handle.world.outcomes["state"] == JobState.COMPLETED).all()
    assert not cards["rings"].any() and not cards["load"].any()
