"""What was found by observing another scheduler, in figures. Times are seconds since 1970 unless said otherwise."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

import numpy as np

from pointsman.report.metrics.counted import BUCKET_EDGES, BUCKETS

SOON_S: Final = 60.0
"""A job that begins so soon after the policy would have started it hardly waited."""


@dataclass(frozen=True)
class JobFacts:
    """What is told of a job."""

    shown: str
    """Its number, as the other scheduler has it."""
    gpus: int
    user: str = ""
    account: str = ""
    partition: str = ""

    @property
    def bucket(self) -> str:
        """``5-8``: its GPUs, as reports group them."""
        return BUCKETS[int(np.searchsorted(BUCKET_EDGES, self.gpus))]


@dataclass(frozen=True)
class Passed:
    """A job that the policy would have started, and the other scheduler did not."""

    job: JobFacts
    until_s: float
    """When it was started, or else ended; if neither, the last look."""
    begun: bool
    """Whether it was started since."""


@dataclass(frozen=True)
class Decision:
    """A start by the other scheduler; or that there was none, although GPUs were free."""

    at_s: float
    job: JobFacts | None
    agrees: bool
    said: str
    """What the policy would have done, in a sentence; empty if the same."""
    passed: tuple[Passed, ...] = ()

    @property
    def made_no_odds(self) -> bool:
        """Whether all jobs that the policy would have started were started soon after."""
        return bool(self.passed) and all(one.begun and one.until_s - self.at_s <= SOON_S for one in self.passed)


@dataclass(frozen=True)
class Difference:
    """A job that was passed over, once or again and again until it was started."""

    job: JobFacts
    since_s: float
    """When the policy would have started it first."""
    waited_s: float
    """How long it waited from then on."""
    begun: bool
    times: int
    """Decisions in which the policy would have started it."""
    said: str
    """The sentence of the first."""


@dataclass(frozen=True)
class Agreement:
    """How often the policy would have made the same starts."""

    name: str
    starts: int
    agreed: int

    @property
    def share(self) -> float:
        """Share of the starts."""
        return self.agreed / self.starts


@dataclass(frozen=True)
class Worth:
    """What the policy would change from then on, of the mean time until the jobs that are there have ended."""

    at_s: float
    jobs: int
    now_s: float
    """That mean time as it is."""
    change_s: float
    """Below 0: sooner."""
    low_s: float
    """5 % of the futures are below."""
    high_s: float
    """5 % are above."""
    sooner: int
    """Jobs that end more than a minute sooner."""
    later: int

    @property
    def is_gain(self) -> bool:
        """Whether the whole interval is."""
        return self.high_s < 0

    @property
    def is_loss(self) -> bool:
        """Whether the whole interval is."""
        return self.low_s > 0


@dataclass(frozen=True)
class Foretold:
    """When a job was said to start, in seconds after that was said, and when it did."""

    early_s: float
    likely_s: float | None
    """None: not within a week."""
    late_s: float | None
    real_s: float | None
    """None: it still waits, longer than it was said to."""

    @property
    def is_kept(self) -> bool:
        """Whether it started within its range."""
        return self.real_s is not None and not self.is_early and not self.is_late

    @property
    def is_early(self) -> bool:
        """Whether it started before."""
        return self.real_s is not None and self.real_s < self.early_s

    @property
    def is_late(self) -> bool:
        """Whether it started after, or has not yet."""
        return self.real_s is None or (self.late_s is not None and self.real_s > self.late_s)


@dataclass(frozen=True)
class Cost:
    """Requests of the other scheduler's controller."""

    command: str
    a_minute: float
    most_a_minute: float
    """In the hour with the most of them."""
    slowest_s: float


@dataclass(frozen=True)
class Advice:
    """Advice that the other scheduler was given meanwhile."""

    changes: int
    """Changes of priorities."""
    jobs: int
    """Jobs whose priorities were changed; tasks of an array that have one together count as one."""


@dataclass(frozen=True)
class Findings:
    """Everything."""

    policy: str
    gpus: int
    nodes: int
    first_s: float
    last_s: float
    decisions: Sequence[Decision]
    worths: Sequence[Worth] = ()
    foretold: Sequence[Foretold] = ()
    costs: Sequence[Cost] = ()
    all_costs: Cost | None = None
    """All commands together."""
    alarms: Sequence[tuple[float, str]] = ()
    unjudged: int = 0
    """Starts that were seen too late to ask the policy."""
    scheduler: str = field(default="Slurm")
    advice: Advice | None = None
    """None: none was given."""

    @property
    def starts(self) -> list[Decision]:
        """Decisions in which a job was started."""
        return [one for one in self.decisions if one.job is not None]

    @property
    def differing(self) -> list[Decision]:
        """Starts that the policy would not have made."""
        return [one for one in self.starts if not one.agrees]

    @property
    def left_free(self) -> list[Decision]:
        """Times at which GPUs were left free that the policy would have used."""
        return [one for one in self.decisions if one.job is None]

    @property
    def agreement(self) -> Agreement:
        """Agreement on all starts."""
        return _agreement("all", self.starts)

    def agreements(self, by: Callable[[Decision], str], order: Callable[[str], object] = str) -> list[Agreement]:
        """Agreement on the starts in each group."""
        groups: dict[str, list[Decision]] = {}
        for one in self.starts:
            groups.setdefault(by(one), []).append(one)
        return [_agreement(name, groups[name]) for name in sorted(groups, key=order)]  # ty: ignore

    def differences(self) -> list[Difference]:
        """Jobs that were passed over, by how long they waited after that: the longest first."""
        groups: dict[tuple[JobFacts, float], list[Decision]] = {}
        for one in self.decisions:
            for passed in one.passed:
                groups.setdefault((passed.job, passed.until_s), []).append(one)
        found = [_difference(*key, decisions) for key, decisions in groups.items()]
        return sorted(found, key=lambda one: -one.waited_s)


def _agreement(name: str, starts: Sequence[Decision]) -> Agreement:
    return Agreement(name, len(starts), sum(one.agrees for one in starts))


def _difference(job: JobFacts, until_s: float, decisions: Sequence[Decision]) -> Difference:
    first = decisions[0]
    begun = next(one.begun for one in first.passed if one.job == job)
    times = len({one.at_s for one in decisions})
    return Difference(job, first.at_s, until_s - first.at_s, begun, times, first.said)


def by_bucket(one: Decision) -> str:
    """The group of its job by GPUs."""
    assert one.job is not None
    return one.job.bucket


def by_partition(one: Decision) -> str:
    """The partition of its job."""
    assert one.job is not None
    return one.job.partition


def by_account(one: Decision) -> str:
    """The account of its job."""
    assert one.job is not None
    return one.job.account


def by_day(one: Decision) -> str:
    """The day, on the clock of this machine."""
    return time.strftime("%Y-%m-%d", time.localtime(one.at_s))


def by_hour(one: Decision) -> str:
    """The hour of the day, on the clock of this machine."""
    return time.strftime("%H", time.localtime(one.at_s))


def median_error_s(foretold: Iterable[Foretold]) -> float | None:
    """How far starts were from the likely ones; None: none is known."""
    errors = [abs(one.real_s - one.likely_s) for one in foretold if one.real_s is not None and one.likely_s is not None]
    return median(errors) if errors else None
