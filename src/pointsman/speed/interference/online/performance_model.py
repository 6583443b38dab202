"""What a scheduler knows of the slow-downs on servers of one kind: what it expected, corrected by what it has seen.

A law (`coefficients`) predicts. Five more are fitted to what was seen, each from a draw of its own and with weights of
its own, so that they agree where much was seen and nowhere else (Osband et al., NeurIPS 2018). A combination that was
seen is as slow as it was seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from pointsman.speed.interference.learned.combinations import Combination
from pointsman.speed.interference.online.coefficients import Coefficients, Floats, Ints, Laws

MEMBERS: Final = 5
NOISE: Final = 0.03
"""How far log slow-downs are from a law (ours)."""
ALONE, MET, PER_GPU = 0.05, 0.15, 0.05
"""How far coefficients are from what is expected of them (ours)."""
NOVEL: Final = 3.0
"""How many times as far for a model of which nothing is expected (ours)."""
DIGITS: Final = 12
"""Decimals of logarithms: processors differ in the last bit."""
LEAST_SHARE: Final = 0.3
"""The share of what is seen now in what is believed of a combination, which is the mean of the first three times
(ours).
"""


@dataclass(frozen=True)
class Expected:
    """The coefficients that are expected of some models."""

    models: tuple[str, ...] = ()
    values: Floats = field(default_factory=lambda: np.zeros(Coefficients(0).count))

    def of(self, models: Sequence[str]) -> Floats:
        """Those of `models`; of a model of which nothing is expected, what all have in common."""
        there = [self.models.index(name) if name in self.models else len(self.models) for name in models]
        parts = Coefficients(len(self.models)).parts(self.values)
        return np.concatenate([_of_models(part, there).ravel() for part in parts])

    def scales(self, models: Sequence[str]) -> Floats:
        """How far the coefficients of `models` may be from these."""
        parts = Coefficients(len(models)).shapes
        sizes = [ALONE] * 4 + [MET] * 4 + [PER_GPU] * 4
        novel = np.array([NOVEL if name not in self.models else 1.0 for name in models])
        wide = (np.ones(1), novel, np.maximum.outer(novel, novel).ravel())
        return np.concatenate([size * wide[len(shape)] for shape, size in zip(parts, sizes, strict=True)])


def _of_models(part: Floats, there: Sequence[int]) -> Floats:
    """Rows and columns of `part` at `there`, 0 beyond the last."""
    for axis in range(part.ndim):
        width = [(0, int(k == axis)) for k in range(part.ndim)]
        part = np.pad(part, width).take(there, axis)
    return part


class Seen(NamedTuple):
    """What was measured of a combination."""

    log: float
    """The logarithm of how many times as long computing takes."""
    visits: int


class PerformanceModel:
    """What is predicted of each combination on servers of one kind, and how far the members of the ensemble differ.

    Args:
        models: the names of all models that jobs can have.
        combinations: those of the table.
        expected: what was learnt before.
        seed: of the draws.
    """

    def __init__(
        self, models: Sequence[str], combinations: Sequence[Combination], expected: Expected, seed: int
    ) -> None:
        self.models, self.combinations = tuple(models), combinations
        self._coefficients = Coefficients(len(models))
        self._rows = self._coefficients.rows(combinations, {name: i for i, name in enumerate(models)})
        self._random = np.random.default_rng(seed)
        self._expected, scales = expected.of(models), expected.scales(models)
        self._precision = NOISE**2 / scales**2
        draws = self._random.standard_normal((MEMBERS, len(scales)))
        self._draws = np.vstack([np.zeros_like(scales), (draws - draws.mean(axis=0)) * scales])
        self._laws = self._expected + self._draws
        self.visits = np.zeros(len(combinations), np.int64)
        self._seen = np.zeros(len(combinations))
        self._weights = np.zeros((1 + MEMBERS, len(combinations)))
        self.refit()

    def see(self, rows: Ints, slow_downs: Floats) -> None:
        """Takes in that combinations `rows` (n) of the table were seen, `slow_downs` (n) times as slow as alone."""
        logs = np.round(np.log(slow_downs), DIGITS)
        for row, log in zip(rows.tolist(), logs.tolist(), strict=True):
            if self.visits[row] == 0:
                self._weights[:, row] = [1.0, *self._random.standard_exponential(MEMBERS)]
            self.visits[row] += 1
            share = max(LEAST_SHARE, 1.0 / self.visits[row])
            self._seen[row] += share * (log - self._seen[row])
            self.predicted[row] = self._seen[row]

    def remember(self, seen: Mapping[Combination, Seen]) -> None:
        """These were seen before, in another run; those that the table does not have are left out."""
        place = {combination: row for row, combination in enumerate(self.combinations)}
        for combination, one in seen.items():
            if combination in place:
                self.see(np.array([place[combination]]), np.exp([one.log]))
                self.visits[place[combination]] = one.visits
        self.refit()

    @property
    def observations(self) -> dict[Combination, Seen]:
        """Each combination that was observed, in this run or before."""
        rows = np.flatnonzero(self.visits).tolist()
        return {self.combinations[row]: Seen(float(self._seen[row]), int(self.visits[row])) for row in rows}

    def refit(self) -> None:
        """Fit all laws to what was seen until now."""
        seen = np.flatnonzero(self.visits)
        rows, logs = self._rows.part(seen), self._seen[seen]
        before = self._expected + self._draws
        for k, weights in enumerate(self._weights[:, seen]):
            wanted = logs - rows.times(before[k])
            self._laws[k] = before[k] + rows.fit(wanted, weights, self._precision, self._laws[k] - before[k])
        predicted = np.maximum(0.0, np.stack([self._rows.times(law) for law in self._laws]))
        self.predicted = np.where(self.visits > 0, self._seen, predicted[0])
        """(n) log slow-down of each combination."""
        self.disagreement = predicted[1:].std(axis=0, ddof=1)
        """(n) standard deviation of the members' predictions."""

    @property
    def laws(self) -> Laws:
        """By which to predict what is not in the table."""
        return self._coefficients.laws(self._laws[0])

    @property
    def known(self) -> Expected:
        """What it has come to expect, to begin with another time."""
        return Expected(self.models, self._laws[0].copy())
