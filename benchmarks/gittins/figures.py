"""From runs to the figures of the page: percent above the bound, and paired differences with intervals."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.gittins.contestants import RIVALS
from benchmarks.results.figures import Difference, Figures, Where, paired

RESAMPLES: Final = 20_000
ABOVE, BY_DAY = "above_bound_percent", "jct_by_day_s"


def above(figures: Figures, where: Where, policy: str) -> float:
    """Percent of mean JCT above the lower bound, over seeds."""
    return figures.mean(where, policy, ABOVE)


def best(figures: Figures, where: Where) -> str:
    """Of the rivals."""
    return figures.best(where, RIVALS, ABOVE)


def closed(figures: Figures, where: Where, policy: str, oracles: Sequence[str]) -> NDArray[np.float64]:
    """Percent, by run, of what is between the best rival and the best policy with true durations.

    Runs of the suite are paired on its seeds; a log has one set of jobs, and several draws of hints.
    """
    rival, mine = (figures.values(where, who, ABOVE) for who in (best(figures, where), policy))
    start = rival if len(rival) == len(mine) else rival.mean()
    return 100 * (start - mine) / distance(figures, where, oracles)


def distance(figures: Figures, where: Where, oracles: Sequence[str]) -> float:
    """Between these two, in percent of the bound."""
    return above(figures, where, best(figures, where)) - min(above(figures, where, one) for one in oracles)


def against(figures: Figures, where: Where, policy: str, other: str, days: int = 1) -> Difference:
    """Paired by seed, all seeds alike, or by blocks of so many days of submission where there is one set of jobs."""
    mine, others = (_days(figures, where, who) for who in (policy, other))
    if mine is None or others is None:
        ratios = figures.values(where, policy) / figures.values(where, other)
        return paired(ratios, np.ones_like(ratios))
    return _resampled(np.column_stack([mine, others]), days)


def has_days(figures: Figures, where: Where) -> bool:
    """Whether there is one set of jobs, and JCTs by day."""
    return _days(figures, where, best(figures, where)) is not None


def _days(figures: Figures, where: Where, policy: str) -> NDArray[np.float64] | None:
    """(days,) sums of JCTs, means over draws; none for generated jobs."""
    draws = figures.values(where, policy, BY_DAY)
    return np.array([draw.split() for draw in draws], float).mean(0) if isinstance(draws[0], str) else None


def _resampled(pairs: NDArray[np.float64], block: int) -> Difference:
    """Ratio of the sums of both columns, with an interval from blocks of rows drawn with replacement (circular, as in
    Politis and Romano, 1992).
    """
    sums, whole = _drawn(len(pairs), block) @ pairs, pairs.sum(0)
    low, high = np.percentile(100 * (sums[:, 0] / sums[:, 1] - 1), [2.5, 97.5])
    return Difference(100 * float(whole[0] / whole[1] - 1), float(low), float(high))


@lru_cache(maxsize=2)
def _drawn(rows: int, block: int) -> NDArray[np.float64]:
    """(resamples, rows) how often each row is drawn."""
    first = np.random.default_rng(0).integers(0, rows, (RESAMPLES, -(-rows // block)))
    picked = ((first[..., None] + np.arange(block)) % rows).reshape(RESAMPLES, -1)[:, :rows]
    cells = picked + rows * np.arange(RESAMPLES)[:, None]
    return np.bincount(cells.ravel(), minlength=RESAMPLES * rows).reshape(RESAMPLES, rows).astype(np.float64)
