"""MARL's network: a two-level graph network judges the candidate placements of a gang (Zhao and Wu, IEEE TNSM 2022;
``docs/papers/marl.md`` §5).

The lower level passes messages inside each node, the upper one between nodes, switches and schedulers. A choice's logit
is the sum of what two perceptrons say, one of the nodes it touches, one of its features; the choice of the linear
`scorer` has a bonus, so that another is taken only if it seems better by more than that. There is no critic: what
choices are worth the simulator itself tells in training (`learn.algorithms.counterfactual`).
"""

from itertools import pairwise
from typing import Any, ClassVar

import torch
from pydantic import field_validator
from torch import Tensor, nn

from pointsman.cluster.cluster import Cluster
from pointsman.engine.setup.schedulers import scheduler_of_nodes
from pointsman.learn.config import Config, parameter
from pointsman.learn.networks.actor_critic import ActorCritic, Observation, scaled, widths
from pointsman.learn.networks.cluster_graphs import EDGE_FEATURES, KINDS, PARTS, ClusterGraphs, graphs_of
from pointsman.learn.networks.message_passing import GAIN, MessagePassing
from pointsman.learn.networks.shapes import Shapes
from pointsman.policies.placers.candidates import weights as shipped

COSTS = 6
"""The first features of a candidate are those of the scorer, told as x / (1 + x)."""
SCATTERED = 6
"""The next says whether it is scattered while the job has patience left."""
MAY_FORWARD, MAY_WAIT = 13, 14
"""Features of the job."""
FORWARD, WAIT = -2, -1
"""The last actions."""
CHOICES = 3
"""Kinds of them: a candidate, to forward, to wait."""


class MarlConfig(Config):
    """How wide it is, and what it starts from."""

    graph: bool = parameter(True, "Pass messages; without, nodes are judged by their own features alone.")
    inside_width: int = parameter(16, "Width of the layers inside nodes.", ge=1, le=512)
    inside_layers: int = parameter(1, "Layers inside nodes.", ge=1, le=8)
    among_width: int = parameter(32, "Width of the layers between nodes, switches and schedulers.", ge=1, le=512)
    among_layers: int = parameter(2, "Layers between them.", ge=1, le=8)
    head: tuple[int, ...] = parameter((128, 64), "Widths of the perceptrons that judge.", min_length=1)
    weights: tuple[float, ...] = parameter(
        shipped.COSTS, "Weights of the scorer whose choices it mends.", min_length=COSTS, max_length=COSTS
    )
    caution: float = parameter(
        0.5, "By how much another choice must seem better than the scorer's, in mean differences of choices.", ge=0
    )

    @field_validator("head", "weights", mode="before")
    @classmethod
    def _may_be_text(cls, value: Any) -> Any:
        """As in ``--set marl.head=128,64``."""
        return value.split(",") if isinstance(value, str) else value


class MarlNetwork(ActorCritic):
    """Both levels, and the judges of candidates, forwarding and waiting."""

    Config = MarlConfig
    inputs: ClassVar[tuple[str, ...]] = ("job", "owner", "candidates", "touched", "gpus", "nodes", "schedulers")
    graphs: ClusterGraphs
    """Of the cluster it works on."""
    weights: Tensor
    """Of the scorer."""

    def __init__(self, config: MarlConfig, shapes: Shapes, actions: int) -> None:
        super().__init__()
        widths(shapes, self.inputs)
        self.config = config
        wide = config.among_width
        self.inside = _Inside(config, shapes["gpus"][-1])
        self.node = scaled(nn.Linear(2 * config.inside_width + shapes["nodes"][-1], wide), GAIN)
        self.scheduler = scaled(nn.Linear(shapes["schedulers"][-1], wide), GAIN)
        self.kind = nn.Embedding(KINDS, wide)
        layers = config.among_layers if config.graph else 0
        self.among = nn.ModuleList(MessagePassing(wide, EDGE_FEATURES, wide) for _ in range(layers))
        job, own, part = shapes["job"][-1], shapes["candidates"][-1], shapes["schedulers"][-1]
        self.told = _perceptron(job + 2 * part + 2 * own + CHOICES, config.head, 1)
        self.candidate = _perceptron(job + 2 * wide, config.head, 1)
        self.instead = _perceptron(job + 2 * wide, config.head, 2)
        self.register_buffer("weights", torch.tensor(config.weights))

    def on_cluster(self, cluster: Cluster, schedulers: int) -> None:
        self.graphs = graphs_of(cluster, scheduler_of_nodes(cluster.layout(), schedulers))

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        nodes, schedulers = self._embed(observation)
        owner, touched = observation["owner"], observation["touched"]
        context = torch.cat([observation["job"], _of(owner, schedulers)], -1)
        places = touched @ nodes / touched.sum(-1, keepdim=True).clamp(min=1e-6)
        candidates = self.candidate(torch.cat([places, _beside(context, places)], -1)).squeeze(-1)
        owned = owner[:, self.graphs.owner]
        part = _of(owned, nodes) / owned.sum(-1, keepdim=True).clamp(min=1.0)
        instead = self.instead(torch.cat([part, context], -1))
        costs = self._costs(observation["candidates"])
        usual = nn.functional.one_hot(_usual(observation, costs), candidates.shape[1] + 2)
        judged = self._by_features(observation, costs) + torch.cat([candidates, instead], -1)
        logits = judged + self.config.caution * usual
        return logits, logits.new_zeros(len(logits))

    def _by_features(self, observation: Observation, costs: Tensor) -> Tensor:
        """(B, actions) what a perceptron says that sees no graph: of the job, the queues, the cheapest candidate, and
        the choice itself.
        """
        candidates, schedulers = observation["candidates"], observation["schedulers"]
        cheapest = _of(_cheapest(costs), candidates)
        queues = [_of(observation["owner"], schedulers), schedulers.mean(1)]
        kinds = torch.eye(CHOICES, device=candidates.device)[[0] * candidates.shape[1] + [1, 2]]
        choices = torch.cat(
            [nn.functional.pad(candidates, (0, 0, 0, 2)), kinds.expand(len(candidates), -1, -1)],
            -1,
        )
        context = torch.cat([observation["job"], *queues, cheapest], -1)
        return self.told(torch.cat([_beside(context, choices), choices], -1)).squeeze(-1)

    def usual(self, observation: Observation) -> Tensor:
        """(B,) what the scorer would do: the cheapest candidate, while the job is patient of the compact ones; else to
        forward it, or to let it wait, if that may be.
        """
        return _usual(observation, self._costs(observation["candidates"]))

    def _costs(self, candidates: Tensor) -> Tensor:
        """(B, candidates) infinite where there is none."""
        told = candidates[..., :COSTS].clamp(max=0.999)
        costs = (told / (1.0 - told)) @ self.weights
        return torch.where(candidates.abs().sum(-1) > 0, costs, torch.inf)

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


def _perceptron(inputs: int, widths: tuple[int, ...], outputs: int) -> nn.Sequential:
    """Its last layer begins at nothing."""
    layers: list[nn.Module] = []
    for a, b in pairwise((inputs, *widths)):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers, scaled(nn.Linear((inputs, *widths)[-1], outputs), 0.0))


def _usual(observation: Observation, costs: Tensor) -> Tensor:
    """(B,) what the scorer would do where candidates have these costs (B, candidates)."""
    candidates, job = observation["candidates"], observation["job"]
    compact = torch.where(candidates[..., SCATTERED] == 0, costs, torch.inf)
    last = torch.where(job[:, MAY_WAIT] != 0, costs.shape[1] + 1, costs.argmin(-1))
    otherwise = torch.where(job[:, MAY_FORWARD] != 0, costs.shape[1], last)
    return torch.where(compact.amin(-1) < torch.inf, compact.argmin(-1), otherwise)


def _cheapest(costs: Tensor) -> Tensor:
    """(B, candidates) 1 for the cheapest, 0 for the others, and for all where there is none."""
    best = nn.functional.one_hot(costs.argmin(-1), costs.shape[1]).float()
    return best * (costs.amin(-1, keepdim=True) < torch.inf)


def _of(shares: Tensor, rows: Tensor) -> Tensor:
    """(B, width) the sum of `rows` (B, K, width) by `shares` (B, K)."""
    return torch.einsum("bk,bkd->bd", shares, rows)


def _beside(context: Tensor, places: Tensor) -> Tensor:
    """`context` (B, width) repeated for each place (B, K, ...)."""
    return context.unsqueeze(1).expand(-1, places.shape[1], -1)
