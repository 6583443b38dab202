"""MARL as the paper has it (Zhao and Wu, IEEE TNSM 2022): schedulers that learn together by rewards, each by what it
sees of its own racks and what the others send. Found are the agents, the two-level graph network, and that schedulers
exchange embeddings; the rest is ours (``docs/papers/marl.md`` §6).

The graph network sees the racks of each scheduler by themselves: no message crosses from one to another. What a
scheduler sends is a few numbers about its own racks and queue, and each hears the mean of what the others send. All
have the same weights. The critic, which is there in training only, sees what all schedulers see.
"""

from itertools import pairwise
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from pointsman.cluster.cluster import Cluster
from pointsman.engine.setup.schedulers import scheduler_of_nodes
from pointsman.learn.config import parameter
from pointsman.learn.networks.actor_critic import Observation, ValueHead, scaled
from pointsman.learn.networks.choices import (
    CHOICES,
    MAY_FORWARD,
    ChoicesConfig,
    ChoicesNetwork,
    beside,
    cheapest_of,
    of_rows,
    perceptron,
)
from pointsman.learn.networks.cluster_graphs import of_own_racks
from pointsman.learn.networks.graph_encoder import GraphConfig, GraphEncoder, OnGraphs, Width
from pointsman.learn.networks.marl import means_of
from pointsman.learn.networks.message_passing import GAIN
from pointsman.learn.networks.shapes import Shapes

COMPACT_ELSEWHERE = 12
"""The feature of the job that, like `MAY_FORWARD`, says something of other schedulers' racks: no actor sees either."""


class ActorsConfig(ChoicesConfig, GraphConfig):
    """Besides, what schedulers tell each other."""

    learner: Literal["actor-critic"] = parameter(
        "actor-critic", "improvement: choices are tried in copies of the simulation; actor-critic: by rewards."
    )
    head: tuple[Width, ...] = parameter((128, 64), "Widths of the perceptrons that judge.", min_length=1)
    caution: float = parameter(0.0, "By how much the scorer's choice is ahead at first, as a logit.", ge=0)
    message: int = parameter(16, "Numbers that a scheduler sends to the others; 0: none.", ge=0, le=512)


class ActorsNetwork(OnGraphs, ChoicesNetwork):
    """The actor that all schedulers are, and the critic."""

    Config = ActorsConfig
    inputs: ClassVar[tuple[str, ...]] = ("job", "owner", "candidates", "touched", "gpus", "nodes", "schedulers")
    config: ActorsConfig

    def __init__(self, config: ActorsConfig, shapes: Shapes, actions: int) -> None:
        super().__init__(config, shapes, actions)
        wide, job, own = config.among_width, shapes["job"][-1], shapes["candidates"][-1]
        self.encoder = GraphEncoder(config, shapes)
        self.send = scaled(nn.Linear(2 * wide, config.message), 1.0) if config.message else None
        context = job + 2 * wide + config.message + own
        self.told = perceptron(context + wide + own + CHOICES, config.head, 1)
        sizes = job + 3 * wide + own, *config.head
        layers = [scaled(nn.Linear(a, b), GAIN) for a, b in pairwise(sizes)]
        self.critic = nn.Sequential(*(module for layer in layers for module in (layer, nn.ReLU())))
        self.value = ValueHead(sizes[-1])

    def _judge(self, shapes: Shapes) -> None:
        """It has one of its own."""

    def on_cluster(self, cluster: Cluster, schedulers: int) -> None:
        """The graphs are without what joins one scheduler's racks to another's."""
        self.graphs = of_own_racks(cluster, scheduler_of_nodes(cluster.layout(), schedulers))

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        nodes, schedulers, sent = self.sent(observation)
        logits = self.act(observation, nodes, schedulers, sent)
        worth = self._worth(observation, nodes, schedulers) if self.training else logits.new_zeros(len(logits))
        return logits, worth

    def sent(self, observation: Observation) -> tuple[Tensor, Tensor, Tensor]:
        """What each scheduler sees of its own nodes (B, M, width) and of its queue (B, P, width), and what it sends to
        the others (B, P, message).
        """
        nodes, schedulers = self.encoder(observation, self.graphs)
        if self.send is None:
            return nodes, schedulers, schedulers[..., :0]
        shares = nn.functional.one_hot(self.graphs.owner, schedulers.shape[1]).to(nodes.dtype)
        means = torch.einsum("mp,bmd->bpd", shares / shares.sum(0).clamp(min=1.0), nodes)
        return nodes, schedulers, self.send(torch.cat([schedulers, means], -1)).tanh()

    def act(self, observation: Observation, nodes: Tensor, schedulers: Tensor, sent: Tensor) -> Tensor:
        """(B, actions) the logits of the scheduler that the job belongs to: it sees its own part of `nodes` and
        `schedulers`, and the mean of what the others have `sent`.
        """
        owner, touched, candidates = observation["owner"], observation["touched"], observation["candidates"]
        costs = self._costs(candidates)
        job = observation["job"].clone()
        job[:, [COMPACT_ELSEWHERE, MAY_FORWARD]] = 0.0
        mine = means_of(owner[:, self.graphs.owner], nodes)
        others = 1.0 - owner
        cheapest = of_rows(cheapest_of(costs), candidates)
        context = torch.cat([job, mine, of_rows(owner, schedulers), means_of(others, sent), cheapest], -1)
        places = touched @ nodes / touched.sum(-1, keepdim=True).clamp(min=1e-6)
        kinds = torch.eye(CHOICES, device=job.device)[[0] * candidates.shape[1] + [1, 2]]
        own = nn.functional.pad(torch.cat([places, candidates], -1), (0, 0, 0, 2))
        choices = torch.cat([own, kinds.expand(len(job), -1, -1)], -1)
        judged = self.told(torch.cat([beside(context, choices), choices], -1)).squeeze(-1)
        return self._biased(observation, costs, judged)[0]

    def _worth(self, observation: Observation, nodes: Tensor, schedulers: Tensor) -> Tensor:
        """(B,) what the critic, which sees what all see, thinks that the state is worth."""
        seen = [observation["job"], nodes.mean(1), schedulers.mean(1), of_rows(observation["owner"], schedulers)]
        return self.value(self.critic(torch.cat([*seen, observation["candidates"].mean(1)], -1)))
