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
BATCH_SIGMA, COMMON_SIGMA = 0.7, 0.2
"""What is thought at first of the standard deviations of the logarithm of how many times as long a batch of jobs runs
as such jobs did before, and of how many times as long all jobs do."""
PAIRS, FORGETS = 10.0, 0.999
"""How many pairs of jobs that is worth, and what is left of it and of each pair after one more."""
_BEFORE_THE_FIRST: Final = NormalDist(math.log(1_000_000.0), 2.0)
"""ln ms: what is thought of jobs where none has ended yet; 17 minutes, or seven times more or less."""


class Like(NamedTuple):
    """What tells how long a job may run."""

    uid: int
    name: str
    gpus: int

    @property
    def batch(self) -> tuple[int, str, int]:
        """The jobs that are most like it."""
        return self.uid, re.sub(r"\d+", "", self.name), self.gpus

    def groups(self) -> tuple[Hashable, ...]:
        """From the jobs that are most like it to all."""
        return self.batch, (self.uid, self.gpus), self.uid, ("gpus", self.gpus), ()


class Durations:
    """What is learnt of them."""

    def __init__(self) -> None:
        self._groups: dict[Hashable, _Group] = {}
        self.batches, self.all_jobs = Shared(BATCH_SIGMA), Shared(COMMON_SIGMA)
        """By which factor batches run longer than such jobs did before, and by which all jobs do."""
        self._last: tuple[Hashable, float | None] = (None, None)
        """The batch of the job that ended last, and how far it was off."""

    def learn(self, job: Like, ran_ms: float) -> None:
        """A job has run for this long in all."""
        self._compare(job, ran_ms)
        for key in job.groups():
            group = self._groups.pop(key, None) or _Group()
            group.add(max(1.0, ran_ms))
            self._groups[key] = group  # the groups that were learnt of last come last
        while len(self._groups) > MOST_GROUPS:
            del self._groups[next(iter(self._groups))]

    def _compare(self, job: Like, ran_ms: float) -> None:
        """A job has ended, which is not yet in its groups."""
        group, (batch, last) = self.group(job.batch), self._last
        before, group.off = group.off, group.off_by(ran_ms)
        self.batches.learn(before, group.off)
        if batch != job.batch:
            self.all_jobs.learn(last, group.off)
        self._last = job.batch, group.off

    def likely_left_ms(self, job: Like, ran_ms: float) -> float:
        """How much longer half of the jobs like it ran that have run for so long."""
        for key in job.groups():
            group = self.group(key)
            if group.many_beyond(ran_ms) >= ENOUGH:
                return group.quantile_beyond(ran_ms, 0.5) - ran_ms
        return _left_of_any_ms(ran_ms, 0.5)

    def group(self, key: Hashable) -> "_Group":
        """Durations of a group of jobs that have ended."""
        return self._groups.get(key) or _Group()


class Shared:
    """The factor by which jobs in a row run longer, all together, than jobs like them did before."""

    def __init__(self, sigma: float) -> None:
        self._products, self._pairs = PAIRS * sigma**2, PAIRS

    @property
    def sigma(self) -> float:
        """The standard deviation of its logarithm."""
        return math.sqrt(max(0.0, self._products / self._pairs))

    def learn(self, before: float | None, off: float | None) -> None:
        """By how much two jobs in a row were off, as logarithms; None: not known."""
        if before is not None and off is not None:
            self._products = FORGETS * self._products + before * off
            self._pairs = FORGETS * self._pairs + 1.0


class Draw:
    """One draw of how long jobs run. Those that have begun come first: how long they run in all counts beside the jobs
    that have ended, or else long jobs would be overlooked for as long as none has ended.
    """

    def __init__(self, durations: Durations, random_: random.Random, common: float = 0.0) -> None:
        """`common`: by how many standard deviations all jobs run longer or shorter than those before."""
        self._durations, self._random = durations, random_
        self._common = math.exp(durations.all_jobs.sigma * common)
        self._begun: dict[Hashable, list[float]] = {}
        self._chances: dict[tuple[Hashable, Hashable], float] = {}
        self._factors: dict[Hashable, float] = {}

    def left_ms(self, job: Like, ran_ms: float, share: float) -> float:
        """How much longer a job runs that has run for `ran_ms`: longer than a `share` of jobs like it which ran as
        long; which jobs are like it is drawn.
        """
        left = self._left_ms(job, ran_ms, share)
        for key in job.groups():
            self._begun.setdefault(key, []).append(ran_ms + left)
        return left

    def _factor(self, job: Like, key: Hashable) -> float:
        """How many times as long the jobs of a batch run as those of a group did before. Only in its own group is that
        more than what is common to all jobs: groups of several batches are as different as these.
        """
        if key != job.batch:
            return self._common
        if job.batch not in self._factors:
            variance = self._durations.batches.sigma**2 - self._durations.all_jobs.sigma**2
            own = math.sqrt(max(0.0, variance)) * self._random.gauss(0.0, 1.0)
            self._factors[job.batch] = self._common * math.exp(own)
        return self._factors[job.batch]

    def _left_ms(self, job: Like, ran_ms: float, share: float) -> float:
        for key in job.groups():
            group, factor = self._durations.group(key), self._factor(job, key)
            longer = group.many_beyond(ran_ms / factor)
            if self._chance(job, key) < longer / (longer + ENOUGH):
                return max(1.0, factor * group.quantile_beyond(ran_ms / factor, share) - ran_ms)
        return _left_of_any_ms(ran_ms, share)

    def _chance(self, job: Like, key: Hashable) -> float:
        """By which it is decided whether a job is like those of a group: one number for all of its batch."""
        return self._chances.setdefault((job.batch, key), self._random.random())

    def whole_ms(self, job: Like, share: float) -> float:
        """How long a job runs that has not begun."""
        for key in job.groups():
            group, begun = self._durations.group(key), self._begun.get(key, [])
            ended = group.many_beyond(0.0)
            alike = ended + len(begun)
            if self._chance(job, key) < alike / (alike + ENOUGH):
                if self._random.random() * alike < len(begun):
                    return self._random.choice(begun)
                return self._factor(job, key) * group.quantile_beyond(0.0, share)
        return _left_of_any_ms(0.0, share)


class _Group:
    """Durations of the last jobs of a group."""

    def __init__(self) -> None:
        self._last: deque[float] = deque(maxlen=KEPT)
        self._sorted: list[float] = []
        """Empty after another was added."""
        self._weights: list[float] = []
        """Sums of the weights of those before."""
        self.off: float | None = None
        """That of the last job."""

    def add(self, ms: float) -> None:
        self._last.append(ms)
        self._sorted = []

    def off_by(self, ran_ms: float) -> float | None:
        """Logarithm of how many times as long a job ran as those of the group; None: there are too few."""
        if self.many_beyond(0.0) < ENOUGH:
            return None
        return math.log(max(1.0, ran_ms) / self.quantile_beyond(0.0, 0.5))

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
