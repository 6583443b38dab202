"""TopDRL's multi-branch CNN, which picks a job (Ayadi et al., JPDC 204:105138, 2025; ``docs/papers/topdrl.md``
§4).

Each image has a branch Conv 3x3 - ReLU - Conv 3x3 - ReLU - Dense, the vector of jobs a Dense; what they say goes
together through one Dense to the actions and the value. The branches are ours, for the abstract lists none.

Ours besides: a job means the same whichever slot of the queue it is in, so one small net, shared by all slots, judges
the job in each, knowing what the body says of the cluster; a slot's logit is the sum of this and of the body's own.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from pointsman.errors import UsageError
from pointsman.learn.config import Config, parameter
from pointsman.learn.networks.actor_critic import ActorCritic, Observation, ValueHead, scaled, widths
from pointsman.learn.networks.shapes import Shapes

IMAGES = ("cluster", "queue", "topology")
GAIN = 2.0**0.5
"""The gain of weights before a ReLU."""


class TopDrlConfig(Config):
    """Which branches there are, and how wide."""

    cluster: bool = parameter(True, "A branch for the image of the GPUs' future.", source="paper")
    queue: bool = parameter(True, "A branch for the image of the waiting jobs.", source="paper")
    topology: bool = parameter(True, "A branch for the image of what is free where.")
    jobs: bool = parameter(True, "A branch for the vector of the jobs, and of the backlog behind them.")
    shared: bool = parameter(True, "Judge the job in each slot by weights shared by all slots.")
    first_filters: int = parameter(16, "Filters of the first convolution of a branch.", ge=1, le=256)
    second_filters: int = parameter(32, "Filters of the second.", ge=1, le=256)
    stride: int = parameter(2, "Of both convolutions; 1 sees more and costs ten times as much.", ge=1, le=4)
    image_width: int = parameter(128, "Outputs of an image's branch.", ge=1, le=2048)
    vector_width: int = parameter(64, "Outputs of the vector's branch, and width of the shared net.", ge=1, le=2048)
    body_width: int = parameter(256, "Outputs of the layer that joins the branches.", ge=1, le=2048)


class TopDrlNetwork(ActorCritic):
    """Branches, a body, actor and critic."""

    Config = TopDrlConfig
    inputs: ClassVar[tuple[str, ...]] = (*IMAGES, "jobs", "globals")

    def __init__(self, config: TopDrlConfig, shapes: Shapes, actions: int) -> None:
        super().__init__()
        sizes = widths(shapes, self.inputs)
        slots, features = shapes["jobs"]
        if slots != actions - 1:
            raise UsageError(f"topdrl picks one of the {slots} jobs it sees, or waits: not one of {actions} actions")
        self.shown = tuple(image for image in IMAGES if getattr(config, image))
        self.images = nn.ModuleDict({image: _image_branch(config, shapes[image]) for image in self.shown})
        self.vector = None
        if config.jobs:
            self.vector = scaled(nn.Linear(sizes["jobs"] + sizes["globals"], config.vector_width), GAIN)
        joined = len(self.shown) * config.image_width + config.jobs * config.vector_width
        if not joined:
            raise UsageError("topdrl needs at least one branch: cluster, queue, topology or jobs")
        self.body = nn.Sequential(scaled(nn.Linear(joined, config.body_width), GAIN), nn.ReLU())
        self.actor = scaled(nn.Linear(config.body_width, actions), 0.01)
        self.value = ValueHead(config.body_width)
        self.judge = _Judge(config, features) if config.shared else None
        self.images.to(memory_format=torch.channels_last)  # ty: ignore
        # a fifth quicker on CPUs

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        parts = [self.images[image](observation[image].unsqueeze(1)) for image in self.shown]
        if self.vector is not None:
            numbers = [observation["jobs"].flatten(1), observation["globals"].flatten(1)]
            parts.append(self.vector(torch.cat(numbers, 1)).relu())
        body = self.body(torch.cat(parts, 1))
        logits = self.actor(body)
        if self.judge is not None:
            logits = logits + nn.functional.pad(self.judge(observation["jobs"], body), (0, 1))
        return logits, self.value(body)


def _image_branch(config: TopDrlConfig, shape: tuple[int, ...]) -> nn.Sequential:
    rows, columns = shape
    for _ in range(2):
        rows, columns = (-(-n // config.stride) for n in (rows, columns))
    return nn.Sequential(
        scaled(nn.Conv2d(1, config.first_filters, 3, config.stride, padding=1), GAIN),
        nn.ReLU(),
        scaled(nn.Conv2d(config.first_filters, config.second_filters, 3, config.stride, padding=1), GAIN),
        nn.ReLU(),
        nn.Flatten(),
        scaled(nn.Linear(config.second_filters * rows * columns, config.image_width), GAIN),
        nn.ReLU(),
    )


class _Judge(nn.Module):
    """What the job in a slot deserves, given what the body says: the same weights for every slot."""

    def __init__(self, config: TopDrlConfig, features: int) -> None:
        super().__init__()
        self.job = scaled(nn.Linear(features, config.vector_width), GAIN)
        self.context = scaled(nn.Linear(config.body_width, config.vector_width), 1.0)
        self.score = scaled(nn.Linear(config.vector_width, 1), 0.01)

    def forward(self, jobs: Tensor, body: Tensor) -> Tensor:
        """(B, slots) of jobs (B, slots, features) and the body (B, width)."""
        return self.score((self.job(jobs) + self.context(body).unsqueeze(1)).relu()).squeeze(-1)
