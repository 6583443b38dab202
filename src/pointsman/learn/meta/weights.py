"""Weights of the network that are learnt for being adapted: by one regime after another."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import torch
from torch import Tensor

from pointsman.learn.algorithms.adaptation import STEPS, Adaptation
from pointsman.learn.policies.adaptation.meta_network import begun
from pointsman.speed.interference.online.expectations import Method

PART: Final[dict[Method, float]] = {"reptile": 1.0, "fine-tuning": 1.0, "fomaml": 0.003}
"""How far a regime moves them (ours): a part of the way to the adapted weights, which falls to 0 with `reptile`; of
first-order MAML the root mean square of the change of weights. The mean: by the share of one regime among all so far.
"""


class LearntWeights:
    """The weights of a network that learns from runs, and from how many regimes it has."""

    gamma: ClassVar[float] = 1.0
    """Discount of the episodes that it learns from."""
    exploration: ClassVar[Mapping[str, Any]] = {}
    """Parameters of `metarl` in the runs that it learns from, where they are not the defaults."""

    def __init__(self, learning: Any) -> None:
        self.learning, self.regimes = learning, 0

    @property
    def network(self) -> Any:
        """What a policy uses of it."""
        return self.learning

    @property
    def numbers(self) -> dict[str, list[float]]:
        """All weights, as JSON has them without loss."""
        return {name: weights.flatten().tolist() for name, weights in self.learning.state_dict().items()}

    def restore(self, numbers: dict[str, list[float]], regimes: int) -> None:
        """Be as they were.

        Raises:
            ValueError: they are those of something else.
        """
        before = self.learning.state_dict()
        if {name: len(values) for name, values in numbers.items()} != {name: w.numel() for name, w in before.items()}:
            raise ValueError("weights of another network")
        shaped = {name: torch.tensor(numbers[name]).reshape(w.shape) for name, w in before.items()}
        self.learning.load_state_dict(shaped)
        self.regimes = regimes

    def learn(self, environments: Any, seed: int, decisions: int, done: float) -> dict[str, float]:
        """Learn from a regime; `done` is the share of the training that is over. Returns metrics."""
        raise NotImplementedError


class MetaWeights(LearntWeights):
    """Those that a regime adapts, by which method (as of `Expectations`)."""

    def __init__(self, method: Method, seed: int) -> None:
        super().__init__(begun(seed))
        self.method = method

    def learn(self, environments: Any, seed: int, decisions: int, done: float) -> dict[str, float]:
        """Adapt to a regime, and move by what came of it; `done` is the share of the training that is over. Returns
        metrics of the first step.
        """
        self.regimes += 1
        adaptation = Adaptation(self.network, environments, seed, decisions)
        first = adaptation.step()
        for _ in range(STEPS - 1):
            adaptation.step()
        if self.method == "fomaml":
            self._move(downhill(adaptation.query()), -PART["fomaml"])
        else:
            there, here = adaptation.network.state_dict(), self.network.state_dict()
            self._move({name: there[name] - here[name] for name in here}, self._part(done))
        return {"explained": round(first["explained"], 4), "gained": round(first["gained"], 5)}

    def _part(self, done: float) -> float:
        if self.method == "mean":
            return 1.0 / self.regimes
        return PART[self.method] * (1.0 - done if self.method == "reptile" else 1.0)

    def _move(self, way: dict[str, Tensor], part: float) -> None:
        here = self.network.state_dict()
        self.network.load_state_dict({name: w + part * way[name] if name in way else w for name, w in here.items()})


def downhill(gradient: dict[str, Tensor]) -> dict[str, Tensor]:
    """Scales a gradient to root mean square 1."""
    squares = sum(float(g.square().sum()) for g in gradient.values())
    size = (squares / sum(g.numel() for g in gradient.values())) ** 0.5
    return {name: g / max(size, 1e-12) for name, g in gradient.items()}
