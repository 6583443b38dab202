"""Learned pickers of jobs: the window, the mask, what a network is shown and the GPUs that jobs get, decision by
decision against the oracle, which works all of it out by itself. In the place of a network there are dice.
"""

import random
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from pointsman.engine.jit.loaded import unit
from pointsman.learn.environments.loading import DECIDING, observation_unit, shapes_of
from pointsman.learn.policies.learned import LearnedPicker
from pointsman.learn.policies.overdue import Patience
from pointsman.policies.pickers.gpu_pickers import GPU_PICKERS
from tests.oracle.gpu_pickers import PICKERS
from tests.oracle.instances import Instance, Kind, random_instance
from tests.oracle.learned import Decision, LearnedWorld, learned
from tests.oracle.observing import observe

from . import one_in
from .replay import schedule_of, simulation_of

CASES = one_in(10)
KIND = Kind(policies=("fifo",), placements=("spread",), most_jobs=40, rounds=False)


class Dice:
    """What stands where a network would: it takes any action that is allowed, and notes what it saw."""

    def __init__(self, seed: int, slots: int) -> None:
        self.draw, self.shapes = random.Random(seed), shapes_of("topdrl", slots)
        self.out = np.zeros(sum(int(np.prod(shape)) for shape in self.shapes.values()), np.float32)
        self.now_ms, self.rows = 0, np.zeros(0, np.int64)
        self.window = np.zeros(0, np.int64)
        self.decisions: list[Decision] = []

    def best(self, mask: np.ndarray) -> int:
        allowed = np.flatnonzero(mask).tolist()
        may_wait = self.draw.random() < 0.1
        action = self.draw.choice([a for a in allowed if a < len(mask) - 1 or may_wait])
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes.values()])
        parts = np.split(self.out.copy(), ends[:-1])
        window = [int(self.rows[j]) if j >= 0 else -1 for j in self.window.tolist()]
        flat = {name: part.tolist() for name, part in zip(self.shapes, parts, strict=True)}
        self.decisions.append(Decision(self.now_ms, window, mask.tolist(), flat, action))
        return action


class Thrown(LearnedPicker):
    """As `topdrl`, with dice."""

    name = "thrown"

    def __init__(self, seed: int, gpus: str, slots: int) -> None:
        self._how, self._start = GPU_PICKERS.index(gpus), unit(DECIDING).start
        self._patience = Patience(None, self.name)
        self.dice: Any = Dice(seed, slots)
        self._seen, self._look = self.dice, unit(observation_unit("topdrl")).look
        self._window, self._mask = np.full(slots, -1, np.int64), np.zeros(slots + 1, np.int8)

    def decide(self, view: Any) -> None:
        self.dice.now_ms, self.dice.rows, self.dice.window = view.now_ms, view.jobs["row"], self._window
        super().decide(view)


def drawn(seed: int) -> tuple[Instance, str, int]:
    draw = random.Random(-1 - seed)
    instance = random_instance(seed, KIND)
    slow = draw.choice((1, 1, 60_000))  # long enough for the images
    jobs = tuple(replace(job, work_ms=slow * job.work_ms, estimate_ms=slow * job.told_ms) for job in instance.jobs)
    return replace(instance, jobs=jobs), draw.choice(tuple(PICKERS)), draw.choice((3, 10, 10))


def check_agreement(seed: int) -> list[Decision]:
    instance, gpus, slots = drawn(seed)
    policy = Thrown(seed, gpus, slots)
    simulation = simulation_of(instance, policy=policy)
    simulation.run()
    told = list(policy.dice.decisions)
    make = partial(LearnedWorld, gpus=gpus, slots=slots, told=told, observe=observe)
    assert schedule_of(simulation) == instance.run_oracle(make=make, decide=learned), (seed, instance)
    assert not told, (seed, "decisions that the oracle has not")
    return policy.dice.decisions


@pytest.mark.parametrize("chunk", range(2))
def test_runs_agree_decision_by_decision(chunk: int) -> None:
    for seed in range(chunk, CASES, 2):
        check_agreement(seed)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(5))
def test_thousands_of_runs_agree(chunk: int) -> None:
    for seed in range(100_000 + chunk, 105_000, 5):
        check_agreement(seed)


@pytest.mark.slow
def test_the_instances_have_what_they_are_to_test() -> None:
    decisions = [decision for seed in range(25) for decision in check_agreement(seed)]
    assert len(decisions) > 200
    assert sum(sum(decision.mask[:-1]) > 1 for decision in decisions) > 100, "a choice"
    assert sum(decision.action == len(decision.window) for decision in decisions) > 2, "to wait"
    assert sum(-1 not in decision.window for decision in decisions) > 50, "more jobs than slots"
    assert sum(sum(decision.parts["cluster"][64 * 10 :]) > 0 for decision in decisions) > 20, "long jobs"
