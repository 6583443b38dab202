"""Chains of iterations: snapshots, what-ifs, failures, and the same with the JIT on and off."""

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.engine.run.blindfold import blindfolded
from pointsman.engine.run.simulation import Named
from pointsman.engine.run.snapshot import snapshot
from pointsman.engine.setup.overheads import Overheads
from pointsman.errors import UsageError
from pointsman.policies.registry import get_policy
from pointsman.types import JobState
from tests.against_oracle.test_iterations import Whims, random_chains, simulation_of
from tests.free import simulate

POLICIES = ("lwf", "srsf", "ada-srsf")
RANDOM = range(30)


def outcomes(simulation: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in simulation.handle.world.outcomes.tolist()]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_copy_goes_the_same_way(policy: str) -> None:
    for seed in RANDOM:
        ground, jobs = random_chains(seed, admits=policy != "lwf")
        whole = simulation_of(ground, jobs, get_policy(policy).make())
        whole.run()
        parted = simulation_of(ground, jobs, get_policy(policy).make())
        parted.run(random.Random(seed).randint(0, 400))
        copy = parted.copy()
        parted.run()
        copy.run()
        assert outcomes(copy) == outcomes(parted) == outcomes(whole)


@pytest.mark.parametrize("policy", POLICIES)
def test_another_policy_takes_over_and_a_blindfold_that_knows_all_changes_nothing(policy: str) -> None:
    for seed in RANDOM:
        ground, jobs = random_chains(seed, admits=policy != "lwf")
        ground = replace(ground, cancels=())  # of which a blindfolded future does not know
        jobs = [type(job)(**{**vars(job), "told": job.work}) for job in jobs]
        made = get_policy(policy).make()
        simulation = simulation_of(ground, jobs, made)
        simulation.run(random.Random(seed).randint(jobs[-1].submit_ms, 400))
        blind = type(simulation)(blindfolded(snapshot(simulation.handle, room=False)), made).adopt(made)
        simulation.run()
        blind.run()
        ended = simulation.handle.world.outcomes["end"]
        later = blind.handle.world.outcomes["state"] > 0
        assert blind.handle.world.outcomes["end"][later].tolist() == ended[later].tolist()


def test_what_if_needs_estimates_and_a_policy_of_this_rate_model() -> None:
    class Asks(Whims):
        def decide(self, view: Any) -> None:
            super().decide(view)
            if view.now_ms > 20:
                view.what_if("lwf").run()
                with pytest.raises(UsageError, match="uses rates of jobs"):
                    view.what_if("easy")

    ground, jobs = random_chains(7)
    simulation = simulation_of(ground, jobs, Asks(7, True))
    simulation.named = lambda name: Named(get_policy(name).make())
    simulation.run()
    ground, jobs = random_chains(7, told=False)
    simulation = simulation_of(ground, jobs, Asks(7, True))
    simulation.named = lambda name: Named(get_policy(name).make())
    with pytest.raises(UsageError, match="estimates"):
        simulation.run()


@pytest.mark.parametrize("policy", [*POLICIES, "fifo", "srtf"])
def test_every_job_ends_whatever_fails(policy: str) -> None:
    """Nodes go down in the midst of tasks and transfers, starts fail, users cancel; the audit watches."""
    for seed in range(20):
        draw = np.random.default_rng(seed)
        n = 25
        jobs = pl.DataFrame(
            {
                "submit_s": np.sort(draw.integers(0, 4000, n)) / 1000,
                "gpus": draw.choice([1, 1, 2, 3, 4, 6, 8], n),
                "duration_s": draw.integers(0, 8000, n) / 1000,
                "model": draw.choice(["resnet50", "vgg16", "lstm", "unheard-of"], n),
            }
        )
        costs = Overheads(
            start_s=0.1 * (seed % 2), stop_s=0.05 * (seed % 3), lost_s=0.3, checkpoint_every_s=1.0,
            start_fail_rate=0.05 * (seed % 2),
        )  # fmt: skip
        result = simulate(
            pointsman.Workload.of(jobs), "3x4/gpu=v100,nic=10Gbps", policy, rate_model="iterations", audit=True,
            overheads=costs, seed=seed,
            node_events=[(1.0, "1", "DOWN"), (1.5, "1", "UP"), (2.0, "0", "DRAIN"), (3.01, "0", "UP")],
            cancels=[(2.5, 3), (3.3, 8)],
        )  # fmt: skip
        assert set(result.jobs["state"]) <= {JobState.COMPLETED.name, JobState.CANCELLED.name}


def digest() -> str:
    """How random instances end."""
    found: list[Any] = []
    for seed in range(6):
        ground, jobs = random_chains(seed)
        for policy in (get_policy("ada-srsf").make(), Whims(seed, True)):
            simulation = simulation_of(ground, jobs, policy)
            simulation.run()
            found.append([outcomes(simulation), simulation.log().tolist()])
    return json.dumps(found, default=str)


def test_the_same_without_the_jit() -> None:
    code = "from tests.properties.test_iterations import digest; print(digest())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout.strip() == digest()
