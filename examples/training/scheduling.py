"""The task that the scripts beside this one learn: which of ten queued jobs starts next on 32 GPUs.

``python examples/training/scheduling.py`` prints what random choice, FIFO and SJF reach on the held-out episodes.
"""

import argparse
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from pointsman.learn.environments import Generated

TRAINING, HELD_OUT = 0, 1
"""Seeds of the jobs: no job of one is in the other."""
PICK_JOB = "pointsman.gym:pointsman/PickJob-v0"
Seen = dict[str, np.ndarray]
Policy = Callable[[gymnasium.Env, Seen], int]


class Busy(gymnasium.ObservationWrapper):
    """Waiting is allowed only while nothing can start. Libraries discount by decisions, so each wait makes later costs
    smaller, and an agent that may always wait learns to.
    """

    def action_masks(self) -> np.ndarray:
        allowed = self.unwrapped.action_masks()
        allowed[-1] &= not allowed[:-1].any()
        return allowed

    def observation(self, seen: Seen) -> Seen:
        return seen | {"action_mask": self.action_masks().astype(np.int8)}


def keywords(jobs: int = TRAINING, episodes: int = 256) -> dict[str, Any]:
    """`episodes` of 200 jobs that arrive at load 1.2; the reward is minus the jobs that wait."""
    return {
        "cluster": "8x4/rack=4",
        "workload": Generated("dl2-1-8", jobs=200, load=1.2, seed=jobs),
        "observation": "vector",
        "reward": "delay",
        "horizon_s": None,
        "gamma": 1.0,  # the library discounts, step by step
        "tau_s": 3600.0,
        "episodes": episodes,
    }


def make_env(**given: Any) -> Busy:
    return Busy(gymnasium.make(PICK_JOB, **keywords(**given)))


def evaluate(policy: Policy, episodes: int = 24) -> float:
    """Mean completion time in seconds, over the held-out episodes."""
    env = make_env(jobs=HELD_OUT, episodes=episodes)
    means: list[float] = []
    for episode in range(episodes):
        seen, info = env.reset(seed=episode, options={"episode": episode})
        while "episode_metrics" not in info:
            seen, _, _, _, info = env.step(policy(env, seen))
        means.append(info["episode_metrics"]["jct_mean_s"])
    return float(np.mean(means))


def at_random(env: gymnasium.Env, seen: Seen) -> int:
    return int(env.np_random.choice(np.flatnonzero(seen["action_mask"])))


def fifo(env: gymnasium.Env, seen: Seen) -> int:
    """The first job, or none before it."""
    return 0 if seen["action_mask"][0] else len(seen["action_mask"]) - 1


def first_that_fits(env: gymnasium.Env, seen: Seen) -> int:
    return int(seen["action_mask"].argmax())


def sjf(env: gymnasium.Env, seen: Seen) -> int:
    """The shortest job that fits."""
    length = np.append(seen["jobs"][:, 2], 2.0)  # to wait comes last
    return int(np.where(seen["action_mask"], length, 3.0).argmin())


def steps_and_seed() -> tuple[int, int]:
    """As the command line says: how many decisions to train on, and the random seed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", nargs="?", type=int, default=400_000)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    given = parser.parse_args()
    return given.steps, given.seed


def report(agent: Policy) -> None:
    """Print what the agent reaches, and relative to what."""
    jct_s = evaluate(agent)
    others = {"random": at_random, "FIFO": fifo, "first that fits": first_that_fits, "SJF": sjf}
    relative: list[Any] = [f"{jct_s / evaluate(policy) - 1:+.0%} against {name}" for name, policy in others.items()]
    print(f"mean completion time {jct_s / 3600:.2f} h on held-out jobs: {', '.join(relative)}")


if __name__ == "__main__":
    report(at_random)
