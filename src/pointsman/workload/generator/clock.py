"""The rhythm of day and week, taken out and put back.

*Even time* is the clock with the rhythm taken out: it runs fast when submissions are usually many and slowly when
they are few, and over any whole week it agrees with the clock.
"""

from dataclasses import dataclass

import numpy as np

from pointsman.workload.generator.profile import HOUR_S, Floats

_WEEK_HOURS = 168


@dataclass(frozen=True)
class Clock:
    """Even seconds passed at each full hour of one week, from the first submission (169 values)."""

    even_s: Floats
    first_hour_s: float
    """Seconds from the first submission to the next full hour, less one hour: ≤ 0."""

    @classmethod
    def of(cls, hourly: list[float], weekdays: list[float], start_hour_of_week: float) -> "Clock":
        """From the relative rates by hour of day and by weekday."""
        rate = np.outer(weekdays, hourly).ravel()
        rate = rate / rate.mean()
        first = int(start_hour_of_week)
        ticks = np.concatenate(([0.0], np.cumsum(np.roll(rate, -first) * HOUR_S)))
        return cls(ticks, (first - start_hour_of_week) * HOUR_S)

    def even(self, clock_s: Floats) -> Floats:
        """Even time of clock time, both in seconds since the first submission."""
        return self._even(clock_s - self.first_hour_s) - self._even(np.array(-self.first_hour_s))

    def clock(self, even_s: Floats) -> Floats:
        """Clock time of even time, both in seconds since the first submission."""
        even = even_s + self._even(np.array(-self.first_hour_s))
        week = np.floor_divide(even, self._week_s)
        ticks = np.arange(_WEEK_HOURS + 1) * float(HOUR_S)
        return week * self._week_s + np.interp(even - week * self._week_s, self.even_s, ticks) + self.first_hour_s

    def _even(self, since_hour_s: Floats) -> Floats:
        week = np.floor_divide(since_hour_s, self._week_s)
        ticks = np.arange(_WEEK_HOURS + 1) * float(HOUR_S)
        return week * self._week_s + np.interp(since_hour_s - week * self._week_s, ticks, self.even_s)

    @property
    def _week_s(self) -> float:
        return float(_WEEK_HOURS * HOUR_S)
