"""MARL's network where choices are tried (ours): a two-level graph network of the whole cluster judges the candidate
placements of a gang (``docs/papers/marl.md`` §5).

A choice's logit is the sum of what two perceptrons say, one of the nodes it touches, one of its features; the choice of
the linear `scorer` has a bonus, so that another is taken only if it seems better by more than that. There is no critic:
what choices are worth the simulator itself tells in training (`learn.algorithms.counterfactual`).
"""

from typing import Literal

import torch
from torch import Tensor

from pointsman.cluster.cluster import Cluster
from pointsman.engine.sdk.environments import scheduler_of_nodes
from pointsman.learn.config import parameter
from pointsman.learn.networks.actor_critic import Observation
from pointsman.learn.networks.choices import ChoicesConfig, ChoicesNetwork, beside, of_rows, perceptron
from pointsman.learn.networks.cluster_graphs import graphs_of
from pointsman.learn.networks.graph_encoder import GraphConfig, GraphEncoder, OnGraphs, Width
from pointsman.learn.networks.shapes import Shapes


class MarlConfig(ChoicesConfig, GraphConfig):
    """Besides, how wide the levels of the graph are."""

    learner: Literal["improvement"] = parameter(
        "improvement", "improvement: choices are tried in copies of the simulation; actor-critic: by rewards."
    )
    head: tuple[Width, ...] = parameter((128, 64), "Widths of the perceptrons that judge.", min_length=1)


class MarlNetwork(OnGraphs, ChoicesNetwork):
    """Both levels, and the judges of candidates, forwarding and waiting."""

    Config = MarlConfig
    config: MarlConfig

    def __init__(self, config: MarlConfig, shapes: Shapes, actions: int) -> None:
        super().__init__(config, shapes, actions)
        wide = config.among_width
        self.candidate = perceptron(shapes["job"][-1] + 2 * wide, config.head, 1)
        self.instead = perceptron(shapes["job"][-1] + 2 * wide, config.head, 2)

    def _begin(self, shapes: Shapes) -> None:
        self.encoder = GraphEncoder(self.config, shapes)

    def on_cluster(self, cluster: Cluster, schedulers: int) -> None:
        self.graphs = graphs_of(cluster, scheduler_of_nodes(cluster.layout(), schedulers))

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        nodes, schedulers = self.encoder(observation, self.graphs)
        owner, touched = observation["owner"], observation["touched"]
        context = torch.cat([observation["job"], of_rows(owner, schedulers)], -1)
        places = places_of(touched, nodes)
        candidates = self.candidate(torch.cat([places, beside(context, places)], -1)).squeeze(-1)
        part = means_of(owner[:, self.graphs.owner], nodes)
        instead = self.instead(torch.cat([part, context], -1))
        costs = self._costs(observation["candidates"])
        judged = self._by_features(observation, costs) + torch.cat([candidates, instead], -1)
        return self._add_caution(observation, costs, judged)


def places_of(touched: Tensor, nodes: Tensor) -> Tensor:
    """(B, K, width) the mean of `nodes` (B, M, width) by the share of each that candidates have `touched` (B, K, M)."""
    return touched @ nodes / touched.sum(-1, keepdim=True).clamp(min=1e-6)


def means_of(shares: Tensor, rows: Tensor) -> Tensor:
    """(B, width) the mean of `rows` (B, K, width) by `shares` (B, K); 0 where there are none."""
    return of_rows(shares, rows) / shares.sum(-1, keepdim=True).clamp(min=1.0)
