"""MARL as the paper has it (Zhao and Wu, IEEE TNSM 2022): schedulers that learn together by rewards, each by what it
sees of its own racks and what the others send. Found are the agents and the two-level graph network; the rest is ours
(``docs/papers/marl.md`` §5).

The graph network sees the racks of each scheduler by themselves: no message crosses from one to another. What a
scheduler sends is a few numbers about its own racks and queue, and each hears the mean of what the others send. All
have the same weights. The critic, which is there in training only, sees what all schedulers see.
"""

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pointsman.cluster.cluster import Cluster
from pointsman.engine.sdk.environments import scheduler_of_nodes
from pointsman.learn.config import parameter
from pointsman.learn.networks.actor_critic import Observation, ValueHead, hidden_layers, scaled
from pointsman.learn.networks.choices import (
    CHOICES,
    FORWARD,
    MAY_FORWARD,
    ChoicesConfig,
    ChoicesNetwork,
    beside,
    cheapest_of,
    of_choices,
    of_rows,
    perceptron,
)
from pointsman.learn.networks.cluster_graphs import of_own_racks
from pointsman.learn.networks.graph_encoder import GraphConfig, GraphEncoder, OnGraphs, Width
from pointsman.learn.networks.marl import means_of, places_of
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
    config: ActorsConfig

    def __init__(self, config: ActorsConfig, shapes: Shapes, actions: int) -> None:
        super().__init__(config, shapes, actions)
        sizes = shapes["job"][-1] + 3 * config.among_width + shapes["candidates"][-1], *config.head
        self.critic = hidden_layers(sizes)
        self.value = ValueHead(sizes[-1])

    def _begin(self, shapes: Shapes) -> None:
        wide, message = self.config.among_width, self.config.message
        self.encoder = GraphEncoder(self.config, shapes)
        self.send = scaled(nn.Linear(2 * wide, message), 1.0) if message else None

    def _judge(self, shapes: Shapes) -> None:
        wide, own = self.config.among_width, shapes["candidates"][-1]
        context = shapes["job"][-1] + 2 * wide + self.config.message + own
        self.told = perceptron(context + wide + own + CHOICES, self.config.head, 1)

    def on_cluster(self, cluster: Cluster, schedulers: int) -> None:
        """The graphs are without what joins one scheduler's racks to another's."""
        self.graphs = of_own_racks(cluster, scheduler_of_nodes(cluster.layout(), schedulers))

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        nodes, schedulers, sent = self.sent(observation)
        logits = self.act(observation, nodes, schedulers, sent)
        worth = self._worth(observation, nodes, schedulers) if self.training else logits.new_zeros(len(logits))
        return logits, worth

    def best(self, logits: NDArray[np.float32]) -> int:
        """The likeliest kind of choice, and of that the likeliest: a job has many places, none of which may be as
        likely as to wait while together they are likelier.
        """
        places = logits[:FORWARD]
        kinds = np.append(np.logaddexp.reduce(places), logits[FORWARD:])
        kind = int(kinds.argmax())
        return len(places) + kind - 1 if kind else int(places.argmax())

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
        choices = of_choices(torch.cat([places_of(touched, nodes), candidates], -1))
        judged = self.told(torch.cat([beside(context, choices), choices], -1)).squeeze(-1)
        return self._add_caution(observation, costs, judged)[0]

    def _worth(self, observation: Observation, nodes: Tensor, schedulers: Tensor) -> Tensor:
        """(B,) what the critic, which sees what all see, thinks that the state is worth."""
        seen = [observation["job"], nodes.mean(1), schedulers.mean(1), of_rows(observation["owner"], schedulers)]
        return self.value(self.critic(torch.cat([*seen, observation["candidates"].mean(1)], -1)))
