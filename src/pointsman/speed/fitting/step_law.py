"""The law of step times on one GPU type, for many measurements at once: the same formulas as `iteration_time_s`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.speed.fitting.measurements import Step
from pointsman.speed.laws.allreduce import Network
from pointsman.speed.laws.step_time import overlapped_s
from pointsman.types import LOCALITIES, Locality

Cards = Literal["node", "gpu"]
"""Whether a node's GPUs share its network card, or each has its own."""


class LinkLaw(NamedTuple):
    """One level of a network."""

    bandwidth_bytes_per_s: float
    """The bandwidth of each GPU inside a node, and of each card between nodes (see `NetworkLaw.cards`)."""
    latency_s: float


@dataclass(frozen=True)
class NetworkLaw:
    """What an all-reduce was found to get; None where no measurement tells."""

    node: LinkLaw | None
    rack: LinkLaw | None
    cards: Cards

    def network(self, smallest: int) -> Network:
        """As `all_reduce_s` wants it, per GPU, for a gang with at least `smallest` GPUs on each node."""
        bandwidth, latency = np.full(LOCALITIES, np.inf), np.zeros(LOCALITIES)
        for level, law, share in ((Locality.NODE, self.node, 1), (Locality.RACK, self.rack, smallest)):
            if law is not None:
                rings = share if self.cards == "node" else 1
                bandwidth[level], latency[level] = law.bandwidth_bytes_per_s / rings, law.latency_s
        return Network(bandwidth, latency)


class ModelLaw(NamedTuple):
    """How one model computes and overlaps on one GPU type."""

    alpha_s: float
    beta_s_per_sample: float
    delta: float


@dataclass(frozen=True)
class PlatformLaw:
    """Everything found of one GPU type."""

    gpu_type: str
    models: Mapping[str, ModelLaw]
    network: NetworkLaw

    def predict_s(self, steps: Sequence[Step]) -> NDArray[np.float64]:
        """(n,) step times; NaN where the model, or a level of the network, is not known."""
        rings = Rings.of(steps, self.network.cards)
        unknown = ModelLaw(np.nan, np.nan, np.nan)
        laws = np.array([self.models.get(step.model, unknown) for step in steps]).reshape(len(steps), 3)
        links = np.array([law or (np.nan, np.nan) for law in (self.network.node, self.network.rack)])
        communication_s = rings.time_s(*(1 / links[:, 0]), *links[:, 1])
        compute_s = laws[:, 0] + laws[:, 1] * np.array([step.batch_per_gpu for step in steps])
        return overlapped_s(compute_s, communication_s, laws[:, 2])


class Rings(NamedTuple):
    """The all-reduce of n gangs, linear in the network: time = bytes / bandwidth + steps · latency, level by level."""

    node_bytes: NDArray[np.float64]
    rack_bytes: NDArray[np.float64]
    node_steps: NDArray[np.float64]
    rack_steps: NDArray[np.float64]

    @staticmethod
    def of(steps: Sequence[Step], cards: Cards) -> "Rings":
        """Derives the rings of each step from its placement and gradient."""
        largest = np.array([step.placement[0] for step in steps], float)
        smallest = np.array([step.placement[-1] for step in steps], float)
        nodes = np.array([len(step.placement) for step in steps], float)
        size = np.array([step.gradient_bytes for step in steps])
        size = np.where((largest == 1) & (nodes == 1), 0.0, size)
        shard = size if cards == "node" else size / smallest  # as many rings as shards, on one card
        node_steps, rack_steps = 2 * (largest - 1), 2 * (nodes - 1)
        return Rings(node_steps / largest * size, rack_steps / nodes * shard, node_steps, rack_steps)

    def time_s(
        self, node_s_per_byte: float, rack_s_per_byte: float, node_s: float, rack_s: float
    ) -> NDArray[np.float64]:
        """(n,) seconds; a level that a gang does not span costs nothing, even if nothing is known of it."""
        node = self.node_bytes * node_s_per_byte + self.node_steps * node_s
        rack = self.rack_bytes * rack_s_per_byte + self.rack_steps * rack_s
        return np.where(self.node_steps > 0, node, 0.0) + np.where(self.rack_steps > 0, rack, 0.0)
