"""How long jobs run, learnt from those that have ended.

A job is compared with earlier ones of the same user, name and size, and the fewer there are, with those of the same
user and size, of the user, of the size, with all. The last twenty count as much as all before them. The method is ours,
after QSSF of Helios (SC '21).
"""

import math
import random
import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Hashable
from itertools import accumulate
from statistics import NormalDist
from typing import Final, NamedTuple

KEPT: Final = 100
"""Jobs of each group."""
MOST_GROUPS: Final = 20_000
HALF_LIFE: Final = 20.0
ENOUGH: Final = 3.0
"""A group of three jobs is drawn from as often as all groups after it."""
_BEFORE_THE_FIRST: Final = NormalDist(math.log(1_000_000.0), 2.0)
"""ln ms: what is thought of jobs where none has ended yet; 17 minutes, or seven times more or less."""


class Like(NamedTuple):
    """What tells how long a job may run."""

    uid: int
    name: str
    gpus: int

    def groups(self) -> tuple[Hashable, ...]:
        """From the jobs that are most like it to all."""
        name = re.sub(r"\d+", "", self.name)
        return (self.uid, name, self.gpus), (self.uid, self.gpus), self.uid, ("gpus", self.gpus), ()


class Durations:
    """What is learnt of them."""

    def __init__(self) -> None:
        self._groups: dict[Hashable, _Group] = {}

    def learn(self, job: Like, ran_ms: float) -> None:
        """A job has run for so long in all."""
        for key in job.groups():
            group = self._groups.pop(key, None) or _Group()
            group.add(max(1.0, ran_ms))
            self._groups[key] = group  # the groups that were learnt of last come last
        while len(self._groups) > MOST_GROUPS:
            del self._groups[next(iter(self._groups))]

    def left_ms(self, job: Like, ran_ms: float, share: float, draw: random.Random) -> float:
        """How much longer a job runs that has run for `ran_ms`: longer than a `share` of jobs like it which ran so
        long; which jobs are like it is drawn.
        """
        for key in job.groups():
            group = self._groups.get(key)
            if group is not None:
                longer = group.many_beyond(ran_ms)
                if draw.random() < longer / (longer + ENOUGH):
                    return group.quantile_beyond(ran_ms, share) - ran_ms
        return _left_of_any_ms(ran_ms, share)


class _Group:
    """Durations of the last jobs of a group."""

    def __init__(self) -> None:
        self._last: deque[float] = deque(maxlen=KEPT)
        self._sorted: list[float] = []
        """Empty after another was added."""
        self._weights: list[float] = []
        """Sums of the weights of those before."""

    def add(self, ms: float) -> None:
        self._last.append(ms)
        self._sorted = []

    def many_beyond(self, ran_ms: float) -> int:
        self._sort()
        return len(self._sorted) - bisect_right(self._sorted, ran_ms)

    def quantile_beyond(self, ran_ms: float, share: float) -> float:
        """The least of those beyond `ran_ms` below or at which there is such a share of their weight."""
        self._sort()
        first = bisect_right(self._sorted, ran_ms)
        before, total = self._weights[first], self._weights[-1]
        at = bisect_left(self._weights, before + share * (total - before), first + 1)
        return self._sorted[min(at - 1, len(self._sorted) - 1)]

    def _sort(self) -> None:
        if not self._sorted:
            last = len(self._last) - 1
            weighted = sorted((ms, 0.5 ** ((last - k) / HALF_LIFE)) for k, ms in enumerate(self._last))
            self._sorted = [ms for ms, _ in weighted]
            self._weights = [*accumulate((weight for _, weight in weighted), initial=0.0)]


def _left_of_any_ms(ran_ms: float, share: float) -> float:
    """How much longer a job runs of which only `ran_ms`, its time so far, is known."""
    gone = _BEFORE_THE_FIRST.cdf(math.log(ran_ms)) if ran_ms > 0 else 0.0
    at = gone + share * (1.0 - gone)
    if at > 1.0 - 1e-9:  # it has run longer than was thought possible: as long again
        return ran_ms
    return max(1.0, math.exp(_BEFORE_THE_FIRST.inv_cdf(max(at, 1e-9))) - ran_ms)
