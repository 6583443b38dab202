"""Small worlds to learn in, with masks and steps of uneven length, whose best policy is known."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

GAMMA = 0.95
"""Discount of a unit of time."""


class Corridor(gymnasium.Env):
    """From a random cell to the right end, which pays 1; a door halfway leads out, and pays 0.2.

    Left of the door a step takes one unit of time, right of it two. Only what the mask allows may be done.
    """

    LEFT, RIGHT, DOOR = range(3)

    def __init__(self, cells: int = 9, horizon: int = 60) -> None:
        self.cells, self.horizon = cells, horizon
        here = spaces.Box(0.0, 1.0, (cells,), np.float32)
        self.observation_space = spaces.Dict({"here": here, "action_mask": spaces.Box(0, 1, (3,), np.int8)})
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict, dict]:
        super().reset(seed=seed)
        self.at, self.steps = int(self.np_random.integers(self.cells - 2)), 0
        return self.seen(), {"discount": 1.0}

    def action_masks(self) -> np.ndarray:
        return np.array([self.at > 0, True, self.at == self.cells // 2], bool)

    def seen(self) -> dict:
        here = np.zeros(self.cells, np.float32)
        here[self.at] = 1.0
        return {"here": here, "action_mask": self.action_masks().astype(np.int8)}

    def step(self, action: int) -> tuple[dict, float, bool, bool, dict]:
        assert self.action_masks()[action], f"action {action} is masked in cell {self.at}"
        discount = GAMMA if self.at < self.cells // 2 else GAMMA**2
        self.steps += 1
        if action == self.DOOR:
            return self.seen(), 0.2, True, False, {"discount": discount}
        self.at += 1 if action == self.RIGHT else -1
        ended = self.at == self.cells - 1
        return self.seen(), float(ended), ended, self.steps >= self.horizon, {"discount": discount}


class Shelf(gymnasium.Env):
    """A bandit: of some slots, of which some are empty, the fullest pays best. One step an episode."""

    def __init__(self, slots: int = 6) -> None:
        self.slots = slots
        full = spaces.Box(0.0, 1.0, (slots,), np.float32)
        mask = spaces.Box(0, 1, (slots,), np.int8)
        self.observation_space = spaces.Dict({"full": full, "action_mask": mask})
        self.action_space = spaces.Discrete(slots)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict, dict]:
        super().reset(seed=seed)
        self.full = self.np_random.random(self.slots).astype(np.float32)
        self.full[self.np_random.random(self.slots) < 0.5] = 0.0
        if not self.full.any():
            self.full[0] = 0.5
        return self.seen(), {}

    def action_masks(self) -> np.ndarray:
        return self.full > 0.0

    def seen(self) -> dict:
        return {"full": self.full.copy(), "action_mask": self.action_masks().astype(np.int8)}

    def step(self, action: int) -> tuple[dict, float, bool, bool, dict]:
        assert self.full[action] > 0.0, f"slot {action} is empty"
        return self.seen(), float(self.full[action] / self.full.max()), True, False, {"discount": 1.0}


def side_by_side(world: Any, environments: int) -> SyncVectorEnv:
    return SyncVectorEnv([world] * environments, autoreset_mode=AutoresetMode.NEXT_STEP)
