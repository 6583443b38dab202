"""A gang across racks of a topology: how long it communicates, worked by hand."""

import polars as pl
import pytest

import pointsman
from pointsman.errors import UsageError
from tests.free import simulate

from .test_rates import CATALOGUE, Scattered

CARD = 10e9 / 8
"""Bytes/s of the one card of each node, of which there are two in a rack."""
RACKS = {"fat-tree:4": 8, "vl2:4x4/rack=2": 4, "leaf-spine:4x2/rack=2": 4}
HOP_S = 10e-6
"""Between racks."""


def spread_over(places: list[tuple[int, int]], cluster: str, contention: str) -> tuple[float, float]:
    """Run time, and how much of it the job waits for communication."""
    gpus = sum(many for _, many in places)
    jobs = pl.DataFrame({"submit_s": [0.0], "gpus": [gpus], "duration_s": [100_000.0], "model": ["vgg16"]})
    result = simulate(pointsman.Workload.of(jobs), cluster, Scattered([places]), contention=contention, audit=True)
    return result.jobs["run_s"][0], result.jobs["comm_s"][0]


def with_options(topology: str, over: int) -> str:
    return f"{topology}{',' if '/' in topology else '/'}gpus=4,nic=10Gbps,oversubscription={over}"


@pytest.mark.parametrize("topology", RACKS)
@pytest.mark.parametrize("over", [1, 16])
@pytest.mark.parametrize("contention", ["level", "max-min", "duty-cycle"])
def test_two_workers_in_two_racks(topology: str, over: int, contention: str) -> None:
    """Nodes 0 and 2, one GPU each, in racks 0 and 1::

              (network)
          wide /     \\ wide         wide = 2 cards / oversubscription
          rack 0     rack 1
         n0   n1    n2   n3
        GPU         GPU

    Alone the ring of two sends the gradient once each way, at a card's bandwidth, and wants almost all of the card.
    Oversubscribed 16 times, the uplinks of a rack carry an eighth of it; under `level`, those of all racks count
    together, of which the ring needs two.
    """
    profile = CATALOGUE.model("vgg16")
    compute, _ = CATALOGUE.compute("vgg16", "v100")
    busy_s, delta = compute.time_s(profile.batch.per_gpu), compute.delta or profile.overlap.delta

    def overlapped_s(between_s: float) -> float:
        return (busy_s**delta + between_s**delta) ** (1 / delta)

    wide = 2 * CARD / over
    alone_s = profile.gradient.bytes / CARD + 2 * HOP_S
    wants = profile.gradient.bytes / alone_s
    if contention == "duty-cycle":
        average = profile.gradient.bytes / overlapped_s(alone_s)
        step_s = overlapped_s(alone_s) * max(1.0, average / wide)
    elif contention == "max-min":
        step_s = overlapped_s(alone_s * max(1.0, wants / wide))
    else:
        step_s = overlapped_s(alone_s * max(1.0, 2 * wants / (RACKS[topology] * wide)))
    assert (step_s > 1.5 * overlapped_s(alone_s)) == (over == 16)  # the case is no idle one

    run_s, comm_s = spread_over([(0, 1), (2, 1)], with_options(topology, over), contention)
    unshared_s, _ = spread_over([(0, 1), (2, 1)], with_options(topology, 1), "none")
    assert run_s == pytest.approx(unshared_s * step_s / overlapped_s(alone_s), rel=1e-6)
    assert comm_s == pytest.approx(run_s * (1 - busy_s / step_s), rel=1e-6)


@pytest.mark.parametrize("contention", ["level", "max-min", "duty-cycle"])
def test_the_uplinks_of_a_pod_are_as_wide_as_those_of_its_racks(contention: str) -> None:
    """So nodes 0 and 4, in two pods of a fat-tree, are as far apart as nodes 0 and 2, in two racks of one pod."""
    cluster = with_options("fat-tree:4", 16)
    assert spread_over([(0, 1), (4, 1)], cluster, contention) == spread_over([(0, 1), (2, 1)], cluster, contention)
    assert spread_over([(0, 1), (1, 1)], cluster, contention)[0] < spread_over([(0, 1), (2, 1)], cluster, contention)[0]


def test_alone_on_bcube_a_gang_is_as_fast_on_either_card_as_on_both() -> None:
    """Nodes 0 and 3 in one group, 0 and 4 of one number, 0 and 5 neither: each ring has the bandwidth of a card."""
    near, same_number, neither = (
        spread_over([(0, 1), (other, 1)], "bcube:4x1/gpus=4,nic=10Gbps", "none") for other in (3, 4, 5)
    )
    in_rack = spread_over([(0, 1), (1, 1)], with_options("fat-tree:4", 1), "none")
    across = spread_over([(0, 1), (2, 1)], with_options("fat-tree:4", 1), "none")
    assert near == in_rack
    assert same_number == neither == across


def test_iterations_on_bcube_are_refused() -> None:
    jobs = pl.DataFrame({"submit_s": [0.0], "gpus": [2], "duration_s": [100.0], "model": ["vgg16"]})
    with pytest.raises(UsageError, match=r"rate model iterations does not support .*bcube"):
        simulate(pointsman.Workload.of(jobs), "bcube:4x1", "srsf")
