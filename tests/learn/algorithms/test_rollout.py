"""What the algorithms see of environments: discounts, ends, and steps that only begin anew."""

import gymnasium
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

from pointsman.errors import UsageError  # noqa: E402
from pointsman.learn.algorithms.rollout import Rollout  # noqa: E402
from tests.learn.toy_environments import GAMMA, Corridor, side_by_side  # noqa: E402


def test_steps_by_hand() -> None:
    """From cell 4, the door: right takes two units of time; the door ends it; then a step only begins anew."""
    rollout = Rollout(side_by_side(Corridor, 1), gamma=0.5)
    rollout.reset([0])
    while rollout.now["here"][0].argmax() != 4:
        rollout.step(np.array([Corridor.RIGHT if rollout.now["here"][0].argmax() < 4 else Corridor.LEFT]))
    right = rollout.step(np.array([Corridor.RIGHT]))
    assert (right.reward[0], right.over[0], right.real[0]) == (0.0, False, True)
    assert np.isclose(right.discount[0], GAMMA**2)
    rollout.step(np.array([Corridor.LEFT]))
    steps = len(rollout.taken) + 1
    door = rollout.step(np.array([Corridor.DOOR]))
    assert np.isclose(door.reward[0], 0.2) and door.discount[0] == 0 and door.over[0] and door.real[0]
    anew = rollout.step(np.array([Corridor.LEFT]))
    assert (anew.reward[0], anew.over[0], anew.real[0]) == (0.0, False, False)
    episodes = rollout.take_episodes()
    assert np.allclose(episodes.returns, [0.2]) and episodes.lengths == [steps]
    assert rollout.take_episodes().returns == []


def test_cut_off_what_follows_still_counts() -> None:
    rollout = Rollout(SyncVectorEnv([lambda: Corridor(horizon=3)], autoreset_mode=AutoresetMode.NEXT_STEP), gamma=0.5)
    rollout.reset([3])
    steps = [
        rollout.step(np.array([Corridor.LEFT if rollout.now["here"][0].argmax() else Corridor.RIGHT])) for _ in "123"
    ]
    assert [bool(step.over[0]) for step in steps] == [False, False, True] and steps[2].discount[0] > 0.9


def test_replayed_it_is_where_it_was() -> None:
    first, second = (Rollout(side_by_side(Corridor, 3), gamma=0.5) for _ in range(2))
    random = np.random.default_rng(0)
    for rollout in (first, second):
        rollout.reset([1, 2, 3])
    for _ in range(50):
        first.step(np.array([random.choice(np.flatnonzero(mask)) for mask in first.now["action_mask"]]))
    second.restore(first.state())
    assert all(np.array_equal(first.now[name], second.now[name]) for name in first.now)
    assert np.array_equal(first.taken, second.taken)


class Blind(Corridor):
    """Without a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = gymnasium.spaces.Dict({"here": self.observation_space["here"]})  # ty: ignore


def test_what_cannot_be_learnt_in() -> None:
    with pytest.raises(UsageError, match="'action_mask' in it"):
        Rollout(side_by_side(Blind, 1), 1.0)
    with pytest.raises(UsageError, match="NEXT_STEP"):
        Rollout(SyncVectorEnv([Corridor], autoreset_mode=AutoresetMode.SAME_STEP), 1.0)
    with pytest.raises(UsageError, match="only choices among actions"):
        Rollout(gymnasium.make_vec("Pendulum-v1", 1), 1.0)
