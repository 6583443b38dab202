"""The additive law of log slow-downs as sparse rows of a linear model, each combination by the coefficients it adds up.

A coefficient of a pair is one of the pair, one of either model and one of all, so that what little was seen of a pair
is made up for by what was seen of its models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pointsman.speed.interference.learned.combinations import Combination

CLOSE: Final = 1e-4
"""Where conjugate gradients stop: the largest slope against that at 0."""
MOST_STEPS: Final = 200

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Laws:
    """Additive laws in logarithms, of M models: ``alone + per_own_gpu * own GPUs``, and of each model beside it ``met +
    per_gpu * its GPUs``.
    """

    alone: Floats
    """(M)"""
    per_own_gpu: Floats
    """(M)"""
    met: Floats
    """(M, M) of a model, by another beside it."""
    per_gpu: Floats
    """(M, M)"""


@dataclass(frozen=True)
class Coefficients:
    """The coefficients of a law of `models` models, as one vector."""

    models: int

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the parts: ``alone`` and ``per_own_gpu``, each of all models and of the own one; ``met`` and
        ``per_gpu``, each of all, of the own one, of the other and of the pair.
        """
        m = self.models
        return [(), (m,)] * 2 + [(), (m,), (m,), (m, m)] * 2

    @property
    def count(self) -> int:
        """How many there are."""
        return self._begins()[-1]

    def _begins(self) -> list[int]:
        return np.cumsum([0, *(prod(shape) for shape in self.shapes)]).tolist()

    def parts(self, values: Floats) -> list[Floats]:
        """The parts of `values` (count), in their shapes."""
        cut = np.split(values, self._begins()[1:-1])
        return [part.reshape(shape) for part, shape in zip(cut, self.shapes, strict=True)]

    def rows(self, combinations: Sequence[Combination], place: dict[str, int]) -> "Rows":
        """What the log slow-down of each combination adds up."""
        widest = max((len(c.others) for c in combinations), default=0)
        columns = np.zeros((len(combinations), 4 + 8 * widest), np.int64)
        values = np.zeros(columns.shape)
        begins = self._begins()
        for row, combination in enumerate(combinations):
            terms = self._terms(combination, place, begins)
            columns[row, : len(terms)], values[row, : len(terms)] = zip(*terms, strict=True)
        return Rows(columns, values, self.count)

    def _terms(self, combination: Combination, place: dict[str, int], begins: list[int]) -> list[tuple[int, float]]:
        a, gpus = place[combination.model], float(combination.gpus)
        terms = [(begins[0], 1.0), (begins[1] + a, 1.0), (begins[2], gpus), (begins[3] + a, gpus)]
        for model, theirs in combination.others:
            b = place[model]
            at = (0, a, b, a * self.models + b)
            terms += [(begins[4 + k] + at[k], 1.0) for k in range(4)]
            terms += [(begins[8 + k] + at[k], float(theirs)) for k in range(4)]
        return terms

    def laws(self, values: Floats) -> Laws:
        """The law that these coefficients are."""
        p = self.parts(values)
        met, per_gpu = (p[k] + p[k + 1][:, None] + p[k + 2] + p[k + 3] for k in (4, 8))
        return Laws(p[0] + p[1], p[2] + p[3], met, per_gpu)


@dataclass(frozen=True)
class Rows:
    """Sparse rows of a linear model."""

    columns: Ints
    """(n, K) which coefficients."""
    values: Floats
    """(n, K) how many times each; 0 where there are fewer."""
    count: int
    """Coefficients of the model."""

    def part(self, which: Ints) -> "Rows":
        """Some of them."""
        return Rows(self.columns[which], self.values[which], self.count)

    def times(self, coefficients: Floats) -> Floats:
        """(n)"""
        return (self.values * coefficients[self.columns]).sum(axis=1)

    def transposed_times(self, x: Floats) -> Floats:
        """(count)"""
        weights = (self.values * x[:, None]).ravel()
        return np.bincount(self.columns.ravel(), weights, self.count).astype(np.float64)

    def fit(self, wanted: Floats, weights: Floats, precision: Floats, begin: Floats) -> Floats:
        """(count) the coefficients x of least ``sum weights (wanted - rows x)^2 + sum precision x^2``, by conjugate
        gradients that begin at `begin`: thousands of rows in milliseconds, however many models there are.
        """
        x = begin.copy()
        left = self.transposed_times(weights * (wanted - self.times(x))) - precision * x
        small = CLOSE * float(np.abs(self.transposed_times(weights * wanted)).max(initial=0.0))
        scaled = left / precision
        direction, size = scaled, _dot(left, scaled)
        for _ in range(MOST_STEPS):
            if np.abs(left).max(initial=0.0) <= small:
                break
            ahead = self.transposed_times(weights * self.times(direction)) + precision * direction
            step = size / _dot(direction, ahead)
            x += step * direction
            left = left - step * ahead
            scaled = left / precision
            size, before = _dot(left, scaled), size
            direction = scaled + size / before * direction
        return x


def _dot(a: Floats, b: Floats) -> float:
    """As ``a @ b``, but the same on every machine: BLAS adds up in an order of the processor's own."""
    return float((a * b).sum())
