"""The cross-entropy method: a search of few parameters by samples from a normal distribution that closes in on the best
(Rubinstein and Kroese, The Cross-Entropy Method, 2004; smoothing and floor of the deviation: ours).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """How to search. The defaults are those of marl.md §12.4."""

    generations: int = 7
    population: int = 14
    elite: int = 4
    smoothing: float = 0.7
    """Share that the elite has in the next mean and deviation."""
    least_deviation: float = 0.03
    """Added to each next deviation, so that it does not vanish."""


def minimise(
    cost: Callable[[Vector], float], mean: Vector, deviation: Vector, seed: int, search: Search = Search()
) -> tuple[Vector, list[float]]:
    """The mean of the last generation, and the least cost of each generation. The mean is a sample, too, each time.

    Args:
        cost: What a vector costs; the same vector always costs the same.
        mean: Where to begin.
        deviation: How widely to begin, for each parameter.
        seed: Of the samples.
        search: How to search.
    """
    draw = np.random.default_rng(seed)
    history = []
    for _ in range(search.generations):
        samples = mean + deviation * draw.standard_normal((search.population, len(mean)))
        samples[0] = mean
        costs = np.array([cost(sample) for sample in samples])
        best = samples[np.argsort(costs, kind="stable")[: search.elite]]
        history.append(float(costs.min()))
        mean = (1 - search.smoothing) * mean + search.smoothing * best.mean(0)
        deviation = (1 - search.smoothing) * deviation + search.smoothing * best.std(0) + search.least_deviation
    return mean, history
