"""MARL's network: a two-level graph network judges the candidate placements of a gang (Zhao and Wu, IEEE TNSM 2022;
``docs/papers/marl.md`` §5).

The lower level passes messages inside each node, the upper one between nodes, switches and schedulers. A candidate's
logit is that of the linear `scorer` plus what a perceptron says of the nodes it touches, the job and its scheduler. The
actor reads only what its scheduler knows; the critic, used in training alone, reads all schedulers.
"""

from itertools import pairwise
from typing import Any, ClassVar

import torch
from pydantic import field_validator
from torch import Tensor, nn

from pointsman.cluster.cluster import Cluster
from pointsman.engine.setup.schedulers import scheduler_of_nodes
from pointsman.learn.config import Config, parameter
from pointsman.learn.networks.actor_critic import ActorCritic, Observation, ValueHead, scaled, widths
from pointsman.learn.networks.cluster_graphs import EDGE_FEATURES, KINDS, PARTS, ClusterGraphs, graphs_of
from pointsman.learn.networks.message_passing import GAIN, MessagePassing
from pointsman.learn.networks.shapes import Shapes
from pointsman.policies.placers.candidates import weights as shipped

COSTS = 6
"""The first features of a candidate are those of the scorer, told as x / (1 + x)."""
IMPATIENT = 6
"""Its next says whether it is scattered while the job has patience left."""
FORWARD, WAIT = -2, -1
"""The last actions."""


class MarlConfig(Config):
    """How wide it is, and what it starts from."""

    graph: bool = parameter(True, "Pass messages; without, nodes are judged by their own features alone.")
    inside_width: int = parameter(32, "Width of the layers inside nodes.", ge=1, le=512)
    inside_layers: int = parameter(2, "Layers inside nodes.", ge=1, le=8)
    among_width: int = parameter(64, "Width of the layers between nodes, switches and schedulers.", ge=1, le=512)
    among_layers: int = parameter(3, "Layers between them.", ge=1, le=8)
    head: tuple[int, ...] = parameter((128, 64), "Widths of the perceptrons that judge.", min_length=1)
    weights: tuple[float, ...] = parameter(
        shipped.COSTS,
        "Weights of the scorer to start from; zeros: from nothing.",
        min_length=COSTS,
        max_length=COSTS,
    )
    sharpness: float = parameter(10.0, "Logits for a cost of 1, at the start.", ge=0, le=1000)
    margin: float = parameter(3.0, "Logits between waiting and the best candidate, at the start.", ge=0, le=100)

    @field_validator("head", "weights", mode="before")
    @classmethod
    def _may_be_text(cls, value: Any) -> Any:
        """As in ``--set marl.head=128,64``."""
        return value.split(",") if isinstance(value, str) else value


class MarlNetwork(ActorCritic):
    """Both levels, the judges of candidates, forwarding and waiting, and a critic."""

    Config = MarlConfig
    inputs: ClassVar[tuple[str, ...]] = ("job", "owner", "candidates", "touched", "gpus", "nodes", "schedulers")
    graphs: ClusterGraphs
    """Of the cluster it works on."""

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
        told, place = wide + shapes["job"][-1], wide + shapes["candidates"][-1]
        self.candidate = _perceptron(told + 2 * place, config.head, 1)
        self.instead = _perceptron(told + wide + place, config.head, 2)
        self.critic = _perceptron(told + wide, config.head[:-1], config.head[-1])
        self.value = ValueHead(config.head[-1])
        self.costs = nn.Parameter(config.sharpness * torch.tensor(config.weights))

    def on_cluster(self, cluster: Cluster, schedulers: int) -> None:
        self.graphs = graphs_of(cluster, scheduler_of_nodes(cluster.layout(), schedulers))

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        nodes, schedulers = self._embed(observation)
        job, owner, start = observation["job"], observation["owner"], self._start(observation["candidates"])
        context = torch.cat([torch.einsum("bp,bpd->bd", owner, schedulers), job], -1)
        touched = observation["touched"]
        nodes_of = touched @ nodes / touched.sum(-1, keepdim=True).clamp(min=1e-6)
        places = torch.cat([nodes_of, observation["candidates"]], -1)
        best = torch.einsum("bk,bkd->bd", start[:, :FORWARD].softmax(-1), places)
        judged = torch.cat([places, _beside(torch.cat([best, context], -1), places)], -1)
        logits = start + nn.functional.pad(self.candidate(judged).squeeze(-1), (0, 2))
        owned = owner[:, self.graphs.owner]
        part = torch.einsum("bm,bmd->bd", owned, nodes) / owned.sum(-1, keepdim=True).clamp(min=1.0)
        instead = self.instead(torch.cat([part, best, context], -1))
        logits = logits + nn.functional.pad(instead, (logits.shape[1] - 2, 0))
        return logits, self.value(self.critic(torch.cat([nodes.mean(1), schedulers.mean(1), job], -1)).relu())

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

    def _start(self, candidates: Tensor) -> Tensor:
        """(B, actions) the logits of the scorer with its patience: what the network says before it has learnt."""
        margin = self.config.margin
        told = candidates[..., :COSTS].clamp(max=0.999)
        scattered = candidates[..., IMPATIENT]
        costs = (told / (1.0 - told)) @ self.costs
        there = candidates.abs().sum(-1) > 0
        logits = torch.where(there, -costs - 2 * margin * scattered, -1e6)
        best = logits.amax(-1)
        patient = (scattered >= there.float()).all(-1)
        wait = torch.where(there.any(-1), best + margin * (2 * patient.float() - 1), 0.0)
        forward = torch.where(there.any(-1), best + margin * (3 * patient.float() - 1), margin)  # sooner than wait
        return torch.cat([logits, forward.unsqueeze(-1), wait.unsqueeze(-1)], -1)


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
        layers += [scaled(nn.Linear(a, b), GAIN), nn.ReLU()]
    return nn.Sequential(*layers, scaled(nn.Linear((inputs, *widths)[-1], outputs), 0.0))


def _beside(context: Tensor, places: Tensor) -> Tensor:
    """`context` (B, width) repeated for each place (B, K, ...)."""
    return context.unsqueeze(1).expand(-1, places.shape[1], -1)
