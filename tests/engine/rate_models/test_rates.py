"""The engine's speeds are those of the speed model, for the very GPUs that each gang is on."""

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.cluster import load_cluster
from pointsman.engine.run.view import View
from pointsman.speed import GangShape
from pointsman.speed.laws.allreduce import shape_of
from pointsman.speed.laws.gangs import topology
from pointsman.speed.laws.iteration import iteration_time_s
from pointsman.speed.profiles.catalogue import load_catalogue
from tests.free import simulate

CLUSTER = "24x8/rack=4,gpu=v100,nic=100Gbps"
CATALOGUE = load_catalogue()


def iteration_s(model: str, shape: GangShape) -> float:
    profile = CATALOGUE.model(model)
    compute, _ = CATALOGUE.compute(model, "v100")
    network = topology(load_cluster(CLUSTER).layout(), 0).network
    return iteration_time_s(profile, compute, shape, network, profile.batch.per_gpu)


class Scattered:
    """Places every gang as told: {job row: [(node, GPUs), ...]}."""

    name, needs = "scattered", "none"

    def __init__(self, places: list[list[tuple[int, int]]]) -> None:
        self.places = places

    def decide(self, view: View) -> None:
        for job in view.pending.tolist():
            place = self.places[int(view.jobs["row"][job])]
            gpus = [(node, gpu) for node, many in place for gpu in view.free_on(node)[:many]]
            assert view.start(job, gpus).name == "OK"


@pytest.mark.parametrize("model", ["vgg16", "resnet50", "bert_base", "gpt2"])
@pytest.mark.parametrize(
    "place",
    [
        [(0, 8)],  # one node
        [(0, 5), (1, 3)],  # uneven, one rack
        [(0, 1), (1, 1), (2, 1)],  # each alone on its network card
        [(0, 8), (1, 8), (4, 8)],  # two racks, uneven
        [(0, 4), (5, 4), (9, 4), (10, 2)],  # three racks
    ],
)
def test_a_job_runs_as_fast_as_the_model_says_for_its_place(model: str, place: list[tuple[int, int]]) -> None:
    gpus = sum(many for _, many in place)
    jobs = pl.DataFrame({"submit_s": [0.0], "gpus": [gpus], "duration_s": [100_000.0], "model": [model]})
    result = simulate(pointsman.Workload.of(jobs), CLUSTER, Scattered([place]), audit=True)
    nodes = np.array([node for node, _ in place])
    shape = shape_of(np.array([many for _, many in place]), nodes // 4, nodes * 0)
    best = topology(load_cluster(CLUSTER).layout(), 0)
    at_best = iteration_s(model, best.shape(gpus, best.best_locality(gpus)))
    now = iteration_s(model, shape)
    assert result.jobs["run_s"][0] == pytest.approx(100_000.0 * now / at_best, rel=1e-6)
    compute, _ = CATALOGUE.compute(model, "v100")
    busy_s = compute.time_s(CATALOGUE.model(model).batch.per_gpu)
    assert result.jobs["comm_s"][0] == pytest.approx(result.jobs["run_s"][0] * (1 - busy_s / now), rel=1e-6)


def test_work_is_conserved_through_moves() -> None:
    """Every job of a crowded cluster does its work, though moves and preemptions change its speed many times."""
    draw = np.random.default_rng(3)
    n = 300
    jobs = pl.DataFrame(
        {
            "submit_s": np.sort(draw.uniform(0, 20_000, n)).round(3),
            "gpus": draw.choice([1, 2, 4, 8, 12, 16, 32], n),
            "duration_s": draw.uniform(10, 3000, n).round(3),
            "model": draw.choice(["vgg16", "resnet50", "bert_base"], n),
        }
    )
    for policy in ("dally", "gandiva", "tiresias-skew"):
        result = simulate(pointsman.Workload.of(jobs), CLUSTER, policy, audit=True)
        assert (result.jobs["state"] == "COMPLETED").all()
        assert (result.jobs["run_s"] >= result.jobs["duration_s"] * 0.999 - 0.002).all()
