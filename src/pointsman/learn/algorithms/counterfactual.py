"""Learning what choices are worth by trying them (ours; ``docs/adr/0012-what-a-choice-is-worth.md``).

At some of the decisions several choices are tried in copies of the simulation, which go on as the linear `scorer`
would, with the same jobs to come. The network learns by least squares how much better each is than the scorer's own
choice. Meanwhile it decides itself, so that it learns where its own decisions lead (DAgger; Ross et al., AISTATS 2011).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pointsman.learn.algorithms.masking import NEVER
from pointsman.learn.algorithms.rollout import MASK, Replayed, Rollout, first_seeds, tensors
from pointsman.learn.config import Config, parameter
from pointsman.learn.networks.choices import FORWARD, WAIT, ChoicesNetwork

TRIED = 5
"""Choices of a decision that are tried at most: the scorer's, the network's, to forward, to wait, and any other."""


class CounterfactualConfig(Config):
    """How much is tried, and how it is learnt."""

    num_envs: int = parameter(32, "Environments in step.", ge=1, le=4096)
    decisions: int = parameter(2048, "Decisions at which choices are tried, between two updates.", ge=2, le=1_000_000)
    share: float = parameter(0.4, "Share of the decisions at which choices are tried.", gt=0, le=1)
    reach: float = parameter(1.0, "How far a choice is followed, in mean durations of a job.", gt=0, le=100)
    strays: float = parameter(0.15, "Share of these at which any of what was tried is done.", ge=0, le=1)
    most: float = parameter(8.0, "Differences are cut to this many mean differences.", gt=0)
    gamma: float = parameter(1.0, "Discount of a step, where the environment names none.", gt=0, le=1)
    learning_rate: float = parameter(1e-3, "AdamW's, at the beginning; it falls to 0.", gt=0, le=1)
    epochs: int = parameter(8, "Passes over the decisions of an update.", ge=1, le=100)
    minibatch: int = parameter(64, "Decisions from which a gradient is made.", ge=2, le=1_000_000)
    max_gradient: float = parameter(2.0, "Norm to which gradients are cut.", gt=0, le=1e6)


class Batch:
    """The decisions of one update: what was seen, what was tried (-1: nothing more), and what that is worth."""

    def __init__(self, rollout: Rollout, size: int, names: tuple[str, ...]) -> None:
        self.observations = {name: np.zeros((size, *rollout.shapes[name]), np.float32) for name in names}
        self.tried = np.full((size, TRIED), -1, np.int64)
        self.worth = np.zeros((size, TRIED), np.float32)
        self.environment = np.zeros(size, np.int64)
        self.done = np.zeros(size, np.int64)
        """Which of what was tried was done."""


class Counterfactual(Replayed):
    """A network and its optimiser, learning from environments in step in which choices can be tried."""

    def __init__(
        self, config: CounterfactualConfig, network: ChoicesNetwork, rollout: Rollout, seed: int, device: torch.device
    ) -> None:
        self.config, self.network, self.rollout, self.device = config, network.to(device), rollout, device
        self.names = network.inputs
        self.optimiser = torch.optim.AdamW(network.parameters(), config.learning_rate, fused=True)
        self.generator = torch.Generator().manual_seed(seed)
        self.batch = Batch(rollout, config.decisions, self.names)
        self.weights = np.array(network.config.weights)
        rollout.reset(first_seeds(seed, rollout.size))

    def iterate(self, done: float) -> dict[str, float]:
        """Try choices and learn from them; `done` is the share of the training that is over. Returns metrics."""
        rate = self.config.learning_rate * (1.0 - done)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.try_choices()
        return {"steps": self.config.decisions} | self._learn() | {"learning_rate": rate}

    def try_choices(self) -> None:
        """Fill the batch."""
        self.batch.tried[:] = -1
        found = 0
        while found < self.config.decisions:
            found = self._step(found)

    def _step(self, found: int) -> int:
        """Try choices in some environments, where `found` decisions have been tried before; all do what the network
        says, or now and then another. How many there are now.
        """
        now = self.rollout.now
        masks = np.asarray(now[MASK]) != 0
        logits, usual = self._judge(now, masks)
        actions = logits.argmax(1)
        logits[np.arange(len(usual)), usual] -= self.network.config.caution
        chances = torch.rand(3, len(usual), generator=self.generator).numpy()
        for e in np.flatnonzero(chances[0] < self.config.share):
            choices = choices_of(masks[e], int(usual[e]), int(logits[e].argmax()), float(chances[1, e]))
            if len(choices) < 2 or found == self.config.decisions or self.rollout.begins(e):
                continue
            if chances[2, e] < self.config.strays:
                actions[e] = choices[int(chances[2, e] / self.config.strays * len(choices))]
            self._try(found, int(e), choices, int(actions[e]))
            found += 1
        self.rollout.step(actions)
        return found

    @torch.no_grad()
    def _judge(self, now: Mapping[str, Any], masks: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Logits (N, actions), and what the scorer would do (N,)."""
        seen = tensors(now, self.names, self.device)
        logits, _ = self.network(seen)
        return np.where(masks, logits.cpu().numpy(), NEVER), self.network.usual(seen).cpu().numpy()

    def _try(self, at: int, e: int, choices: list[int], done: int) -> None:
        """Decision `at` of the batch is that of environment `e`."""
        batch = self.batch
        for name, rows in batch.observations.items():
            rows[at] = self.rollout.now[name][e]
        batch.environment[at] = e
        batch.tried[at, : len(choices)] = choices
        batch.worth[at, : len(choices)] = self.rollout.envs.worth(e, choices, self.weights, self.config.reach)
        batch.done[at] = choices.index(done)

    def _learn(self) -> dict[str, float]:
        """Passes over the batch; returns the loss of the first, and what was gained by what was done."""
        batch, config = self.batch, self.config
        gains, targets, there = self._targets()
        told = [self._update(torch.from_numpy(rows), targets, there) for rows in self._minibatches()]
        rows = np.arange(len(gains))
        done = np.where(batch.done > 0, gains[rows, batch.done - 1], 0.0)
        spread = float(targets[there].var())
        loss = float(np.mean(told[: len(told) // config.epochs]))
        return {
            "loss": loss,
            "explained": 1.0 - loss / max(spread, 1e-12),
            "gained": float(done.mean()),
            "other_choices": float((batch.done > 0).mean()),
        }

    def _targets(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Returns for the batch (D, TRIED - 1): how much better than the scorer's choice each other was, the same as it
        is learnt, and whether there was one.
        """
        batch, most = self.batch, self.config.most
        there = batch.tried[:, 1:] >= 0
        gains = np.where(there, batch.worth[:, 1:] - batch.worth[:, :1], 0.0)
        return gains, np.clip(gains / mean_differences(gains, there, batch.environment)[:, None], -most, most), there

    def loss(self) -> Tensor:
        """Mean square error on the whole batch, with its gradient."""
        _, targets, there = self._targets()
        return self._loss(torch.arange(self.config.decisions), targets, there)

    def _minibatches(self) -> list[NDArray[np.int64]]:
        """Draws the minibatches of each pass, in an order of its own."""
        orders = [torch.randperm(self.config.decisions, generator=self.generator) for _ in range(self.config.epochs)]
        return [rows.numpy() for order in orders for rows in order.split(self.config.minibatch)]

    def _update(self, rows: Tensor, targets: NDArray[np.float64], there: NDArray[np.bool_]) -> float:
        """One gradient step; the mean square error before it."""
        loss = self._loss(rows, targets, there)
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config.max_gradient)
        self.optimiser.step()
        return float(loss.detach())

    def _loss(self, rows: Tensor, targets: NDArray[np.float64], there: NDArray[np.bool_]) -> Tensor:
        batch = self.batch
        seen = {name: torch.from_numpy(part[rows]).to(self.device) for name, part in batch.observations.items()}
        logits, _ = self.network(seen)
        of_tried = logits.gather(1, torch.from_numpy(batch.tried[rows]).clamp(min=0).to(self.device))
        better = of_tried[:, 1:] - of_tried[:, :1] + self.network.config.caution
        wrong = (better - torch.from_numpy(targets[rows]).float().to(self.device))[torch.from_numpy(there[rows])]
        return wrong.square().mean()


def mean_differences(
    gains: NDArray[np.float64], there: NDArray[np.bool_], environment: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(D,) the mean size of what choices gain or lose in the environment of each decision: where loads are high it is
    many times as large.
    """
    sums = np.bincount(environment, np.abs(gains).sum(1))
    return np.maximum(1e-9, sums / np.maximum(1, np.bincount(environment, there.sum(1))))[environment]


def choices_of(mask: NDArray[np.bool_], usual: int, best: int, chance: float) -> list[int]:
    """What is tried: the scorer's choice first."""
    many = len(mask)
    wanted = dict.fromkeys((usual, best, many + FORWARD, many + WAIT))
    choices = [a for a in wanted if mask[a] or a == usual]
    others = [a for a in np.flatnonzero(mask[:FORWARD]).tolist() if a not in wanted]
    return choices + ([others[int(chance * len(others))]] if others else [])
