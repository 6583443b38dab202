"""DeepRM's network: one small hidden layer over the images (Mao et al., HotNets 2016, §4.1)."""

from typing import ClassVar

import torch
from torch import Tensor, nn

from pointsman.learn.config import Config, parameter
from pointsman.learn.networks.actor_critic import ActorCritic, Observation, ValueHead, scaled, widths
from pointsman.learn.networks.shapes import Shapes


class DeepRmConfig(Config):
    """How wide it is."""

    hidden: int = parameter(20, "Neurons of the hidden layer.", source="paper", ge=1, le=2048)


class DeepRmNetwork(ActorCritic):
    """Images of the cluster and the queue, and the backlog, flattened to one hidden layer."""

    Config = DeepRmConfig
    inputs: ClassVar[tuple[str, ...]] = ("cluster", "queue", "globals")

    def __init__(self, config: DeepRmConfig, shapes: Shapes, actions: int) -> None:
        super().__init__()
        wide = sum(widths(shapes, self.inputs).values())
        self.body = nn.Sequential(scaled(nn.Linear(wide, config.hidden), 2.0**0.5), nn.ReLU())
        self.actor = scaled(nn.Linear(config.hidden, actions), 0.01)
        self.value = ValueHead(config.hidden)

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        body = self.body(torch.cat([observation[name].flatten(1) for name in self.inputs], 1))
        return self.actor(body), self.value(body)
