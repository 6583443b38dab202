"""Exploration goes where least is known, within its bound and its budget."""

import json
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.learn.policies.exploration import Exploration
from pointsman.learn.policies.metarl import MetaRl
from pointsman.workload import generate
from tests.free import simulate

with_network = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed (make learn)")
OPTIONS = {"contention": "duty-cycle", "node_interference": "table:sigma=0.2,seed=3"}
CLUSTER = "8x4/rack=4,nic=10Gbps,gpu=gtx1080ti"


def rich(bound: float = 0.15) -> Exploration:
    """One with 100 GPU-ms to spend."""
    found = Exploration(1.0, 0.02, bound, seed=1)
    found.all_gpu_ms = 5000.0
    return found


@pytest.mark.parametrize(
    ("slowness", "unknown", "choice"),
    [
        ([1.0, 1.1, 1.2], [1.0, 2.0, 3.0], 1),  # the third takes more than 15 % longer than the first
        ([1.0, 1.1, 1.1], [1.0, 2.0, 2.0], 1),  # the first among equals
        ([1.0, 1.1, 1.1], [3.0, 2.0, 2.0], 0),  # of the usual one least is known
        ([1.0, 1.1, 1.1], [2.0, 2.0, 2.0], 0),
        ([1.0, np.inf, 1.1], [1.0, 9.0, 2.0], 2),  # the second would not be considered
        ([1.5, 1.0, 1.1], [1.0, 1.0, 2.0], 2),  # bounded by the best place, not by the usual one
    ],
)
def test_the_least_known_within_the_bound(slowness: list[float], unknown: list[float], choice: int) -> None:
    assert rich().choice(0, np.array(slowness), np.array(unknown), gpu_ms=50) == choice


def test_what_the_budget_does_not_cover_is_not_explored() -> None:
    """Of 100 GPU-ms, 110 % of 90 are left for no other; then 1 is left, and the next is not due."""
    exploration, slowness, unknown = rich(), np.array([1.0, 1.1]), np.array([1.0, 2.0])
    assert exploration.choice(0, slowness, unknown, gpu_ms=91) == 0
    assert exploration.choice(0, slowness, unknown, gpu_ms=90) == 1
    exploration.note(7, 1.1, 1.0, gpu_ms=90)
    assert exploration.left_gpu_ms == pytest.approx(1)
    assert exploration.is_due()
    exploration.note(8, 1.0, 1.0, gpu_ms=1.0)
    assert exploration.left_gpu_ms == pytest.approx(0)


class Watched(MetaRl):
    """It notes what it explores, and that the budget is never overdrawn."""

    shares: ClassVar[list[float]] = []

    def decide(self, view: Any) -> None:
        super().decide(view)
        exploration = self.interference.exploration
        assert exploration.left_gpu_ms >= 0
        if exploration.all_gpu_ms:
            self.shares.append(exploration.explored_gpu_ms / exploration.all_gpu_ms)


@with_network
def test_explored_placements_take_no_more_than_their_share() -> None:
    """By what was forecast of them; under a truth where most pairs of models slow each other much more than is
    expected, what they really took beyond their best forecast stays below the share times that slow-down.
    """
    jobs = generate("dl2-philly", jobs=1000, cluster_gpus=32, load=0.7, seed=2)
    policy = Watched(explore=0.5)
    options = OPTIONS | {"node_interference": "table:sigma=1,seed=5"}
    run = simulate(jobs, CLUSTER, policy, **options).jobs
    explored = policy.interference.exploration.explored
    assert len(explored) > 10
    assert 0 < max(Watched.shares) <= 0.02
    assert all(one.slowness <= 1.15 * one.least + 1e-9 for one in explored.values())
    mine = run[sorted(explored)]
    lost = ((mine["end_s"] - mine["start_s"] - mine["duration_s"]) * mine["gpus"]).sum()
    everything = ((run["end_s"] - run["start_s"]) * run["gpus"]).sum()
    assert lost < 0.02 * 3 * everything


@with_network
def test_in_rounds_too_the_budget_is_of_what_jobs_have_taken() -> None:
    """Jobs of up to 90 minutes, a round an hour: many GPUs are idle between rounds."""
    jobs = generate("dl2-philly", jobs=300, cluster_gpus=32, load=0.5, seed=2).jobs
    short = pointsman.Workload.of(jobs.with_columns(duration_s=pl.col("duration_s").clip(upper_bound=5400.0)))
    params = {"explore": 1.0, "budget": 0.5, "directed": False}
    run = simulate(short, CLUSTER, "rounds(metarl, 3600)", params=params, **OPTIONS)
    explored_gpu_s = sum(json.loads(line)["forecast_gpu_s"] for line in run.learnt["explored.jsonl"].splitlines())
    assert 0 < explored_gpu_s <= 0.5 * run.jobs["held_gpu_s"].sum()


@with_network
def test_without_a_chance_nothing_is_explored() -> None:
    jobs = generate("dl2-philly", jobs=200, cluster_gpus=32, load=0.9, seed=2)
    never, penniless = MetaRl(steps=0, explore=0.0), MetaRl(steps=0, budget=0.0)
    first, second = (simulate(jobs, CLUSTER, one, **OPTIONS).jobs for one in (never, penniless))
    assert first.equals(second)
    assert not never.interference.exploration.explored


@with_network
def test_explain_says_what_was_forecast_and_what_came_of_it() -> None:
    class Asks(MetaRl):
        said: ClassVar[list[str]] = []

        def decide(self, view: Any) -> None:
            super().decide(view)
            for job in view.running:
                found = self.why_there(view, job, lambda time_ms: f"{time_ms} ms")
                self.said.append(str(found))

    jobs = generate("dl2-philly", jobs=200, cluster_gpus=32, load=0.9, seed=2)
    simulate(jobs, CLUSTER, Asks(explore=0.5), **OPTIONS)
    assert all(said.startswith("its placement was forecast to take ") for said in Asks.said)
    assert any("; it now takes 1." in said for said in Asks.said)
    explored = [said for said in Asks.said if "to learn from it" in said]
    assert 0 < len(explored) < len(Asks.said)
    assert explored[0].endswith("times in the best place")


def test_undirected_it_goes_anywhere_within_the_bound() -> None:
    exploration = Exploration(1.0, 0.02, 0.15, seed=1, directed=False)
    exploration.all_gpu_ms = 5000.0
    slowness, unknown = np.array([1.0, 1.1, 1.2, 1.05]), np.array([9.0, 0.0, 0.0, 0.0])
    chosen = {exploration.choice(0, slowness, unknown, gpu_ms=50) for _ in range(100)}
    assert chosen == {0, 1, 3}
    assert exploration.choice(2, slowness, unknown, gpu_ms=1000) == 2  # the budget covers none


@with_network
def test_a_run_directory_lists_the_jobs_that_were_placed_to_learn_from_them() -> None:
    jobs = generate("dl2-philly", jobs=200, cluster_gpus=32, load=0.9, seed=2)
    policy = MetaRl(explore=0.5)
    run = simulate(jobs, CLUSTER, policy, **OPTIONS)
    listed = [json.loads(line) for line in run.learnt["explored.jsonl"].splitlines()]
    assert [one["row"] for one in listed] == sorted(policy.interference.exploration.explored)
    started = dict(run.jobs.select("row", "start_s").iter_rows())
    first = float(jobs.jobs["submit_s"][0])
    assert all(one["time_s"] == pytest.approx(started[one["row"]] - first, abs=1e-3) for one in listed)
    assert all(1 <= one["forecast_of_best"] <= one["forecast"] <= 1.15 * one["forecast_of_best"] for one in listed)
