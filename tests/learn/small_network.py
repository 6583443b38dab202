"""A small network for the small worlds, and what trains it."""

import torch
from torch import Tensor, nn

from pointsman.learn.algorithms.ppo import Ppo, PpoConfig
from pointsman.learn.algorithms.rollout import Rollout
from pointsman.learn.config import Config
from pointsman.learn.networks.actor_critic import ActorCritic, Observation, ValueHead, scaled, widths
from pointsman.learn.networks.shapes import Shapes

from .toy_environments import side_by_side

CPU = torch.device("cpu")


class Tiny(ActorCritic):
    """One hidden layer."""

    Config = Config
    inputs = ()

    def __init__(self, config: Config, shapes: Shapes, actions: int) -> None:
        super().__init__()
        self.names = tuple(sorted(shapes))
        self.body = scaled(nn.Linear(sum(widths(shapes, self.names).values()), 64), 2**0.5)
        self.actor, self.value = scaled(nn.Linear(64, actions), 0.01), ValueHead(64)

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        body = self.body(torch.cat([observation[name].flatten(1) for name in self.names], 1)).relu()
        return self.actor(body), self.value(body)


def tiny_network(rollout: Rollout, seed: int = 0) -> Tiny:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Tiny(Config(), rollout.shapes, rollout.actions)


def tiny_ppo(world, config: PpoConfig, seed: int = 0) -> Ppo:
    rollout = Rollout(side_by_side(world, config.num_envs), config.gamma)
    return Ppo(config, tiny_network(rollout, seed), rollout, seed, CPU)
