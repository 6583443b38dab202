"""The two-level graph network of MARL (Zhao and Wu, IEEE TNSM 2022; ``docs/papers/marl.md`` §5): messages are passed
inside each node, then between nodes, switches and schedulers.
"""

from typing import Annotated, ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from pointsman.learn.config import Config, parameter
from pointsman.learn.networks.actor_critic import Observation, scaled
from pointsman.learn.networks.cluster_graphs import EDGE_FEATURES, KINDS, PARTS, ClusterGraphs
from pointsman.learn.networks.message_passing import GAIN, Mapped, MessagePassing
from pointsman.learn.networks.shapes import Shapes

Width = Annotated[int, Field(ge=1, le=4096)]
"""The width of a layer."""


class GraphConfig(Config):
    """How wide the levels are."""

    graph: bool = parameter(True, "Pass messages; without, nodes are judged by their own features alone.")
    inside_width: int = parameter(16, "Width of the layers inside nodes.", ge=1, le=512)
    inside_layers: int = parameter(1, "Layers inside nodes.", ge=1, le=8)
    among_width: int = parameter(32, "Width of the layers between nodes, switches and schedulers.", ge=1, le=512)
    among_layers: int = parameter(2, "Layers between them.", ge=1, le=8)


class OnGraphs(nn.Module):
    """A network that works on the graphs of a cluster, which go with it to another device."""

    inputs: ClassVar[tuple[str, ...]] = ("job", "owner", "candidates", "touched", "gpus", "nodes", "schedulers")
    graphs: ClusterGraphs
    """The graphs of the cluster it works on."""

    def _apply(self, fn: Mapped, recurse: bool = True) -> "OnGraphs":
        super()._apply(fn, recurse)
        if hasattr(self, "graphs"):
            self.graphs = self.graphs.mapped(fn)
        return self


class GraphEncoder(nn.Module):
    """What nodes and schedulers are like, from what is on their GPUs and in their queues."""

    def __init__(self, config: GraphConfig, shapes: Shapes) -> None:
        super().__init__()
        wide = config.among_width
        self.inside = _Inside(config, shapes["gpus"][-1])
        self.node = scaled(nn.Linear(2 * config.inside_width + shapes["nodes"][-1], wide), GAIN)
        self.scheduler = scaled(nn.Linear(shapes["schedulers"][-1], wide), GAIN)
        self.kind = nn.Embedding(KINDS, wide)
        layers = config.among_layers if config.graph else 0
        self.among = nn.ModuleList(MessagePassing(wide, EDGE_FEATURES, wide) for _ in range(layers))

    def forward(self, observation: Observation, graphs: ClusterGraphs) -> tuple[Tensor, Tensor]:
        """Encodes the nodes (B, M, width) and the schedulers (B, P, width) of these graphs."""
        inside = self.inside(observation["gpus"], graphs)
        many = inside.shape[1]
        nodes = self.node(torch.cat([inside, observation["nodes"]], -1))
        schedulers = self.scheduler(observation["schedulers"])
        switches = nodes.new_zeros(1, 1, 1).expand(
            len(nodes), len(graphs.kinds) - many - schedulers.shape[1], nodes.shape[2]
        )
        h = (torch.cat([nodes, switches, schedulers], 1) + self.kind(graphs.kinds)).relu()
        for layer in self.among:
            h = h + layer(h, graphs.among)
        return h[:, :many], h[:, len(graphs.kinds) - schedulers.shape[1] :]


class _Inside(nn.Module):
    """The lower level: messages between the parts of a node, and what its GPUs come to say."""

    def __init__(self, config: GraphConfig, features: int) -> None:
        super().__init__()
        wide = config.inside_width
        self.gpu = scaled(nn.Linear(features, wide), GAIN)
        self.part = nn.Embedding(PARTS, wide)
        layers = config.inside_layers if config.graph else 0
        self.layers = nn.ModuleList(MessagePassing(wide, EDGE_FEATURES, wide) for _ in range(layers))

    def forward(self, gpus: Tensor, graphs: ClusterGraphs) -> Tensor:
        """(B, M, 2 width) mean and maximum over the GPUs (B, G, features) of each node."""
        batch, many = gpus.shape[:2]
        h = self.part(graphs.parts).expand(batch, -1, -1)
        h = torch.cat([(h[:, :many] + self.gpu(gpus)), h[:, many:]], 1).relu()
        for layer in self.layers:
            h = h + layer(h, graphs.inside)
        h, node_of = h[:, :many], graphs.node_of[:many]
        empty = h.new_zeros(batch, len(graphs.gpus), h.shape[2])
        means = empty.index_add(1, node_of, h) / graphs.gpus.unsqueeze(-1)
        most = empty.scatter_reduce(1, node_of.view(1, -1, 1).expand_as(h), h, "amax")  # of numbers from 0
        return torch.cat([means, most], -1)
