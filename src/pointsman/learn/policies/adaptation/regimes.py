"""Whether the workload has changed, or what slows jobs (Yang et al., IEEE TCC 2023, adapt when it has; how that is
noticed is ours).
"""

import math
from collections import deque
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

JOBS: Final = 100
"""The number of jobs, the last that came, whose models make the mix."""
ENDS: Final = 20
"""Jobs, the last that ended, over which the model's error is averaged."""
DIVERGENCE: Final = 0.1
"""The divergence of two mixes, in nats (Jensen and Shannon's), above which the workload has changed, unless as much
comes by chance.
"""
CHANCE: Final = 1e-6
"""The probability of a greater divergence between jobs that are drawn alike (`by_chance`)."""
WORSE, LEAST_ERROR = 2.0, 0.02
"""Times its long-run mean, above which the model's error means a change, if it is also above this share."""


class Regimes:
    """What is watched in a run."""

    def __init__(self) -> None:
        self._came: deque[int] = deque(maxlen=JOBS)
        self._before: dict[int, float] | None = None
        """The mix when the policy last adapted; None: it never has."""
        self._errors: list[float] = []
        self._since = 0
        """How many of them there were then."""

    def came(self, model: int) -> None:
        """A job of this model was submitted."""
        self._came.append(model)

    def ended(self, error: float) -> None:
        """A job ended; since the last one did, forecasts were wrong by this share."""
        self._errors.append(error)

    def change(self) -> str | None:
        """What has changed since the last time that the policy adapted; None: nothing, or too little was seen."""
        if len(self._came) < JOBS:
            return None
        if self._before is None:
            return "the first jobs have come"
        now = mix(self._came)
        apart, most = divergence(self._before, now), by_chance(len({*self._before, *now}))
        if apart > max(DIVERGENCE, most):
            return f"the mix of models diverges by {apart:.2f} (by chance by less than {most:.2f})"
        last = self._errors[self._since :][-ENDS:]
        if len(last) == ENDS and np.mean(last) > max(LEAST_ERROR, WORSE * np.mean(self._errors)):
            return f"forecasts are wrong by {np.mean(last):.1%}, and were by {np.mean(self._errors):.1%}"
        return None

    def adapted(self) -> None:
        """From now on changes are from what is now."""
        self._before, self._since = mix(self._came), len(self._errors)
        self._came.clear()


def mix(models: "deque[int]") -> dict[int, float]:
    """The share that each has."""
    found, counts = np.unique(list(models), return_counts=True)
    return dict(zip(found.tolist(), (counts / counts.sum()).tolist(), strict=True))


def by_chance(models: int) -> float:
    """The divergence, in nats, of the mixes of twice `JOBS` jobs of `models` models that jobs drawn alike exceed with
    probability `CHANCE`: 4 `JOBS` times it has a chi-squared distribution (the G-test of homogeneity).
    """
    return exceeded(CHANCE, models - 1) / (4 * JOBS) if models > 1 else 0.0


@cache
def exceeded(chance: float, freedom: int) -> float:
    """What a chi-squared variable of `freedom` degrees exceeds with probability `chance`."""
    low, high = 0.0, 1.0
    while chi_squared_tail(high, freedom) > chance:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if chi_squared_tail(middle, freedom) > chance else (low, middle)
    return high


def chi_squared_tail(x: float, freedom: int) -> float:
    """P(X > x) of a chi-squared variable, in closed form.

    Source: Abramowitz and Stegun, 26.4.4 and 26.4.5.
    """
    half, odd = x / 2, freedom % 2
    term = 2 * math.sqrt(half / math.pi) if odd else 1.0
    total = 0.0
    for k in range(freedom // 2):
        total += term
        term *= half / (k + 1 + odd / 2)
    return (math.erfc(math.sqrt(half)) if odd else 0.0) + math.exp(-half) * total


def divergence(one: dict[int, float], other: dict[int, float]) -> float:
    """The divergence of Jensen and Shannon, in nats: from 0 to log 2."""
    names = sorted({*one, *other})
    p, q = (np.array([mix.get(name, 0.0) for name in names]) for mix in (one, other))
    return float((_to(p, (p + q) / 2) + _to(q, (p + q) / 2)) / 2)


def _to(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Kullback and Leibler's."""
    some = p > 0
    return float((p[some] * np.log(p[some] / q[some])).sum())
