"""Environments offer only places in a job's shape."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from pointsman import Workload
from pointsman.learn.environments import Listed, PickJobEnv, PlaceGangEnv, PlaceJobEnv

from .small_environments import any_valid


def shaped() -> Listed:
    """Jobs at random, most in a shape that fits four nodes of four GPUs."""
    draw = np.random.default_rng(5)
    shapes = [(1, 1), (1, 4), (4, 1), (2, 2), (3, 1), (2, 3), (4, 2), (2, 0), (5, 0)]
    chosen = [shapes[k] for k in draw.integers(len(shapes), size=60)]
    return Listed(
        [
            Workload.of(
                pl.DataFrame(
                    {
                        "submit_s": np.sort(draw.integers(0, 600, 60)).astype(float),
                        "gpus": [nodes * max(1, per_node) for nodes, per_node in chosen],
                        "duration_s": draw.integers(1, 60, 60).astype(float),
                        "gpus_per_node": [per_node or None for _, per_node in chosen],
                    }
                )
            )
        ]
    )


def held(env: Any) -> list[tuple[int, list[int]]]:
    """Of each job that holds GPUs: the GPUs per node of its shape, and how many it has on each of its nodes."""
    state, found = env.state, []
    for job in state.jobs[(state.jobs["state"] != 0) & (state.jobs["gpus"] > 0)]:
        on, part = list[int](), int(job["part"])
        while part >= 0:
            on.append(int(state.parts[part]["gpus"]))
            part = int(state.parts[part]["next"])
        found.append((int(state.classes[job["cls"]]["per_node"]), on))
    return found


@pytest.mark.parametrize(
    "make",
    [
        lambda **keywords: PickJobEnv(gpus="nearest", slots=5, **keywords),
        lambda **keywords: PickJobEnv(gpus="random", slots=5, **keywords),
        lambda **keywords: PickJobEnv(gpus="consolidated", slots=5, **keywords),
        PlaceJobEnv,
        PlaceGangEnv,
    ],
    ids=["nearest", "random", "consolidated", "PlaceJob", "PlaceGang"],
)
def test_whatever_is_allowed_keeps_the_shape(make: Any) -> None:
    env = make(cluster="4x4/rack=2", workload=shaped(), episodes=1, horizon_s=None)
    rng, seen = np.random.default_rng(1), 0
    mask, over = env.reset(seed=1)[1]["action_mask"], False
    while not over:
        _, _, over, _, info = env.step(int(any_valid(mask[None], rng)[0]))
        mask = info["action_mask"]
        for per_node, on in held(env):
            assert not per_node or set(on) == {per_node}
            seen += len(on) > 1
    assert seen > 20
    assert env.refused == 0


def test_nodes_are_chosen_where_there_are_too_many_gpus() -> None:
    """Each action is a node, which gives its part of the shape."""
    jobs = Workload.of(pl.DataFrame({"submit_s": [0.0], "gpus": [6], "duration_s": [9.0], "gpus_per_node": [2]}))
    env = PlaceJobEnv(cluster="20x4", workload=Listed([jobs]), episodes=1, horizon_s=None)
    mask = env.reset(seed=1)[1]["action_mask"]
    for chosen in range(3):
        assert np.flatnonzero(mask).tolist() == list(range(chosen, 20))
        _, _, over, _, info = env.step(chosen)
        mask = info["action_mask"]
    assert over
    assert info["episode_metrics"]["jobs_started"] == 1
