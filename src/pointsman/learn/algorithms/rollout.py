"""Stepping many environments at once: what an algorithm sees of them, whatever interface they came by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from torch import Tensor

from pointsman.errors import UsageError
from pointsman.learn.algorithms.training_state import State, learner_state, restore_learner
from pointsman.learn.networks.shapes import Shapes

MASK = "action_mask"
TAKEN = "taken"
"""The actions so far (steps, N)."""
OURS = ("return", "steps")
"""What environments say of an episode that is counted here."""
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Step:
    """What one action in each environment led to (N,)."""

    reward: Floats
    discount: Floats
    """The discount of what follows: gamma ** (time that passed / tau); 0 where nothing follows."""
    over: Bools
    """The episode ended or was cut off; the next step begins another, whatever its action."""
    real: Bools
    """False where the step only began a new episode: nothing is to be learnt from it."""


@dataclass
class Episodes:
    """Episodes that ended since they were last taken."""

    returns: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    metrics: dict[str, list[float]] = field(default_factory=dict)
    """What the environments say of whole episodes in ``info["episode_metrics"]``."""

    def summary(self) -> dict[str, float]:
        """Means, by name."""
        known = {"return": self.returns, "length": self.lengths, **self.metrics}
        return {"episodes": len(self.returns)} | {name: float(np.mean(x)) for name, x in known.items() if x}


class Rollout:
    """Environments in step, and what they show now."""

    def __init__(self, envs: Any, gamma: float) -> None:
        self.envs, self.gamma = envs, gamma
        self.shapes, self.actions = check_spaces(envs)
        self.episodes = Episodes()
        self.taken: list[NDArray[np.int16]] = []
        """All actions since the last reset (N,), by which a run is brought back to where it was."""

    @property
    def size(self) -> int:
        """N, how many environments there are."""
        return self.envs.num_envs

    def reset(self, seeds: list[int]) -> None:
        """A new episode everywhere."""
        self.now, _ = self.envs.reset(seed=seeds)
        self._over = np.zeros(self.size, bool)
        self._return, self._length = np.zeros(self.size), np.zeros(self.size, int)
        self.taken.clear()

    def begins(self, e: int) -> bool:
        """Whether the next step of environment `e` only begins an episode."""
        return bool(self._over[e])

    def state(self) -> dict[str, Tensor]:
        """All actions since the last reset, which lead here again."""
        return {TAKEN: torch.from_numpy(np.array(self.taken, np.int16).reshape(-1, self.size))}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take the actions of `state` again, from a reset with the same seeds."""
        for actions in state[TAKEN].numpy():
            self.step(actions.astype(np.int64))
        self.episodes = Episodes()

    def step(self, actions: NDArray[np.int64]) -> Step:
        """Take an action in each environment."""
        self.taken.append(actions.astype(np.int16))
        self.now, reward, ended, cut, info = self.envs.step(actions)
        real, self._over = ~self._over, ended | cut
        self._return += np.where(real, reward, 0.0)
        self._length += real
        discount = np.broadcast_to(info.get("discount", self.gamma), (self.size,))
        if self._over.any():
            self._note_episodes(info)
        return Step(
            np.where(real, reward, 0.0).astype(np.float32),
            np.where(ended, 0.0, discount).astype(np.float32),
            self._over,
            real,
        )

    def _note_episodes(self, info: Mapping[str, Any]) -> None:
        over = self._over
        self.episodes.returns += self._return[over].tolist()
        self.episodes.lengths += self._length[over].tolist()
        for name, values in info.get("episode_metrics", {}).items():
            if not name.startswith("_") and name not in OURS:
                self.episodes.metrics.setdefault(name, []).extend(np.asarray(values)[over].tolist())
        self._return[over], self._length[over] = 0.0, 0

    def take_episodes(self) -> Episodes:
        """Those that ended since they were last asked for."""
        taken, self.episodes = self.episodes, Episodes()
        return taken


def check_spaces(envs: gymnasium.vector.VectorEnv[Any, Any, Any]) -> tuple[Shapes, int]:
    """Shapes of the parts of an observation, less the mask, and how many actions there are.

    Raises:
        UsageError: the environments are not of the kind that can be learnt here.
    """
    space, actions = envs.single_observation_space, envs.single_action_space
    if not isinstance(actions, gymnasium.spaces.Discrete) or int(actions.start) != 0:
        raise UsageError(f"only choices among actions 0, 1, ... can be learnt here, not {actions}")
    if not isinstance(space, gymnasium.spaces.Dict) or MASK not in space.spaces:
        raise UsageError(f"observations must be a Dict with {MASK!r} in it, not {space!s:.200}")
    if envs.metadata.get("autoreset_mode") is not AutoresetMode.NEXT_STEP:
        raise UsageError("the environments must declare autoreset_mode NEXT_STEP")
    shapes = {name: tuple(box.shape or ()) for name, box in space.spaces.items() if name != MASK}
    return shapes, int(actions.n)


def tensors(observation: Mapping[str, NDArray[Any]], names: Any, device: torch.device) -> dict[str, Tensor]:
    """These parts of an observation, on `device`."""
    return {name: torch.from_numpy(np.asarray(observation[name])).to(device) for name in names}


class Replayed:
    """A learner whose environments are brought back to where they were by doing again what was done in them."""

    network: Any
    optimiser: torch.optim.Optimizer
    generator: torch.Generator
    rollout: Rollout

    def state(self) -> State:
        """All that is needed to go on from here; the environments are brought here by what was done in them."""
        return learner_state(self.network, self.optimiser, self.generator) | self.rollout.state()

    def restore(self, state: State) -> None:
        """Be where `state` was taken. InputError if it is that of something else."""
        self.rollout.restore(state)
        restore_learner(state, self.network, self.optimiser, self.generator)


def first_seeds(seed: int, environments: int) -> list[int]:
    """A seed for each environment, of which those of another training are independent."""
    return np.random.SeedSequence(seed).generate_state(environments).tolist()
