"""Five small networks that learn what the additive law leaves, each with a law of its own from other combinations.

Plain NumPy: a few thousand combinations are learnt in seconds, and the package needs no PyTorch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, pi
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.speed.interference.learned.additive import AdditiveLaw, Counts, fit_additive

MEMBERS: Final = 5
WIDTH: Final = 24
STEPS: Final = 300
RATE: Final = 0.02
"""The learning rate of the first steps; it falls to 0 as a cosine."""
DECAY: Final = 1e-4
"""The decay of weights, per step and unit of the rate's share."""
BETAS: Final = (0.9, 0.99)

Floats = NDArray[np.float64]
Reals = NDArray[np.floating]
"""Networks learn in single precision, in less than half the time."""


class Layer(NamedTuple):
    """One layer of all members of an ensemble."""

    weights: Reals
    """(members, in, out)"""
    bias: Reals
    """(members, 1, out)"""


@dataclass(frozen=True)
class Ensemble:
    """Members whose mean predicts, and whose disagreement says how sure they are."""

    laws: Sequence[AdditiveLaw]
    layers: Sequence[Layer]
    scale: float
    """The scale of what networks predict."""

    def predict(self, counts: Counts) -> Floats:
        """(members, n) log slow-downs, at least 0."""
        left = _forward(self.layers, _inputs(counts))[-1][:, :, 0] * self.scale
        laws = np.stack([law.predict(counts) for law in self.laws])
        return np.maximum(0.0, laws + left)


def fit_ensemble(counts: Counts, logs: Floats, groups: NDArray[np.int64], seed: int) -> Ensemble:
    """Each member from as many groups of combinations as there are, drawn with replacement by the seed.

    Args:
        counts: the combinations (n).
        logs: their log slow-downs (n).
        groups: the group of each, from 0 (n): those seen on one server at once.
        seed: of the draws, and of the weights at the beginning.
    """
    draw = np.random.default_rng(seed)
    n = int(groups.max()) + 1
    drawn = [np.bincount(draw.integers(0, n, n), minlength=n)[groups] for _ in range(MEMBERS)]
    weights: Floats = np.array(drawn, np.float64)
    laws = [fit_additive(counts, logs, own) for own in weights]
    left: Floats = np.stack([logs - law.predict(counts) for law in laws])
    scale = max(float(left.std()), 1e-6)
    inputs = _inputs(counts)
    layers = _first_layers(draw, inputs.shape[1])
    wanted = (left[:, :, None] / scale).astype(np.float32)
    return Ensemble(laws, _train(layers, inputs, wanted, weights[:, :, None].astype(np.float32)), scale)


def _inputs(counts: Counts) -> Reals:
    """(n, 3 m + 1): the own model, own GPUs, the GPUs of others by model, and which are there. The first layer adds up
    a vector for each of these, which stands for the model.
    """
    own = np.eye(counts.others.shape[1])[counts.own]
    return np.hstack([own, counts.gpus[:, None] / 4, counts.others / 2, counts.met]).astype(np.float32)


def _first_layers(draw: np.random.Generator, inputs: int) -> list[Layer]:
    layers = []
    for fan_in, fan_out in pairwise((inputs, WIDTH, WIDTH, 1)):
        weights = draw.normal(0, (1 / fan_in) ** 0.5, (MEMBERS, fan_in, fan_out))
        layers.append(Layer(weights.astype(np.float32), np.zeros((MEMBERS, 1, fan_out), np.float32)))
    return layers


def _forward(layers: Sequence[Layer], inputs: Reals) -> list[Reals]:
    """(members, n, width) of each layer: hyperbolic tangents, and of the last the sum itself."""
    found, x = [], inputs
    for k, layer in enumerate(layers):
        x = x @ layer.weights
        x += layer.bias
        if k < len(layers) - 1:
            np.tanh(x, out=x)
        found.append(x)
    return found


def _gradients(layers: Sequence[Layer], inputs: Reals, wanted: Reals, weights: Reals) -> list[Layer]:
    """Computes the gradients of the mean squared error, each combination by its weight."""
    found = _forward(layers, inputs)
    error = 2 * weights * (found[-1] - wanted) / weights.sum(axis=1, keepdims=True)
    gradients = []
    for k in reversed(range(len(layers))):
        before = found[k - 1].swapaxes(1, 2) if k > 0 else inputs.T
        gradients.append(Layer(before @ error, error.sum(axis=1, keepdims=True)))
        if k > 0:
            error = error @ layers[k].weights.swapaxes(1, 2)
            error *= 1 - found[k - 1] ** 2
    return gradients[::-1]


def _train(layers: list[Layer], inputs: Reals, wanted: Reals, weights: Reals) -> list[Layer]:
    """By Adam, over all combinations at once."""
    first, second = ([Layer(*map(np.zeros_like, layer)) for layer in layers] for _ in range(2))
    for step in range(1, STEPS + 1):
        rate = RATE * (1 + cos(pi * step / STEPS)) / 2
        for k, gradient in enumerate(_gradients(layers, inputs, wanted, weights)):
            for value, slope, mean, square in zip(layers[k], gradient, first[k], second[k], strict=True):
                mean += (1 - BETAS[0]) * (slope - mean)
                square += (1 - BETAS[1]) * (slope**2 - square)
                unbiased = np.sqrt(square / (1 - BETAS[1] ** step)) + 1e-8
                value -= rate * (mean / (1 - BETAS[0] ** step) / unbiased + DECAY * value)
    return layers
