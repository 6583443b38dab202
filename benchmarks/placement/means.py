"""Figures of policies, some of which were trained several times, by cell: interquartile means over trainings and
seeds, with bootstrap intervals.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.placement.cell import BLIND
from benchmarks.placement.contestants import TRAINING
from benchmarks.results.figures import Difference, Figures
from pointsman.learn.iqm import interquartile_mean, interval

Values = NDArray[np.float64]
"""(trainings, seeds)"""
BOUND = "bound"
"""No job waits or is slowed."""
MEAN, TAIL, LONGEST = "jct_mean_s", "jct_p99_s", "pending_max_s"
"""The figures: mean JCT, its 99th percentile, the longest wait of a job."""


class Means:
    """One figure of a data file whose cells have the fields of `cell`."""

    def __init__(self, figures: Figures, cell: type[Any], blind: Sequence[str] = BLIND, figure: str = MEAN) -> None:
        self._of = partial(Means, figures, cell, blind)
        names = [field.name for field in fields(cell)]
        frame = figures.frame.with_columns(who=pl.col("policy").str.replace(TRAINING, ""))
        self._blind = blind
        self._found: dict[tuple[Any, str], Values] = {}
        for (*values, who), rows in frame.group_by(*names, "who", maintain_order=True):
            of = rows.sort("policy", "seed").select(figure, "duration_mean_s").to_numpy().T
            seeds, key = rows["seed"].n_unique(), cell(*values)
            self._found[key, str(who)] = of[0].reshape(-1, seeds)
            if seeds >= self._found.get((key, BOUND), np.empty((1, 0))).shape[1]:
                self._found[key, BOUND] = of[1, :seeds][None]

    @property
    def cells(self) -> list[Any]:
        """In the order of the file."""
        return list(dict.fromkeys(cell for cell, _ in self._found))

    @cached_property
    def tails(self) -> "Means":
        """The 99th percentiles of JCT."""
        return self._of(TAIL)

    @cached_property
    def longest(self) -> "Means":
        """The longest waits."""
        return self._of(LONGEST)

    def ran(self, cell: Any, who: str) -> bool:
        """Whether it was run there."""
        return (cell, who) in self._found

    def of(self, cell: Any, who: str) -> Values:
        """In seconds.

        Raises:
            LookupError: there is no such run.
        """
        return self._found[cell, who]

    def typical(self, cell: Any, who: str) -> float:
        """The interquartile mean, in seconds."""
        return float(interquartile_mean(self.of(cell, who).ravel()))

    def typical_h(self, cell: Any, who: str) -> str:
        """The same in hours, as tables have it."""
        hours = self.typical(cell, who) / 3600
        return f"{hours:.1f}" if hours < 10 else f"{hours:.0f}"

    def below(self, cell: Any, who: str) -> Difference:
        """Percent below the policy that is best with each workload, of those that know nothing of the topology."""
        mine = self.of(cell, who)
        best = np.min([self.of(cell, name)[:, : mine.shape[1]] for name in self._blind], axis=0)
        return middle(100 * (1 - mine / best))

    def above(self, cell: Any, who: str, other: str) -> Difference:
        """Percent above another, training by training where both were trained."""
        return middle(above(self.of(cell, who), self.of(cell, other)))

    def removed(self, cell: Any, who: str, other: str) -> Difference:
        """Percent of the delay under another, training by training: of what its mean JCT is above the bound."""
        mine, theirs = self.of(cell, who), self.of(cell, other)
        seeds = min(mine.shape[1], theirs.shape[1])
        delay = theirs[:, :seeds] - self.of(cell, BOUND)[:, :seeds]
        return middle(100 * (theirs[:, :seeds] - mine[:, :seeds]) / delay)


def of_page(make: Callable[[Means], str], cell: type[Any], blind: Sequence[str] = BLIND) -> Callable[[Figures], str]:
    """What fills a place of a page, from its data file."""
    return lambda figures: make(Means(figures, cell, blind))


def above(mine: Values, theirs: Values) -> Values:
    """Percent above, of the first seeds and trainings that both have; one training is compared with each."""
    seeds = min(mine.shape[1], theirs.shape[1])
    many = min(len(mine), len(theirs)) if min(len(mine), len(theirs)) > 1 else None
    return 100 * (mine[:many, :seeds] / theirs[:many, :seeds] - 1)


def middle(values: Values) -> Difference:
    """The interquartile mean, and its interval."""
    low, high = interval(values) or (math.nan, math.nan)
    return Difference(float(interquartile_mean(values.ravel())), low, high)
