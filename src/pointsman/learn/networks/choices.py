"""A network that judges the candidate placements of a gang, to forward it, and to wait, by their features alone.

A choice's logit is what a perceptron says of it; the choice of the linear `scorer` has a bonus, so that another is
taken only if it seems better by more than that. The network begins as `scorer`. There is no critic: what choices are
worth the simulator itself tells in training (`learn.algorithms.counterfactual`).
"""

from itertools import pairwise
from typing import Any, ClassVar

import torch
from pydantic import field_validator
from torch import Tensor, nn

from pointsman.learn.config import Config, parameter
from pointsman.learn.networks.actor_critic import ActorCritic, Observation, scaled, widths
from pointsman.learn.networks.graph_encoder import Width
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


class ChoicesConfig(Config):
    """How wide it is, and what it starts from."""

    head: tuple[Width, ...] = parameter((64, 64), "Widths of the perceptron that judges.", min_length=1)
    weights: tuple[float, ...] = parameter(
        shipped.COSTS, "Weights of the scorer whose choices it mends.", min_length=COSTS, max_length=COSTS
    )
    caution: float = parameter(
        0.5, "By how much another choice must seem better than the scorer's, in mean differences of choices.", ge=0
    )

    @field_validator("head", "weights", mode="before")
    @classmethod
    def _may_be_text(cls, value: Any) -> Any:
        """As in ``--set marl.head=128,64``, or a single number."""
        if isinstance(value, str):
            return value.split(",")
        return [value] if isinstance(value, int | float) else value


class ChoicesNetwork(ActorCritic):
    """The judge of candidates, forwarding and waiting."""

    Config = ChoicesConfig
    inputs: ClassVar[tuple[str, ...]] = ("job", "owner", "candidates", "schedulers")
    weights: Tensor
    """The weights of the scorer."""

    def __init__(self, config: ChoicesConfig, shapes: Shapes, actions: int) -> None:
        super().__init__()
        widths(shapes, self.inputs)
        self.config = config
        self._begin(shapes)
        self._judge(shapes)
        self.register_buffer("weights", torch.tensor(config.weights))

    def _begin(self, shapes: Shapes) -> None:
        """Make what comes before the judge; first weights are drawn in this order."""

    def _judge(self, shapes: Shapes) -> None:
        """Make the judge."""
        job, own, part = shapes["job"][-1], shapes["candidates"][-1], shapes["schedulers"][-1]
        self.told = perceptron(job + 2 * part + 2 * own + CHOICES, self.config.head, 1)

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        costs = self._costs(observation["candidates"])
        return self._add_caution(observation, costs, self._by_features(observation, costs))

    def _add_caution(self, observation: Observation, costs: Tensor, judged: Tensor) -> tuple[Tensor, Tensor]:
        """With the bonus of the scorer's choice."""
        usual = nn.functional.one_hot(_usual(observation, costs), judged.shape[1])
        logits = judged + self.config.caution * usual
        return logits, logits.new_zeros(len(logits))

    def _by_features(self, observation: Observation, costs: Tensor) -> Tensor:
        """(B, actions) what a perceptron says that sees no graph: of the job, the queues, the cheapest candidate, and
        the choice itself.
        """
        candidates, schedulers = observation["candidates"], observation["schedulers"]
        cheapest = of_rows(cheapest_of(costs), candidates)
        queues = [of_rows(observation["owner"], schedulers), schedulers.mean(1)]
        choices = of_choices(candidates)
        context = torch.cat([observation["job"], *queues, cheapest], -1)
        return self.told(torch.cat([beside(context, choices), choices], -1)).squeeze(-1)

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


def of_choices(candidates: Tensor) -> Tensor:
    """(B, actions, width + CHOICES) `candidates` (B, K, width), nothing for the other two, and the kind of each."""
    kinds = torch.eye(CHOICES, device=candidates.device)[[0] * candidates.shape[1] + [1, 2]]
    return torch.cat([nn.functional.pad(candidates, (0, 0, 0, 2)), kinds.expand(len(candidates), -1, -1)], -1)


def perceptron(inputs: int, widths: tuple[int, ...], outputs: int) -> nn.Sequential:
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


def cheapest_of(costs: Tensor) -> Tensor:
    """(B, candidates) 1 for the cheapest, 0 for the others, and for all where there is none."""
    best = nn.functional.one_hot(costs.argmin(-1), costs.shape[1]).to(costs.dtype)
    return best * (costs.amin(-1, keepdim=True) < torch.inf)


def of_rows(shares: Tensor, rows: Tensor) -> Tensor:
    """(B, width) the sum of `rows` (B, K, width) by `shares` (B, K)."""
    return torch.einsum("bk,bkd->bd", shares, rows)


def beside(context: Tensor, places: Tensor) -> Tensor:
    """`context` (B, width) repeated for each place (B, K, ...)."""
    return context.unsqueeze(1).expand(-1, places.shape[1], -1)
