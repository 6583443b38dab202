"""REINFORCE with a baseline for each step, as DeepRM learns (Williams, 1992; Mao et al., HotNets 2016, §3.3).

Several rollouts of the same sequence of jobs differ only in what the policy drew: their mean return from a step on is
the baseline of that step. No value is learnt. Discounts are those of `ppo`.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pointsman.learn.algorithms.masking import draw, entropy, log_probabilities, of_actions
from pointsman.learn.algorithms.rollout import MASK, Floats, Rollout, tensors
from pointsman.learn.algorithms.training_state import State, learner_state, restore_learner
from pointsman.learn.config import Config, parameter
from pointsman.learn.networks.actor_critic import ActorCritic

CHUNK = 1024
"""Steps that go through the network at a time; the gradient is that of all together."""


class ReinforceConfig(Config):
    """How REINFORCE learns."""

    rollouts: int = parameter(20, "Episodes of each sequence of jobs.", source="paper", ge=2, le=1000)
    sequences: int = parameter(2, "Sequences of jobs of an update (the paper: 100).", ge=1, le=1000)
    longest: int = parameter(1000, "Steps after which an episode is cut off.", ge=1, le=1_000_000)
    learning_rate: float = parameter(1e-3, "RMSprop's.", source="paper", gt=0, le=1)
    gamma: float = parameter(1.0, "Discount of a step, where the environment names none.", source="paper", gt=0, le=1)
    entropy_weight: float = parameter(
        0.0, "Of the entropy, which keeps the policy trying.", source="paper", ge=0, le=10
    )
    max_gradient: float = parameter(10.0, "Norm to which gradients are cut.", gt=0, le=1e6)

    @property
    def num_envs(self) -> int:
        """Environments in step."""
        return self.rollouts * self.sequences


@dataclass(frozen=True)
class Taken:
    """Whole episodes: (T, N), and of each step that is real what was seen and done (K, ...)."""

    rewards: Floats
    discounts: Floats
    alive: NDArray[np.bool_]
    observations: dict[str, Tensor]
    masks: Tensor
    actions: Tensor


class Reinforce:
    """A network and its optimiser, learning from whole episodes."""

    def __init__(
        self, config: ReinforceConfig, network: ActorCritic, rollout: Rollout, seed: int, device: torch.device
    ) -> None:
        self.config, self.network, self.rollout, self.device = config, network.to(device), rollout, device
        self.names = network.inputs or tuple(sorted(rollout.shapes))
        self.optimiser = torch.optim.RMSprop(network.parameters(), config.learning_rate, alpha=0.9, eps=1e-9)
        self.generator = torch.Generator().manual_seed(seed)

    def state(self) -> State:
        """All that is needed to go on from here."""
        return learner_state(self.network, self.optimiser, self.generator)

    def restore(self, state: State) -> None:
        """Be where `state` was taken. InputError if it is that of something else."""
        restore_learner(state, self.network, self.optimiser, self.generator)

    def iterate(self, done: float) -> dict[str, float]:
        """Play whole episodes and learn from them. Returns metrics."""
        seeds = torch.randint(1 << 31, (self.config.sequences,), generator=self.generator)
        self.rollout.reset(seeds.repeat_interleave(self.config.rollouts).tolist())
        taken = self._play()
        returns = discounted(taken.rewards, taken.discounts)
        gains = returns - baseline(returns, self.config.rollouts)
        return self._learn(taken, torch.from_numpy(gains[taken.alive]).float())

    @torch.no_grad()
    def _play(self) -> Taken:
        rollout, alive = self.rollout, np.ones(self.rollout.size, bool)
        rows: list[tuple[Floats, Floats, NDArray[np.bool_]]] = []
        seen: list[dict[str, Tensor]] = []
        masks, actions = [], []
        while alive.any() and len(rows) < self.config.longest:
            mask = torch.from_numpy(np.asarray(rollout.now[MASK]) != 0)
            logits, _ = self.network(tensors(rollout.now, self.names, self.device))
            action = draw(log_probabilities(logits.cpu(), mask), self.generator)
            seen.append({name: torch.from_numpy(rollout.now[name][alive]) for name in self.names})
            masks.append(mask[alive])
            actions.append(action[alive])
            step = rollout.step(action.numpy())
            rows.append((np.where(alive, step.reward, 0.0), np.where(alive, step.discount, 0.0), alive))
            alive = alive & ~step.over
        rewards, discounts, lived = (np.stack(column) for column in zip(*rows, strict=True))
        together = {name: torch.cat([part[name] for part in seen]) for name in self.names}
        return Taken(rewards, discounts, lived, together, torch.cat(masks), torch.cat(actions))

    def _learn(self, taken: Taken, gains: Tensor) -> dict[str, float]:
        """One gradient step of all episodes."""
        self.optimiser.zero_grad()
        spreads = 0.0
        for rows in torch.arange(len(gains)).split(CHUNK):
            logits, _ = self.network(
                {name: column[rows].to(self.device) for name, column in taken.observations.items()}
            )
            logs = log_probabilities(logits, taken.masks[rows].to(self.device))
            pull = of_actions(logs, taken.actions[rows].to(self.device)) * gains[rows].to(self.device)
            spread = entropy(logs).sum()
            (-(pull.sum() + self.config.entropy_weight * spread) / len(gains)).backward()
            spreads += float(spread.detach())
        norm = torch.nn.utils.clip_grad_norm_(
            [weight for weight in self.network.parameters() if weight.grad is not None], self.config.max_gradient
        )
        self.optimiser.step()
        return {
            "steps": len(gains), "gradient": float(norm), "entropy": spreads / len(gains),
            "gain_deviation": float(gains.std()), "learning_rate": self.config.learning_rate,
        }  # fmt: skip


def discounted(rewards: Floats, discounts: Floats) -> Floats:
    """Return from each step on (T, N), with a discount for each."""
    found = np.zeros_like(rewards)
    following = np.zeros(rewards.shape[1], rewards.dtype)
    for t in range(len(rewards) - 1, -1, -1):
        found[t] = following = rewards[t] + discounts[t] * following
    return found


def baseline(returns: Floats, rollouts: int) -> Floats:
    """Mean return from each step on, over the rollouts of the same sequence (T, N); 0 counts where one has ended."""
    steps, environments = returns.shape
    means = returns.reshape(steps, -1, rollouts).mean(2)
    return means.repeat(rollouts, 1).reshape(steps, environments)
