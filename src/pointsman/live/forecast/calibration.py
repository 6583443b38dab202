"""How far earlier expectations of starts were off, and how much wider that makes the next ranges.

After split conformal prediction (Vovk et al., 2005): a range is as wide as it would have had to be to hold of the last
promises the share that it is to hold. What an error is measured by, and how many promises count, is ours.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

COUNTED: Final = 500
"""Promises, the last ones."""
AT_FIRST: Final = 5
"""So many promises are thought to have come true to the millisecond."""
OF_WAIT, LEAST_MS = 0.1, 1000.0
"""A range counts as longer by this part of the wait that it promises, and by this."""


@dataclass(frozen=True, slots=True)
class Start:
    """When a job starts, ms from now: sooner in 5 % of all cases, in half of them, and later in 5 %."""

    early_ms: float
    likely_ms: float
    late_ms: float
    scale_ms: float = math.inf
    """What errors of it are measured by: about half of the range that the futures show."""

    @property
    def times_ms(self) -> tuple[float, float, float]:
        """Early, likely and late."""
        return self.early_ms, self.likely_ms, self.late_ms


class Promised(NamedTuple):
    """A start that was promised."""

    off_ms: float
    """How much later than likely it came, or if it has not come, it will come at least."""
    came: bool
    scale_ms: float


def start_of(futures_ms: Sequence[float]) -> Start:
    """What these futures show, in each of which a job starts at such a time."""
    early_ms, likely_ms, late_ms = quantiles(futures_ms)
    half_ms = max(late_ms - likely_ms, likely_ms - early_ms) if math.isfinite(late_ms) else math.inf
    return Start(early_ms, likely_ms, late_ms, half_ms + OF_WAIT * likely_ms + LEAST_MS)


def quantiles(values: Sequence[float]) -> tuple[float, float, float]:
    """What 5 %, half and 95 % of the futures are not above."""
    ordered, last = sorted(values), len(values) - 1
    low, middle, high = (ordered[round(share * last)] for share in (0.05, 0.5, 0.95))
    return low, middle, high


class Calibration(NamedTuple):
    """By how many scales starts come sooner or later than likely, in 95 % of all cases at most."""

    sooner: float = 0.0
    later: float = 0.0

    @classmethod
    def by(cls, promises: Iterable[Promised]) -> "Calibration":
        """Those that have come, and those that have not."""
        errors = [(one.off_ms / one.scale_ms, one.came) for one in promises]
        thought = [(0.0, True)] * AT_FIRST
        came = [(-error, True) for error, has_come in errors if has_come]
        return cls(_not_above(came + thought, 0.95), _not_above(errors + thought, 0.95))

    def widen(self, start: Start) -> Start:
        """The range in which it starts in 90 % of all cases: no narrower than the futures show."""
        if not math.isfinite(start.scale_ms):
            return start
        early_ms = max(0.0, start.likely_ms - self.sooner * start.scale_ms)
        late_ms = start.likely_ms + self.later * start.scale_ms
        return replace(start, early_ms=min(start.early_ms, early_ms), late_ms=max(start.late_ms, late_ms))


def _not_above(errors: list[tuple[float, bool]], share: float) -> float:
    """What such a share of the errors is not above, some of which are only known to be at least so large (Kaplan and
    Meier, 1958); at least 0.
    """
    above = 1.0
    ordered = sorted(errors)
    for k, (error, is_known) in enumerate(ordered):
        above *= 1.0 - is_known / (len(ordered) - k)
        if above <= 1.0 - share + 1e-9:
            return max(0.0, error)
    return max(0.0, ordered[-1][0])
