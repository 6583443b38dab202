"""Proximity-DRL's network, which picks a GPU (Deng et al., Canadian AI 2024): 128-256-256, and 512 for each head."""

from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn

from pointsman.learn.config import Config, parameter
from pointsman.learn.networks.actor_critic import ActorCritic, Observation, ValueHead, scaled, widths
from pointsman.learn.networks.shapes import Shapes

GAIN = 2.0**0.5


class ProximityConfig(Config):
    """How wide it is."""

    body: tuple[int, ...] = parameter(
        (128, 256, 256), "Widths of the layers of the body.", source="paper", min_length=1
    )
    head: int = parameter(512, "Width of the layer of the actor, and of the critic.", source="paper", ge=1, le=2048)


class ProximityNetwork(ActorCritic):
    """All that is observed, flattened, through a perceptron."""

    Config = ProximityConfig
    inputs: ClassVar[tuple[str, ...]] = ()
    """All there are."""

    def __init__(self, config: ProximityConfig, shapes: Shapes, actions: int) -> None:
        super().__init__()
        self.names = tuple(sorted(shapes))
        wide = [sum(widths(shapes, self.names).values()), *config.body]
        self.body = nn.Sequential(*(_dense(a, b) for a, b in pairwise(wide)))
        self.actor = nn.Sequential(_dense(wide[-1], config.head), scaled(nn.Linear(config.head, actions), 0.01))
        self.critic = _dense(wide[-1], config.head)
        self.value = ValueHead(config.head)

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        body = self.body(torch.cat([observation[name].flatten(1) for name in self.names], 1))
        return self.actor(body), self.value(self.critic(body))


def _dense(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(scaled(nn.Linear(inputs, outputs), GAIN), nn.ReLU())
