"""PPO in one file, in the style of CleanRL: ``python examples/training/with_cleanrl.py [STEPS] [SEED]``.

One call of compiled code steps all environments.
"""

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers.utils import RunningMeanStd
from gymnasium.wrappers.vector import NormalizeReward
from scheduling import PICK_JOB, Seen, keywords, report, steps_and_seed
from torch import nn
from torch.distributions import Categorical

NUM_ENVS, NUM_STEPS, EPOCHS, MINIBATCH = 8, 256, 5, 256
GAMMA, GAE_LAMBDA, CLIP, ENTROPY, LEARNING_RATE = 0.9, 0.95, 0.2, 0.01, 1e-3
Rows = dict[str, Any]
"""Of each step: (N, …) tensors, or arrays."""


def network(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


class Agent(nn.Module):
    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.scale = RunningMeanStd(shape=(inputs,))
        self.actor, self.critic = network(inputs, actions), network(inputs, 1)

    def inputs(self, seen: Seen, learn: bool = False) -> torch.Tensor:
        flat = np.concatenate([seen[name].reshape(len(seen[name]), -1) for name in ("jobs", "globals")], 1)
        if learn:
            self.scale.update(flat)
        return torch.as_tensor((flat - self.scale.mean) / np.sqrt(self.scale.var + 1e-8), dtype=torch.float32)

    def choices(self, inputs: torch.Tensor, allowed: torch.Tensor) -> Categorical:
        return Categorical(logits=self.actor(inputs).masked_fill(~allowed, -1e8))


def allowed_in(seen: Seen) -> torch.Tensor:
    """(N, actions): waiting is allowed only while nothing can start, as of `scheduling.Busy`."""
    allowed = torch.as_tensor(seen["action_mask"] != 0)
    allowed[:, -1] &= ~allowed[:, :-1].any(1)
    return allowed


class Collector:
    """Environments, and where they are."""

    def __init__(self, seed: int) -> None:
        envs = gymnasium.make_vec(PICK_JOB, NUM_ENVS, vectorization_mode="vector_entry_point", **keywords())
        self.envs = NormalizeReward(envs, gamma=GAMMA)
        self.seen, _ = self.envs.reset(seed=seed)
        self.over = np.zeros(NUM_ENVS, bool)

    @torch.no_grad()
    def step(self, agent: Agent) -> Rows:
        inputs, allowed = agent.inputs(self.seen, learn=True), allowed_in(self.seen)
        choices, values, begins = agent.choices(inputs, allowed), agent.critic(inputs)[:, 0], self.over
        actions = choices.sample()
        self.seen, rewards, terminated, truncated, _ = self.envs.step(actions.numpy())
        self.over = terminated | truncated
        learned = torch.as_tensor(~begins)  # after an end, a step only begins the next episode
        found = {"inputs": inputs, "allowed": allowed, "actions": actions, "log_probs": choices.log_prob(actions)}
        return found | {"values": values, "rewards": torch.as_tensor(rewards), "ends": self.over, "learned": learned}

    def rollout(self, agent: Agent) -> Rows:
        rows = [self.step(agent) for _ in range(NUM_STEPS)]
        with torch.no_grad():
            gain, value_after = torch.zeros(NUM_ENVS), agent.critic(agent.inputs(self.seen))[:, 0]
        for row in reversed(rows):
            goes_on = torch.as_tensor(~row["ends"]).float()
            delta = row["rewards"].float() + GAMMA * goes_on * value_after - row["values"]
            gain = row["gains"] = delta + GAMMA * GAE_LAMBDA * goes_on * gain
            value_after = row["values"]
        names = ("inputs", "allowed", "actions", "log_probs", "values", "gains", "learned")
        return {name: torch.cat([row[name] for row in rows]) for name in names}


def loss_of(agent: Agent, inputs: Any, allowed: Any, actions: Any, log_probs: Any, values: Any, gains: Any) -> Any:
    choices = agent.choices(inputs, allowed)
    ratio = (choices.log_prob(actions) - log_probs).exp()
    gain = (gains - gains.mean()) / (gains.std() + 1e-8)
    policy_loss = -torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
    value_loss = 0.5 * (agent.critic(inputs)[:, 0] - (gains + values)).pow(2).mean()
    return policy_loss + 0.5 * value_loss - ENTROPY * choices.entropy().mean()


def train(steps: int, seed: int) -> Agent:
    torch.manual_seed(seed)
    collector = Collector(seed)
    slots, features = collector.seen["jobs"].shape[1:]
    agent = Agent(slots * features + collector.seen["globals"].shape[1], slots + 1)
    optimizer = torch.optim.Adam(agent.parameters(), LEARNING_RATE, eps=1e-5)
    updates = -(-steps // (NUM_ENVS * NUM_STEPS))
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - update / updates)
        rows = collector.rollout(agent)
        learned = torch.nonzero(rows.pop("learned"))[:, 0]
        for _ in range(EPOCHS):
            for part in learned[torch.randperm(len(learned))].split(MINIBATCH):
                optimizer.zero_grad()
                loss_of(agent, **{name: column[part] for name, column in rows.items()}).backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
    return agent


if __name__ == "__main__":
    torch.set_num_threads(1)
    agent = train(*steps_and_seed())

    def act(env: object, seen: Seen) -> int:
        one = {name: part[None] for name, part in seen.items()}
        return int(agent.choices(agent.inputs(one), allowed_in(one)).probs.argmax())

    report(act)
