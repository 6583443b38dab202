"""The cross-entropy method: a search of few parameters by samples from a normal distribution that closes in on the best
(Rubinstein and Kroese, The Cross-Entropy Method, 2004; smoothing and floor of the deviation: ours).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo, field_validator

from pointsman.learn.config import Config, parameter

Vector = NDArray[np.float64]


class Search(Config):
    """How to search. The defaults are those with which the shipped weights were found."""

    generations: int = parameter(7, "Generations of samples.", ge=1, le=10_000)
    population: int = parameter(
        14, "Samples of a generation. The mean of the distribution is one of them.", ge=2, le=10_000
    )
    elite: int = parameter(4, "Best samples, from which the next distribution is made.", ge=1, validate_default=True)
    smoothing: float = parameter(0.7, "Share of the elite in the next mean and deviation.", gt=0, le=1)
    least_deviation: float = parameter(0.03, "Added to each next deviation, so that it does not vanish.", ge=0)

    @field_validator("elite")
    @classmethod
    def _is_of_the_population(cls, value: int, info: ValidationInfo) -> int:
        most = info.data.get("population", value)
        if value > most:
            raise ValueError(f"must be at most the population, {most}")
        return value


@dataclass
class Distribution:
    """Where a search is: the normal distribution that is sampled next, and the state of the random numbers."""

    mean: Vector
    deviation: Vector
    draw: np.random.Generator

    def next_generation(self, cost: Callable[[Vector], float], search: Search) -> float:
        """Sample, and close in on the best samples; the least cost among them."""
        samples = self.mean + self.deviation * self.draw.standard_normal((search.population, len(self.mean)))
        samples[0] = self.mean
        costs = np.array([cost(sample) for sample in samples])
        best = samples[np.argsort(costs, kind="stable")[: search.elite]]
        kept = 1 - search.smoothing
        self.mean = kept * self.mean + search.smoothing * best.mean(0)
        self.deviation = kept * self.deviation + search.smoothing * best.std(0) + search.least_deviation
        return float(costs.min())


def minimise(
    cost: Callable[[Vector], float], mean: Vector, deviation: Vector, seed: int, search: Search
) -> tuple[Vector, list[float]]:
    """The mean of the last generation, and the least cost of each generation.

    Args:
        cost: What a vector costs; the same vector always costs the same.
        mean: Where to begin.
        deviation: How widely to begin, for each parameter.
        seed: Of the samples.
        search: How to search.
    """
    where = Distribution(mean, deviation, np.random.default_rng(seed))
    history = [where.next_generation(cost, search) for _ in range(search.generations)]
    return where.mean, history
