"""How far off predictors are on combinations that they have not seen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.speed.interference.learned.additive import Counts, fit_additive
from pointsman.speed.interference.learned.combinations import Combination
from pointsman.speed.interference.learned.networks import MEMBERS, fit_ensemble

FOLDS: Final = 5
LEAST: Final = 2 * FOLDS
"""Servers' combinations below which nothing is left out, and nothing is known of errors."""
INTERVALS: Final = {50: 0.741, 90: 2.132}
"""Quantiles of Student's t with four degrees of freedom (five members), by the per cent between them."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """Combinations of one kind of server, and how slow they were."""

    combinations: Sequence[Combination]
    models: Sequence[str]
    logs: Floats
    """Log slow-downs."""

    @property
    def counts(self) -> Counts:
        """As numbers."""
        return Counts.of(self.combinations, self.models)

    @property
    def groups(self) -> NDArray[np.int64]:
        """The combination of all jobs on the server, numbered: what is left out, is left out for all of them."""
        numbers: dict[object, int] = {}
        return np.array([numbers.setdefault(c.on_server(), len(numbers)) for c in self.combinations])

    def part(self, rows: NDArray[np.int64]) -> "Sample":
        """Some of them."""
        return Sample([self.combinations[i] for i in rows], self.models, self.logs[rows])


class HeldOut(NamedTuple):
    """Log slow-downs of combinations with other jobs, each predicted from other servers' combinations."""

    truth: Floats
    """(n)"""
    predicted: Mapping[str, Floats]
    """(n) by the name of the predictor."""
    spread: Floats
    """(n) standard deviation over the networks."""

    def error(self, name: str) -> Floats:
        """(n) |predicted / measured - 1| of slow-downs."""
        return np.abs(np.exp(self.predicted[name] - self.truth) - 1)

    def mean_error(self, name: str) -> float:
        """Over all of them."""
        return float(self.error(name).mean())

    def covered(self, per_cent: int) -> float:
        """Share of the truths in the interval which the networks' disagreement makes so likely."""
        wide = INTERVALS[per_cent] * self.spread * np.sqrt(1 + 1 / MEMBERS)
        return float((np.abs(self.predicted["networks"] - self.truth) <= wide + 1e-9).mean())

    def errors_by_disagreement(self) -> list[float]:
        """Mean error of the networks in each quarter of the combinations, from the least disagreement to the most."""
        order = np.argsort(self.spread, kind="stable")
        return [float(self.error("networks")[part].mean()) for part in np.array_split(order, 4)]


def held_out(sample: Sample, seed: int, tell: Callable[[float], None] = lambda share: None) -> HeldOut | None:
    """Each combination with other jobs predicted from four fifths of the servers' combinations, its own not among them.

    None if there are too few. `tell` hears what share is done.
    """
    groups = sample.groups
    beside = np.array([bool(c.others) for c in sample.combinations])
    if len(np.unique(groups[beside])) < LEAST:
        return None
    fold = np.random.default_rng(seed).permutation(int(groups.max()) + 1)[groups] % FOLDS
    predicted = {name: np.zeros(len(groups)) for name in ("constant", "additive", "networks")}
    spread = np.zeros(len(groups))
    for k in range(FOLDS):
        seen, out = np.flatnonzero(fold != k), np.flatnonzero((fold == k) & beside)
        part, counts = sample.part(seen), sample.part(out).counts
        predicted["constant"][out] = part.logs[beside[seen]].mean()
        predicted["additive"][out] = fit_additive(part.counts, part.logs, np.ones(len(seen))).predict(counts)
        members = fit_ensemble(part.counts, part.logs, _dense(part.groups), seed).predict(counts)
        predicted["networks"][out], spread[out] = members.mean(axis=0), members.std(axis=0, ddof=1)
        tell((k + 1) / FOLDS)
    return HeldOut(sample.logs[beside], {name: logs[beside] for name, logs in predicted.items()}, spread[beside])


def _dense(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(groups, return_inverse=True)[1]
