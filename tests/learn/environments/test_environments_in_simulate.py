"""An episode in an environment is what `simulate` makes of the same decisions, job by job; and a policy there sees what
the agent saw, to the byte.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.engine.jit.loaded import unit
from pointsman.engine.run.view import View
from pointsman.learn.environments import PickJobEnv, PlaceJobEnv
from pointsman.learn.environments.loading import DECIDING, observation_unit
from pointsman.policies.pickers.gpu_pickers import GPU_PICKERS
from pointsman.types import Knowledge, Reason
from tests.free import simulate

from .small_environments import Step, any_valid, crowded

SLOTS, WAIT = 10, 128
Choice = tuple[int, int, int, dict[str, Any]]
"""When (ms), the row of the job in question, the action, and what was seen before it."""


class Replay:
    """Does at each instant what was done in the environment, as long as the instant lasts."""

    name: ClassVar[str] = "replay"
    needs: ClassVar[Knowledge] = "oracle"

    def __init__(self, done: list[tuple[int, int, Any]]) -> None:
        self.ahead = list(reversed(done))
        """(ms, row of the job, how it gets its GPUs)"""

    def decide(self, view: View) -> None:
        while self.ahead and self.ahead[-1][0] == view.now_ms:
            _, row, how = self.ahead.pop()
            job = next(int(j) for j in view.pending if view.jobs["row"][j] == row)
            self.look(view)
            self.start(view, job, how)

    def look(self, view: View) -> None:
        """Nothing to compare."""

    def start(self, view: View, job: int, how: Any) -> None:
        assert view.start(job, how) == Reason.OK


class Picks(Replay):
    """The same by a GPU picker, looking as the agent does."""

    def __init__(self, done: list[tuple[int, int, Any]], seen: list[dict[str, Any]]) -> None:
        super().__init__(done)
        self.seen = list(reversed(seen))
        self.looking = unit(observation_unit("topdrl"))
        self.window = np.zeros(SLOTS, np.int64)
        self.mask = np.zeros(SLOTS + 1, np.int8)
        self.out = np.zeros(sum(part.size for name, part in seen[0].items() if name != "action_mask"), np.float32)

    def look(self, view: View) -> None:
        expected = self.seen.pop()
        assert self.looking.look(view.address, self.window, self.mask, self.out)
        assert np.array_equal(self.mask, expected.pop("action_mask"))
        assert self.out.tobytes() == np.concatenate([part.ravel() for part in expected.values()]).tobytes()

    def start(self, view: View, job: int, how: Any) -> None:
        assert unit(DECIDING).start(view.address, job, how) == Reason.OK


def play(env: PickJobEnv | PlaceJobEnv, seed: int) -> list[Choice]:
    """An episode of random valid actions."""
    rng, done = np.random.default_rng(seed), []
    seen, _ = env.reset(seed=seed)
    step: Step | None = None
    while step is None or not step[2]:
        action = int(any_valid(seen["action_mask"], rng))
        window = env.window
        job = window[action if env.choice == "picking" and action < SLOTS else 0]
        done.append((int(env.state.g["now"][0]), int(env.state.jobs["row"][job]), action, seen))
        step = env.step(action)
        seen = step[0]
    return done


def same_outcomes(env: PickJobEnv | PlaceJobEnv, result: pointsman.Result) -> None:
    outcomes, jobs = env.outcomes, result.jobs
    localities = ["gpu", "node", "rack", "pod", "cluster"]
    assert (outcomes["start"] / 1000).tolist() == jobs["start_s"].to_list()
    assert (outcomes["end"] / 1000).tolist() == jobs["end_s"].to_list()
    assert (outcomes["run"] / 1000).tolist() == jobs["run_s"].to_list()
    assert outcomes["nodes"].tolist() == jobs["nodes"].to_list()
    assert [localities[i] for i in outcomes["locality"]] == jobs["locality"].to_list()


@pytest.mark.parametrize("gpus", GPU_PICKERS[:4])
@pytest.mark.parametrize("rate_model", ["rates", "tree"])
def test_picked_jobs(gpus: str, rate_model: str) -> None:
    """Models are the generator's, so that rates depend on where jobs are."""
    env = PickJobEnv(
        cluster="8x4/rack=4", workload=crowded(1, 60), episodes=2, gpus=gpus, rate_model=rate_model, horizon_s=None,
        slots=SLOTS,
    )  # fmt: skip
    done = [step for step in play(env, 5) if step[2] < SLOTS]
    assert len(done) == 60
    how = GPU_PICKERS.index(gpus)
    policy = Picks([(at, row, how) for at, row, _, _ in done], [dict(seen) for *_, seen in done])
    result = simulate(
        env.workload(env.episode), "8x4/rack=4", policy, placement="spread", rate_model=rate_model, audit=True
    )
    same_outcomes(env, result)
    assert not policy.ahead and not policy.seen
    assert result.jobs.select(pl.col("run_s") != pl.col("duration_s")).to_series().any()


@pytest.mark.parametrize(("cluster", "size"), [("8x4/rack=4", 1), ("20x4/rack=5", 4), ("bcube:3x1/gpus=4", 1)])
def test_placed_jobs(cluster: str, size: int) -> None:
    """GPU by GPU, or node by node with as many GPUs of each as are needed still."""
    env = PlaceJobEnv(cluster=cluster, workload=crowded(2, 50), episodes=2, horizon_s=None, picker="sjf")
    done = list(complete(play(env, 3), env.workload(env.episode).jobs["gpus"].to_list(), size))
    policy = (Replay if size == 1 else OnNodes)(done)
    result = simulate(env.workload(env.episode), cluster, policy, placement="spread", audit=True)
    same_outcomes(env, result)
    assert not policy.ahead and len(done) == 50


def complete(steps: list[Choice], gpus: list[int], size: int) -> Iterator[tuple[int, int, Any]]:
    """The gangs that were completed: when, whose, and of which GPUs (node, GPU) or nodes of `size` GPUs."""
    chosen: list[int] = []
    need = 0
    for at, row, action, seen in steps:
        if action < WAIT:
            need = need if chosen else gpus[row]
            chosen.append(action)
            need -= 1 if size == 1 else min(need, round(float(seen["free"][action]) * size))
            if need == 0:
                yield at, row, [divmod(gpu, 4) for gpu in chosen] if size == 1 else chosen
                chosen = []


class OnNodes(Replay):
    """Jobs get the free GPUs of lowest index on the nodes chosen, in the order of the choice."""

    def start(self, view: View, job: int, how: Any) -> None:
        need, gpus = int(view.jobs["asked"][job]), []
        for node in how:
            gpus += [(node, gpu) for gpu in view.free_on(node)][: need - len(gpus)]
        assert view.start(job, gpus) == Reason.OK
