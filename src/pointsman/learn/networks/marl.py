"""MARL's network: a two-level graph network judges the candidate placements of a gang (Zhao and Wu, IEEE TNSM 2022;
``docs/papers/marl.md`` §5).

The lower level passes messages inside each node, the upper one between nodes, switches and schedulers. A choice's logit
is the sum of what two perceptrons say, one of the nodes it touches, one of its features; the choice of the linear
`scorer` has a bonus, so that another is taken only if it seems better by more than that. There is no critic: what
choices are worth the simulator itself tells in training (`learn.algorithms.counterfactual`).
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from pointsman.cluster.cluster import Cluster
from pointsman.engine.setup.schedulers import scheduler_of_nodes
from pointsman.learn.config import parameter
from pointsman.learn.networks.actor_critic import Observation, scaled
from pointsman.learn.networks.choices import ChoicesConfig, ChoicesNetwork, Width, beside, of_rows, perceptron
from pointsman.learn.networks.cluster_graphs import EDGE_FEATURES, KINDS, PARTS, ClusterGraphs, graphs_of
from pointsman.learn.networks.message_passing import GAIN, MessagePassing
from pointsman.learn.networks.shapes import Shapes


class MarlConfig(ChoicesConfig):
    """Besides, how wide the levels of the graph are."""

    graph: bool = parameter(True, "Pass messages; without, nodes are judged by their own features alone.")
    inside_width: int = parameter(16, "Width of the layers inside nodes.", ge=1, le=512)
    inside_layers: int = parameter(1, "Layers inside nodes.", ge=1, le=8)
    among_width: int = parameter(32, "Width of the layers between nodes, switches and schedulers.", ge=1, le=512)
    among_layers: int = parameter(2, "Layers between them.", ge=1, le=8)
    head: tuple[Width, ...] = parameter((128, 64), "Widths of the perceptrons that judge.", min_length=1)


class MarlNetwork(ChoicesNetwork):
    """Both levels, and the judges of candidates, forwarding and waiting."""

    Config = MarlConfig
    inputs: ClassVar[tuple[str, ...]] = ("job", "owner", "candidates", "touched", "gpus", "nodes", "schedulers")
    config: MarlConfig
    graphs: ClusterGraphs
    """Of the cluster it works on."""

    def __init__(self, config: MarlConfig, shapes: Shapes, actions: int) -> None:
        super().__init__(config, shapes, actions)
        wide = config.among_width
        self.candidate = perceptron(shapes["job"][-1] + 2 * wide, config.head, 1)
        self.instead = perceptron(shapes["job"][-1] + 2 * wide, config.head, 2)

    def _begin(self, shapes: Shapes) -> None:
        config, wide = self.config, self.config.among_width
        self.inside = _Inside(config, shapes["gpus"][-1])
        self.node = scaled(nn.Linear(2 * config.inside_width + shapes["nodes"][-1], wide), GAIN)
        self.scheduler = scaled(nn.Linear(shapes["schedulers"][-1], wide), GAIN)
        self.kind = nn.Embedding(KINDS, wide)
        layers = config.among_layers if config.graph else 0
        self.among = nn.ModuleList(MessagePassing(wide, EDGE_FEATURES, wide) for _ in range(layers))

    def on_cluster(self, cluster: Cluster, schedulers: int) -> None:
        self.graphs = graphs_of(cluster, scheduler_of_nodes(cluster.layout(), schedulers))

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        nodes, schedulers = self._embed(observation)
        owner, touched = observation["owner"], observation["touched"]
        context = torch.cat([observation["job"], of_rows(owner, schedulers)], -1)
        places = touched @ nodes / touched.sum(-1, keepdim=True).clamp(min=1e-6)
        candidates = self.candidate(torch.cat([places, beside(context, places)], -1)).squeeze(-1)
        owned = owner[:, self.graphs.owner]
        part = of_rows(owned, nodes) / owned.sum(-1, keepdim=True).clamp(min=1.0)
        instead = self.instead(torch.cat([part, context], -1))
        costs = self._costs(observation["candidates"])
        judged = self._by_features(observation, costs) + torch.cat([candidates, instead], -1)
        return self._biased(observation, costs, judged)

    def _embed(self, observation: Observation) -> tuple[Tensor, Tensor]:
        """Of the nodes (B, M, width) and of the schedulers (B, P, width)."""
        graphs, inside = self.graphs, self.inside(observation["gpus"], self.graphs)
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

    def __init__(self, config: MarlConfig, features: int) -> None:
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
