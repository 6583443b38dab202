"""Proximal policy optimisation with action masks (Schulman et al., 2017; masks as Huang & Ontañón, 2022).

Decisions are not equally far apart, so each step has a discount of its own (a semi-Markov decision process): the
environment says gamma ** (time that passed / tau), and returns and advantages are discounted by that.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import mse_loss

from pointsman.learn.algorithms.masking import draw, entropy, log_probabilities, of_actions
from pointsman.learn.algorithms.rollout import MASK, Floats, Replayed, Rollout, first_seeds, tensors
from pointsman.learn.config import Config, parameter
from pointsman.learn.networks.actor_critic import ActorCritic


class PpoConfig(Config):
    """How PPO learns."""

    num_envs: int = parameter(32, "Environments in step.", ge=1, le=4096)
    steps: int = parameter(128, "Steps in each environment between two updates.", ge=1, le=100_000)
    learning_rate: float = parameter(5e-4, "Adam's, at the beginning.", gt=0, le=1)
    annealed: bool = parameter(True, "Let the learning rate fall to 0 over the training.")
    gamma: float = parameter(0.99, "Discount of a step, where the environment names none.", source="paper", gt=0, le=1)
    trace: float = parameter(0.95, "Lambda of the generalised advantages, for each decision.", ge=0, le=1)
    clip: float = parameter(0.2, "How far a probability may move in an update, as a ratio.", source="paper", gt=0, lt=1)
    epochs: int = parameter(4, "Passes over the steps of an update.", ge=1, le=100)
    minibatch: int = parameter(256, "Steps from which a gradient is made.", ge=2, le=1_000_000)
    value_weight: float = parameter(0.5, "Of the value's loss, beside the policy's.", ge=0, le=100)
    entropy_weight: float = parameter(0.01, "Of the entropy, which keeps the policy trying.", ge=0, le=10)
    max_gradient: float = parameter(0.5, "Norm to which gradients are cut.", gt=0, le=1e6)
    max_divergence: float = parameter(
        0.03, "Kullback-Leibler divergence after which an update stops; 0: never.", unit="nat", ge=0, le=10
    )


class Batch:
    """The steps of one update: (T, N, ...) in memory that is used again for the next."""

    def __init__(self, rollout: Rollout, steps: int, names: tuple[str, ...]) -> None:
        size = (steps, rollout.size)
        self.observations = {name: np.zeros((*size, *rollout.shapes[name]), np.float32) for name in names}
        self.masks = np.zeros((*size, rollout.actions), bool)
        self.actions = np.zeros(size, np.int64)
        self.logs, self.values, self.rewards, self.discounts = (np.zeros(size, np.float32) for _ in range(4))
        self.over, self.real = np.zeros(size, bool), np.zeros(size, bool)


class Ppo(Replayed):
    """A network and its optimiser, learning from environments in step."""

    def __init__(
        self, config: PpoConfig, network: ActorCritic, rollout: Rollout, seed: int, device: torch.device
    ) -> None:
        self.config, self.network, self.rollout, self.device = config, network.to(device), rollout, device
        self.names = network.inputs or tuple(sorted(rollout.shapes))
        self.optimiser = torch.optim.Adam(network.parameters(), config.learning_rate, eps=1e-5, fused=True)
        self.generator = torch.Generator().manual_seed(seed)
        self.batch = Batch(rollout, config.steps, self.names)
        rollout.reset(first_seeds(seed, rollout.size))

    def iterate(self, done: float) -> dict[str, float]:
        """Collect steps and learn from them; `done` is the share of the training that is over. Returns metrics."""
        rate = self.config.learning_rate * (1.0 - done * self.config.annealed)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        last_values = self._collect()
        return {"steps": self.batch.actions.size} | self._learn(last_values) | {"learning_rate": rate}

    @torch.no_grad()
    def _act(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Actions, their log probabilities and the values of what is seen now (N,)."""
        now = self.rollout.now
        logits, values = self.network(tensors(now, self.names, self.device))
        logs = log_probabilities(logits.cpu(), torch.from_numpy(np.asarray(now[MASK]) != 0))
        actions = draw(logs, self.generator)
        values = self.network.value.returns(values)
        return actions.numpy(), of_actions(logs, actions).numpy(), values.cpu().numpy()

    def _collect(self) -> Floats:
        """Fill the batch; returns the values (N,) of where it ends."""
        batch = self.batch
        for t in range(self.config.steps):
            for name, rows in batch.observations.items():
                rows[t] = self.rollout.now[name]
            batch.masks[t] = self.rollout.now[MASK]
            batch.actions[t], batch.logs[t], batch.values[t] = self._act()
            step = self.rollout.step(batch.actions[t])
            batch.rewards[t], batch.discounts[t] = step.reward, step.discount
            batch.over[t], batch.real[t] = step.over, step.real
        with torch.no_grad():
            _, last = self.network(tensors(self.rollout.now, self.names, self.device))
            return self.network.value.returns(last).cpu().numpy()

    def _learn(self, last_values: Floats) -> dict[str, float]:
        batch, config = self.batch, self.config
        advantage = advantages(batch.rewards, batch.discounts, batch.values, last_values, batch.over, config.trace)
        real = torch.from_numpy(batch.real.ravel().nonzero()[0])
        returns = torch.from_numpy(advantage + batch.values).flatten()
        follow_scale(self.network, returns[real])
        flat = {
            "action": batch.actions, "log": batch.logs, "mask": batch.masks, "advantage": advantage,
            **batch.observations,
        }  # fmt: skip
        data = {name: torch.from_numpy(array).flatten(0, 1).to(self.device) for name, array in flat.items()}
        data["target"] = self.network.value.normalised(returns.to(self.device))
        told: list[Tensor] = []
        for _ in range(config.epochs):
            order = real[torch.randperm(len(real), generator=self.generator)]
            for rows in order.split(config.minibatch):
                told.append(self._update({name: column[rows.to(self.device)] for name, column in data.items()}))
            if config.max_divergence and float(told[-1][3]) > config.max_divergence:
                break
        names = "policy_loss", "value_loss", "entropy", "divergence", "clipped"
        means = torch.stack(told).mean(0).tolist()
        return dict(zip(names, means, strict=True)) | {"explained": explained(batch.values, advantage, batch.real)}

    def _update(self, rows: dict[str, Tensor]) -> Tensor:
        """One gradient step; returns losses, entropy, divergence and the share that was clipped."""
        config = self.config
        logits, values = self.network(rows)
        logs = log_probabilities(logits, rows["mask"])
        change = of_actions(logs, rows["action"]) - rows["log"]
        policy_loss = clipped_loss(change, normal(rows["advantage"]), config.clip)
        value_loss = mse_loss(values, rows["target"])
        spread = entropy(logs).mean()
        loss = policy_loss + config.value_weight * value_loss - config.entropy_weight * spread
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), config.max_gradient)
        self.optimiser.step()
        with torch.no_grad():
            ratio = change.exp()
            divergence = (ratio - 1 - change).mean()  # never below 0 (Schulman, 2020: k3)
            clipped = ((ratio - 1).abs() > config.clip).float().mean()
            return torch.stack([policy_loss, value_loss, spread, divergence, clipped]).detach()


def advantages(
    rewards: Floats, discounts: Floats, values: Floats, last_values: Floats, over: NDArray[np.bool_], trace: float
) -> Floats:
    """Generalised advantages (T, N) with a discount for each step (Schulman et al., 2016).

    Args:
        rewards: of each step (T, N).
        discounts: of what follows each step; 0 where the episode ended (T, N).
        values: of the state before each step, in units of the reward (T, N).
        last_values: of the states after the last step (N,).
        over: where an episode ended or was cut off: the next state's value counts, but nothing after it (T, N).
        trace: lambda.
    """
    found = np.zeros_like(values)
    following, next_values = np.zeros_like(last_values), last_values
    for t in range(len(rewards) - 1, -1, -1):
        surprise = rewards[t] + discounts[t] * next_values - values[t]
        following = surprise + discounts[t] * trace * np.where(over[t], 0.0, following)
        found[t], next_values = following, values[t]
    return found


def clipped_loss(change: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """The policy's loss for a `change` of log probabilities (B,): nothing is won by going beyond the clip."""
    ratio = change.exp()
    return -torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()


def normal(advantage: Tensor) -> Tensor:
    """With mean 0 and deviation 1."""
    if len(advantage) < 2:
        return advantage
    return (advantage - advantage.mean()) / (advantage.std() + 1e-8)


def follow_scale(network: ActorCritic, returns: Tensor, pace: float = 0.1) -> None:
    """Let the value head count in the scale of these `returns`: at once in the first, then at a pace."""
    head = network.value
    mean, deviation = returns.mean().to(head.mean), returns.std().clamp(min=1e-4).to(head.mean)
    first = float(head.mean) == 0.0 and float(head.deviation) == 1.0
    share = 1.0 if first else pace
    head.rescale(head.mean.lerp(mean, share), head.deviation.lerp(deviation, share))


def explained(values: Floats, advantage: Floats, real: NDArray[np.bool_]) -> float:
    """Share of the returns' variance that the values foresaw."""
    returns = (values + advantage)[real]
    return float(1.0 - advantage[real].var() / max(float(returns.var()), 1e-12))
