"""The rate model `tree`: what a gang's place does to its rate, by hand on two racks of four nodes of four GPUs."""

import json
import os
import subprocess
import sys
from math import sqrt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.cluster import load_cluster
from pointsman.engine.run.view import View
from pointsman.errors import UsageError
from pointsman.speed.profiles.catalogue import load_catalogue
from pointsman.speed.tables.tree import all_reduce_s, fewest_racks
from tests.free import simulate

SRC = Path(pointsman.__file__).parents[1]


class Scattered:
    """Places every gang as told: {job row: [(node, GPUs), ...]}."""

    name, needs = "scattered", "none"

    def __init__(self, *places: list[tuple[int, int]]) -> None:
        self.places = places

    def decide(self, view: View) -> None:
        for job in view.pending.tolist():
            place = self.places[int(view.jobs["row"][job])]
            gpus = [(node, gpu) for node, many in place for gpu in view.free_on(node)[:many]]
            assert view.start(job, gpus).name == "OK"


def table(gpus: list[int], model: str | None, per_gpu: int = 64) -> pointsman.Workload:
    jobs = pl.DataFrame(
        {"submit_s": 0.0, "gpus": gpus, "duration_s": 100_000.0, "batch_size": [per_gpu * n for n in gpus]}
    )
    return pointsman.Workload.of(jobs.with_columns(model=pl.lit(model, pl.String)))


def run_s(place: list[tuple[int, int]], model: str | None, rate_model: str = "tree", **more: Any) -> float:
    gpus = sum(many for _, many in place)
    work = table([gpus], model)
    result = simulate(work, "topdrl", Scattered(place), rate_model=rate_model, audit=True, **more)
    return result.jobs["run_s"][0]


PLACES = {  # racks, nodes
    ((0, 1),): (1, 1),
    ((3, 4),): (1, 1),
    ((0, 2), (2, 2)): (1, 2),
    ((0, 1), (1, 1), (2, 1), (3, 1)): (1, 4),
    ((0, 2), (4, 2)): (2, 2),
    ((0, 1), (3, 1), (4, 1), (7, 1)): (2, 4),
    ((0, 4), (4, 4)): (2, 2),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_gang_without_a_model_pays_for_communication_only(place: tuple[tuple[int, int], ...]) -> None:
    racks, nodes = PLACES[place]
    cost = racks / 2 + nodes / 4 + sum(many for _, many in place) / 40
    assert run_s(list(place), None) == pytest.approx(100_000 * cost, rel=1e-7)
    assert run_s(list(place), None, "tree:clamp=1") == pytest.approx(100_000 * max(1.0, cost), rel=1e-7)
    weights = "tree:rack=1,node=0.5,gpu=0"
    assert run_s(list(place), None, weights) == pytest.approx(100_000 * (racks + nodes / 2), rel=1e-7)


@pytest.mark.parametrize("model, megabytes", [("vgg16", 553.430176), ("resnet18", 44.695848)])
@pytest.mark.parametrize("place", PLACES)
def test_with_one_its_all_reduce_takes_a_fifth_longer_for_each_further_rack(
    place: tuple[tuple[int, int], ...], model: str, megabytes: float
) -> None:
    racks, nodes = PLACES[place]
    gpus = sum(many for _, many in place)
    compute, _ = load_catalogue().compute(model, "p100")
    ms_of_one = {"vgg16": 139.77 + (139.77 - 28.29) / 400 * (megabytes - 500), "resnet18": 28.29 * megabytes / 100}
    reduce_s = ms_of_one[model] / 1000 * sqrt(gpus)
    here = compute.time_s(64) + (1 + 0.2 * (racks - 1)) * reduce_s
    ideal = compute.time_s(64) + reduce_s
    cost = racks / 2 + nodes / 4 + gpus / 40
    assert run_s(list(place), model) == pytest.approx(100_000 * here / ideal * cost, rel=1e-7)


def test_the_all_reduce_is_interpolated_between_what_was_measured() -> None:
    assert all_reduce_s(100e6, 4) == pytest.approx(0.05658)
    assert all_reduce_s(300e6, 1) == pytest.approx((0.02829 + 0.13977) / 2)
    assert all_reduce_s(600e6, 1) == pytest.approx(0.13977 + (0.13977 - 0.02829) / 4)
    assert all_reduce_s(50e6, 9, racks=3) == pytest.approx(0.02829 / 2 * 3 * 1.4)


def test_a_duration_is_that_on_the_fewest_racks_that_hold_the_gang() -> None:
    layout = load_cluster("topdrl").layout()
    assert [fewest_racks(layout, 0, gpus) for gpus in (1, 16, 17, 32)] == [1, 1, 2, 2]
    everywhere = [(node, 4) for node in range(8)]
    assert run_s(everywhere, "vgg16") == pytest.approx(100_000 * (2 / 2 + 8 / 4 + 32 / 40), rel=1e-7)


def test_a_rate_is_kept_while_others_come_and_go() -> None:
    """Two gangs, one on one node and one across racks, started and ended apart: neither feels the other."""
    work = table([4, 8], "resnet50")
    both = simulate(work, "topdrl", Scattered([(0, 4)], [(1, 4), (5, 4)]), rate_model="tree", audit=True)
    alone = run_s([(1, 4), (5, 4)], "resnet50")
    assert both.jobs["run_s"].to_list() == [run_s([(0, 4)], "resnet50"), alone]


@pytest.mark.parametrize(
    "more, said",
    [
        ({"contention": "max-min"}, "jobs do not share links"),
        ({"gpu_sharing": 2}, "jobs do not share GPUs"),
        ({"congestion": {"network": 2.0}}, "has its own network model"),
        ({"rate_model": "tree:racks=1"}, "no parameter 'racks'"),
        ({"rate_model": "tree:rack=-1"}, "no number from 0"),
        ({"rate_model": "tree:rack=0,node=0,gpu=0"}, "the cost of a GPU"),
        ({"rate_model": "trees"}, "unknown rate model"),
    ],
)
def test_what_does_not_go_with_it_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        simulate(table([1], None), "topdrl", "fifo", **({"rate_model": "tree"} | more))


class Asks:
    """Starts one job, and asks when all would be over if `pick-place` went on."""

    name, needs = "asks", "oracle"

    def __init__(self) -> None:
        self.over_ms: list[int] = []

    def decide(self, view: View) -> None:
        if view.pending.size:
            view.start(int(view.pending[0]))
            future = view.what_if("pick-place")
            future.run()
            self.over_ms.append(future.now_ms)


def test_another_policy_may_take_over() -> None:
    asks = Asks()
    simulate(table([4, 4], "vgg16"), "topdrl", asks, rate_model="tree", audit=True)
    # 0.85 · 100,000 s each: pick-place starts the second job at once, this policy when the first has ended.
    assert asks.over_ms == pytest.approx([85_000_000, 170_000_000], rel=1e-6)
    with pytest.raises(UsageError, match="needs the rate model 'goodput'"):
        simulate(table([4], "vgg16"), "topdrl", "pollux", rate_model="tree")


EVERYWHERE = """
import json, pointsman
from pointsman.workload.generator.topdrl import generate_topdrl
found = {}
for name, params in {PAIRS}:
    work = generate_topdrl(60, 3, cluster_gpus=32, load=1.1)
    result = pointsman.simulate(work, "topdrl", name, params=params, rate_model="tree", seed=4, audit=True)
    found[json.dumps([name, params])] = [result.jobs.write_json(), result.events.write_json()]
print(json.dumps(found))
"""
PAIRS = [
    ("pick-place", {"picker": "random", "gpus": "random"}),
    ("pick-place", {"picker": "tetris", "gpus": "nearest"}),
    ("pick-place", {"picker": "drf", "gpus": "load-balance", "strict": "always"}),
    ("pick-place-sjf", {"gpus": "anchor"}),
]


def said(**environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", EVERYWHERE.replace("{PAIRS}", repr(PAIRS))],
        env={**os.environ, "PYTHONPATH": str(SRC), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_same_without_the_jit() -> None:
    assert said() == said(NUMBA_DISABLE_JIT="1")


def test_what_it_takes_for_granted_is_told() -> None:
    told = simulate(table([1, 8], None), "8x4/rack=4", "fifo", rate_model="tree").info["assumptions"]
    assert "no job has a model: all pay alike for their places, and reduce nothing" in told
    assert not any("best locality" in said or "same speed everywhere" in said for said in told)
