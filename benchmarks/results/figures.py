"""From a data file to the figures of a page: means over seeds, and differences paired on them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.report.metrics.paired.confidence import ratio_interval

Where = Mapping[str, Any]
"""Values of columns that name a cell."""


@dataclass(frozen=True)
class Difference:
    """Of the mean of one policy to that of another, percent of the other's, with its 95 % interval."""

    percent: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether 0 is outside the interval."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        if math.isnan(self.low):
            return signed(self.percent)
        return f"{signed(self.percent)} [{signed(self.low)}, {signed(self.high)}]"


def paired(mine: NDArray[np.float64], others: NDArray[np.float64]) -> Difference:
    """Of the sums of both, value by value of the same jobs, with Student's interval."""
    low, high = ratio_interval(mine, others) or (math.nan, math.nan)
    return Difference(*(100 * ratio for ratio in (float(mine.sum() / others.sum()) - 1, low, high)))


class Figures:
    """A data file, with a row for each run."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame
        self._runs: dict[tuple[Any, ...], pl.DataFrame] = {}

    def runs(self, where: Where, policy: str) -> pl.DataFrame:
        """The rows of one policy in one cell, by seed; none if it was not run there."""
        cell = (policy, *where.items())
        if cell not in self._runs:
            wanted = [pl.col(name).eq_missing(pl.lit(value)) for name, value in where.items()]
            self._runs[cell] = self.frame.filter(pl.col("policy") == policy, *wanted).sort("seed")
        return self._runs[cell]

    def ran(self, where: Where, policy: str) -> bool:
        """Whether the policy was run in a cell."""
        return not self.runs(where, policy).is_empty()

    def values(self, where: Where, policy: str, figure: str = "jct_mean_s") -> NDArray[np.float64]:
        """(seeds,) of one policy in one cell, by seed.

        Raises:
            LookupError: there is no such run.
        """
        rows = self.runs(where, policy)
        if rows.is_empty() or rows["seed"].n_unique() < rows.height:
            raise LookupError(f"{rows.height} runs of {policy} where {dict(where)}")
        return rows[figure].to_numpy()

    def mean(self, where: Where, policy: str, figure: str = "jct_mean_s") -> float:
        """Over seeds."""
        return float(self.values(where, policy, figure).mean())

    def greatest(self, where: Where, policy: str, figure: str) -> float:
        """Over seeds."""
        return float(self.values(where, policy, figure).max())

    def change(
        self, where: Where, policy: str, base: str, figure: str = "jct_mean_s", base_where: Where | None = None
    ) -> Difference:
        """Of `policy` to `base`, which may be in another cell, paired on seeds."""
        return paired(self.values(where, policy, figure), self.values(base_where or where, base, figure))

    def cells(self, *columns: str) -> list[dict[str, Any]]:
        """The combinations of values of these columns, in the order of the file."""
        return self.frame.select(columns).unique(maintain_order=True).rows(named=True)

    def told(self, policy: str) -> tuple[str, str, str]:
        """The durations and profiles that a policy uses, and the progress that it observes."""
        return self.frame.filter(policy=policy).select("durations", "profiles", "progress").row(0)

    def best(self, where: Where, policies: Sequence[str], figure: str = "jct_mean_s") -> str:
        """The policy with the least mean."""
        return min(policies, key=lambda policy: self.mean(where, policy, figure))


def signed(value: float, digits: int = 1) -> str:
    """With its sign."""
    shown = f"{value:+.{digits}f}"
    return f"{0:.{digits}f}" if float(shown) == 0 else shown.replace("-", "−")


def bold(change: Difference, digits: int = 1) -> str:
    """Percent, in bold if the interval excludes 0."""
    shown = signed(change.percent, digits)
    return f"**{shown}**" if change.is_sure else shown


def plain(value: float) -> str:
    """Three digits or so."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"


def hours(seconds: float) -> str:
    """In hours."""
    return f"{seconds / 3600:.2f}"


def span(values: Sequence[float], unit: str = " %") -> str:
    """``−12.3 to +4.5 %``."""
    low, high = signed(min(values)), signed(max(values))
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def spread(changes: Sequence[Difference], unit: str = " %") -> str:
    """From the least difference to the greatest."""
    return span([change.percent for change in changes], unit)


def how_many_sure(changes: Sequence[Difference]) -> str:
    """``3 of 12``: those whose interval excludes 0."""
    return f"{sum(change.is_sure for change in changes)} of {len(changes)}"


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table; the first `words` columns are left-aligned."""
    rule = "|" + "".join(":--|" if k < words else "--:|" for k in range(len(columns)))
    head, *body = (f"| {' | '.join(cells)} |" for cells in (columns, *rows))
    return "\n".join([head, rule, *body]) + "\n"
