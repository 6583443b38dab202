"""What every network is: logits of the actions and the value of the state, from one body."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import ClassVar, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pointsman.cluster.cluster import Cluster
from pointsman.errors import UsageError
from pointsman.learn.config import Config
from pointsman.learn.networks.shapes import Shapes

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)
Observation = Mapping[str, Tensor]
"""By name, float32 (B, ...)."""


class ActorCritic(nn.Module):
    """A body of its own, an actor and a `ValueHead`."""

    Config: ClassVar[type[Config]]
    inputs: ClassVar[tuple[str, ...]]
    """Parts of the observation that it looks at."""
    value: "ValueHead"

    def on_cluster(self, cluster: Cluster, schedulers: int) -> None:
        """Be told of the cluster that it works on from now on, which `schedulers` schedulers share."""

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        """Logits (B, actions), before any mask, and normalised values (B,)."""
        raise NotImplementedError

    def best(self, logits: NDArray[np.float32]) -> int:
        """What it does in use, by its logits of the actions; -inf where a mask forbids one."""
        return int(logits.argmax())


class ValueHead(nn.Module):
    """V(s) in standard deviations of the returns seen so far, so that no reward needs a scale of its own.

    When their scale moves, the weights move with it, and what the head says stays (PopArt; van Hasselt et al., 2016).
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.linear = scaled(nn.Linear(inputs, 1), 1.0)
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("deviation", torch.ones(()))

    def forward(self, features: Tensor) -> Tensor:
        return self.linear(features).squeeze(-1)

    def returns(self, values: Tensor) -> Tensor:
        """Normalised values as discounted returns, in units of the reward."""
        return values * self.deviation + self.mean

    def normalised(self, returns: Tensor) -> Tensor:
        """The inverse of `returns`."""
        return (returns - self.mean) / self.deviation

    @torch.no_grad()
    def rescale(self, mean: Tensor, deviation: Tensor) -> None:
        """Count in these units from now on; every value in units of the reward stays what it is."""
        ratio = self.deviation / deviation
        self.linear.weight.mul_(ratio)
        self.linear.bias.mul_(ratio).add_((self.mean - mean) / deviation)
        self.mean.copy_(mean)
        self.deviation.copy_(deviation)


def scaled(layer: Layer, gain: float) -> Layer:
    """`layer` with orthogonal weights of this gain, and a bias of 0 if it has any."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def hidden_layers(sizes: Sequence[int]) -> nn.Sequential:
    """Layers of these widths, the first that of the input, each with a ReLU."""
    layers = [scaled(nn.Linear(a, b), 2**0.5) for a, b in pairwise(sizes)]
    return nn.Sequential(*(module for layer in layers for module in (layer, nn.ReLU())))


def widths(shapes: Shapes, names: tuple[str, ...]) -> dict[str, int]:
    """How many numbers each of these parts of an observation has.

    Raises:
        UsageError: the observation lacks one.
    """
    for name in names:
        if name not in shapes:
            raise UsageError(f"the network needs {name!r} in the observation, which has only {', '.join(shapes)}")
    return {name: torch.Size(shapes[name]).numel() for name in names}
