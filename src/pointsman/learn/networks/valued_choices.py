"""`choices` with a critic, for algorithms that learn from rewards: what the state is worth, by its features alone."""

import torch
from torch import Tensor

from pointsman.learn.networks.actor_critic import Observation, ValueHead, hidden_layers
from pointsman.learn.networks.choices import ChoicesConfig, ChoicesNetwork, of_rows
from pointsman.learn.networks.shapes import Shapes

CRITIC = "critic", "value"
"""Parts of the network that its actor does without."""


class ValuedChoicesNetwork(ChoicesNetwork):
    """The critic is shown the job, the queues, and the mean of the candidates."""

    def __init__(self, config: ChoicesConfig, shapes: Shapes, actions: int) -> None:
        super().__init__(config, shapes, actions)
        job, own, part = shapes["job"][-1], shapes["candidates"][-1], shapes["schedulers"][-1]
        sizes = job + 2 * part + own, *config.head
        self.critic = hidden_layers(sizes)
        self.value = ValueHead(sizes[-1])

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        logits, _ = super().forward(observation)
        schedulers = observation["schedulers"]
        queues = [of_rows(observation["owner"], schedulers), schedulers.mean(1)]
        seen = torch.cat([observation["job"], *queues, observation["candidates"].mean(1)], -1)
        return logits, self.value(self.critic(seen))

    @property
    def actor(self) -> dict[str, Tensor]:
        """Its weights without those of the critic: those of a `ChoicesNetwork`."""
        return {name: w for name, w in self.state_dict().items() if name.split(".")[0] not in CRITIC}
