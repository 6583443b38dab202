"""The examples of the guide run; a reward and an observation of one's own are files."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pointsman
from pointsman.learn.environments import PickJobEnv

from .small_environments import listed

EXAMPLES = Path(__file__).parents[3] / "examples"
COUNTING = """
from pointsman.engine.jit.compile import core


def shapes(slots):
    return {"waiting": (1,), "window": (slots,)}


@core
def observe(S, window, out):
    out[0] = min(1.0, S.g[0].pending / 100.0)
    for i in range(window.shape[0]):
        out[1 + i] = 1.0 if window[i] >= 0 else 0.0
"""


def printed(example: str, *arguments: str, warnings: str = "error") -> str:
    env = os.environ | {"PYTHONPATH": str(Path(pointsman.__file__).parents[1])}
    command = [sys.executable, "-W", warnings, str(EXAMPLES / example), *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_agent_of_the_guide() -> None:
    assert printed("random_agent.py").startswith("60 jobs, mean completion time ")


def test_the_schedulers_of_the_guide() -> None:
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed (make learn)")
    said, decisions = printed("random_schedulers.py").split("; decisions ")
    assert said.startswith("60 jobs, mean completion time ")
    assert all(decisions.count(f"'scheduler_{p}': ") == 1 for p in range(3)) and ": 0" not in decisions


def test_a_reward_of_ones_own() -> None:
    jobs = listed((0.0, 3, 100.0), (0.0, 2, 100.0))
    reward = str(EXAMPLES / "my_reward.py")
    env = PickJobEnv(
        cluster="2x2", workload=jobs, episodes=1, reward=reward, tau_s=50.0, gamma=1.0, observation="vector"
    )
    env.reset(seed=0)
    assert env.step(0)[1] == pytest.approx(-0.1 * (2 - 1) - 100 / 50 * 1 / 4)
    assert env.step(0)[1] == 0.0


def test_an_observation_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "counting.py"
    file.write_text(COUNTING)
    jobs = listed((0.0, 4, 100.0), (0.0, 2, 100.0))
    env = PickJobEnv(cluster="2x2", workload=jobs, episodes=1, observation=str(file), slots=3)
    seen, _ = env.reset(seed=0)
    assert set(seen) == {"waiting", "window", "action_mask"}
    assert np.allclose(seen["waiting"], 0.02) and seen["window"].tolist() == [1.0, 1.0, 0.0]
    assert env.step(0)[0]["window"].tolist() == [1.0, 0.0, 0.0]
