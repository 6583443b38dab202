"""Pictures of an environment: every GPU with the job that holds it, as text and as pixels, and the queue."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from pointsman.errors import UsageError
from pointsman.learn.environments import PickJobEnv
from pointsman.learn.environments.picture import GAP_PX, IDLE, PAPER, PITCH_PX

from .small_environments import any_valid, crowded, listed

JOBS = listed((0.0, 3, 100.0), (0.0, 1, 300.0), (0.0, 2, 100.0), (0.0, 1, 100.0))


def begun(render_mode: str, **keywords: Any) -> PickJobEnv:
    """Two nodes of two GPUs: job 0 has begun on three of them, three others are queued."""
    env = PickJobEnv(
        **{"cluster": "2x2", "workload": JOBS, "episodes": 1, "observation": "vector", "slots": 2, **keywords},
        render_mode=render_mode,
    )
    env.reset(seed=0)
    env.step(0)
    return env


def cell(picture: np.ndarray, line: int, column: int) -> tuple[int, ...]:
    """The colour of a square, which is one throughout."""
    y, x = line * PITCH_PX, column * PITCH_PX
    square = picture[y + GAP_PX : y + PITCH_PX, x + GAP_PX : x + PITCH_PX].reshape(-1, 3)
    assert (square == square[0]).all()
    return tuple(square[0].tolist())


def test_text_says_who_holds_each_gpu_and_who_waits() -> None:
    env = begun("ansi")
    lines = env.render().split("\n")
    assert lines == [
        "0 s: 3 of 4 GPUs allocated; jobs: 1 running, 3 pending",
        "n0000  0 0",
        "n0001  0 .",
        "queue: job 1 (1 GPU), job 2 (2 GPUs), 1 more",
    ]
    env.step(0)  # the cluster is full until job 0 ends
    assert env.render().split("\n") == [
        "100 s: 1 of 4 GPUs allocated; jobs: 1 running, 2 pending",
        "n0000  . .",
        "n0001  . 1",
        "queue: job 2 (2 GPUs), job 3 (1 GPU)",
    ]


def test_pixels_say_the_same() -> None:
    env = begun("rgb_array")
    before = env.render()
    held, idle = {cell(before, line, column) for line, column in ((0, 0), (0, 1), (1, 0))}, cell(before, 1, 1)
    assert len(held) == 1 and idle == IDLE and not held & {IDLE, PAPER}
    first, second, behind = cell(before, 0, 4), cell(before, 1, 4), cell(before, 1, 6)
    assert len({first, second, *held}) == 3, "jobs have colours of their own"
    assert cell(before, 0, 5) == behind == PAPER and cell(before, 1, 5) == second, "as wide as their GPUs"
    env.step(0)
    after = env.render()
    assert after.shape == before.shape
    assert (cell(after, 1, 1), cell(after, 0, 4)) == (first, second), "a job keeps its colour when it starts"


def test_what_is_drawn_is_what_the_engine_counts() -> None:
    """Random decisions over episodes: as many GPUs are free as the engine says, and gangs have what they ask for."""
    env = PickJobEnv(
        cluster="40x8/rack=36", workload=crowded(count=80), episodes=2, observation="vector", horizon_s=None,
        render_mode="ansi",
    )  # fmt: skip
    rng, seen = np.random.default_rng(0), env.reset(seed=0)[0]
    for _ in range(250):
        seen, _, terminated, truncated, _ = env.step(int(any_valid(seen["action_mask"], rng)))
        held = [name for line in env.render().split("\n")[1:-1] for name in line.split()[1:]]
        assert held.count(".") == env.state.g[0]["free"] and len(held) == 320
        jobs = env.state.jobs[: int(env.state.g["slots"][0])]
        for job in jobs[jobs["gpus"] > 0]:
            assert held.count(str(job["row"])) == job["asked"]
        if terminated or truncated:
            seen = env.reset()[0]


def test_films_are_made_by_gymnasiums_wrappers() -> None:
    env = gymnasium.wrappers.RenderCollection(begun("rgb_array"))
    env.reset(seed=0)
    env.step(0)
    assert len(frames := env.render()) == 2 and frames[0].shape == frames[1].shape


def test_what_is_not_drawn_is_said() -> None:
    with pytest.raises(UsageError, match="render_mode = 'human': it must be 'ansi', 'rgb_array' or None"):
        begun("human")
    with pytest.raises(UsageError, match="render_mode = 'ansi': only single environments have one"):
        gymnasium.make_vec("pointsman.gym:pointsman/PickJob-v0", 2, "vector_entry_point", render_mode="ansi")


def test_without_a_render_mode_there_is_a_warning_and_no_picture() -> None:
    env = PickJobEnv(cluster="2x2", workload=JOBS, episodes=1, observation="vector")
    env.reset(seed=0)
    with pytest.warns(UserWarning, match='make the environment with render_mode="ansi" or "rgb_array"'):
        assert env.render() is None
