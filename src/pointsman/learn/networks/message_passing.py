"""Message passing on a fixed graph, in plain PyTorch: the layer of MARL's graph networks (``docs/papers/marl.md`` §5).

h'_v = ReLU(W0 h_v + mean over the edges u -> v of W1 [h_u, e_uv])
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pointsman.learn.networks.actor_critic import scaled

GAIN = 2.0**0.5
"""The gain of weights before a ReLU."""


Mapped = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Edges:
    """The edges into each of V vertices."""

    average: Tensor
    """(V, V) sparse: row v has 1 / (its edges) in the column of each vertex that has an edge to v."""
    features: Tensor
    """(V, K) the mean of the features of the edges into each vertex; 0 where there are none."""

    def mapped(self, to: Mapped) -> "Edges":
        """Copies the edges to another device, or converts them to another type."""
        return Edges(to(self.average), to(self.features))


def both_ways(links: NDArray[np.int64], features: NDArray[np.float64], vertices: int) -> Edges:
    """The edges of undirected `links` (L, 2) with `features` (L, K) between `vertices` vertices."""
    ends = np.concatenate([links, links[:, ::-1]])
    many = np.bincount(ends[:, 1], minlength=vertices)
    shares = 1.0 / np.maximum(many, 1)
    means = np.zeros((vertices, features.shape[1]))
    np.add.at(means, ends[:, 1], np.concatenate([features, features]))
    average = torch.sparse_coo_tensor(
        torch.from_numpy(ends[:, ::-1].T.copy()),
        torch.from_numpy(shares[ends[:, 1]].astype(np.float32)),
        (vertices, vertices),
        check_invariants=True,
    )
    return Edges(average.coalesce(), torch.from_numpy((means * shares[:, None]).astype(np.float32)))


class MessagePassing(nn.Module):
    """One layer. The mean of W1 [h_u, e_uv] is taken before the weights, for they are the same for all edges."""

    def __init__(self, inputs: int, edge_features: int, outputs: int) -> None:
        super().__init__()
        self.own = scaled(nn.Linear(inputs, outputs), GAIN)
        self.heard = scaled(nn.Linear(inputs + edge_features, outputs, bias=False), GAIN)

    def forward(self, h: Tensor, edges: Edges) -> Tensor:
        """(B, V, outputs) of vertices (B, V, inputs)."""
        batch, vertices, width = h.shape
        flat = h.transpose(0, 1).reshape(vertices, batch * width)
        means = torch.sparse.mm(edges.average, flat).reshape(vertices, batch, width).transpose(0, 1)
        told = torch.cat([means, edges.features.expand(batch, -1, -1)], -1)
        return (self.own(h) + self.heard(told)).relu()
