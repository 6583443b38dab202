"""Whether a simulation of the present scheduler fits the log well enough to say what another policy would change.

The limits are ours; ``docs/adr/0028-advice-needs-a-fit.md`` says what they were chosen by.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl

from pointsman.report.metrics.calibration.fits import SOON_S, Times
from pointsman.report.metrics.groups import Group
from pointsman.report.units import duration

MEAN_LIMIT = 0.25
"""How far the mean wait may be from the log's, as a share of it."""
P90_LIMIT = 0.35
"""How far the 90th percentile may be, as a share of the log's or of the log's mean wait, whichever is longer."""
PARTS_LIMIT = 0.35
"""How far the mean waits of parts of the jobs may be, on average over the jobs, as a share of the log's mean wait."""
RANK_LIMIT = 0.6
"""The least rank correlation of the waits."""
LEAST_WAITING = 100
"""The fewest jobs with a wait of more than `SOON_S` in the log; fewer say too little of the scheduler."""
TENTHS = 10
"""Parts of the log, of as many jobs each, in the order of submission."""


@dataclass(frozen=True)
class Part:
    """Some of the jobs, and their waits in seconds."""

    name: str
    jobs: int
    logged: Times
    simulated: Times


@dataclass(frozen=True)
class Check:
    """One figure of the fit, its limit, and the parts of the jobs that it was measured over."""

    name: str
    value: float | None
    """A share; a correlation where the limit is the least; None where it is undefined, which fails."""
    limit: float
    is_least: bool = False
    parts: list[Part] = field(default_factory=list)

    @property
    def passes(self) -> bool:
        """Whether the value is within the limit."""
        if self.value is None:
            return False
        return self.value >= self.limit if self.is_least else abs(self.value) <= self.limit


@dataclass(frozen=True)
class Verdict:
    """How well one policy, as the model of the scheduler that made the log, fits it."""

    policy: str
    jobs: int
    """Jobs of which both know when they ended."""
    waiting: int
    """Those of them that waited for more than `SOON_S` in the log."""
    wait: Part
    """All of these jobs."""
    checks: list[Check]

    @property
    def has_enough(self) -> bool:
        """Whether enough jobs waited to judge by."""
        return self.waiting >= LEAST_WAITING

    @property
    def failed(self) -> list[Check]:
        """The checks beyond their limits."""
        return [check for check in self.checks if not check.passes]

    @property
    def is_good(self) -> bool:
        """Whether the model is good enough to compare other policies with it."""
        return self.has_enough and not self.failed

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        checks = [asdict(check) | {"passes": check.passes} for check in self.checks]
        return asdict(self) | {"checks": checks, "least_waiting": LEAST_WAITING, "is_good": self.is_good}


def judge(group: Group, logged: Group) -> Verdict:
    """Measures the fit of a policy, by its lowest seed, on the jobs that both completed.

    Args:
        group: the policy that stands for the present scheduler.
        logged: the log's own schedule.
    """
    log = logged.first.counted.select("row", log_wait_s="wait_s")
    jobs = group.first.counted.join(log, on="row", how="inner", maintain_order="left")
    all_of_them = _part("all jobs", jobs)
    waiting = int((jobs["log_wait_s"] > SOON_S).sum())
    checks = list(_checks(jobs, all_of_them)) if waiting else []
    return Verdict(group.label, jobs.height, waiting, all_of_them, checks)


def _checks(jobs: pl.DataFrame, whole: Part) -> Iterator[Check]:
    mean_s = whole.logged.mean or 0.0
    yield Check("mean wait", _off(whole.simulated.mean, whole.logged.mean, mean_s), MEAN_LIMIT)
    yield Check("90 % wait", _off(whole.simulated.p90, whole.logged.p90, mean_s), P90_LIMIT)
    yield _of_parts("mean wait by GPUs", _split(jobs.sort("bucket", maintain_order=True), "bucket"), mean_s)
    if "account" in jobs.columns and jobs["account"].n_unique() > 1:
        yield _of_parts("mean wait by account", _split(jobs.filter(pl.col("account").is_not_null()), "account"), mean_s)
    yield _of_parts("mean wait by tenth of the log", _tenths(jobs), mean_s)
    yield Check("rank correlation of waits", _rank_correlation(jobs), RANK_LIMIT, is_least=True)


def _off(simulated_s: float | None, logged_s: float | None, least_s: float) -> float:
    return ((simulated_s or 0.0) - (logged_s or 0.0)) / max(logged_s or 0.0, least_s)


def _of_parts(name: str, parts: list[Part], mean_s: float) -> Check:
    off = sum(part.jobs * abs((part.simulated.mean or 0.0) - (part.logged.mean or 0.0)) for part in parts)
    jobs = sum(part.jobs for part in parts)
    return Check(name, off / (jobs * mean_s), PARTS_LIMIT, parts=parts)


def _split(jobs: pl.DataFrame, column: str) -> list[Part]:
    """The jobs of each value of a column, in the order of the table."""
    return [_part(str(name), some) for (name,), some in jobs.group_by(column, maintain_order=True)]


def _tenths(jobs: pl.DataFrame) -> list[Part]:
    """The jobs of each tenth of the log, named by how long after the first they were submitted."""
    first_s = float(jobs["submit_s"].min())  # ty: ignore
    found = []
    for rows in np.array_split(np.arange(jobs.height), TENTHS):
        some = jobs[rows]
        if some.height:
            ends = (duration(float(each) - first_s) for each in (some["submit_s"].min(), some["submit_s"].max()))  # ty: ignore
            found.append(_part(" to ".join(ends), some))
    return found


def _part(name: str, jobs: pl.DataFrame) -> Part:
    return Part(name, jobs.height, Times.of(jobs["log_wait_s"]), Times.of(jobs["wait_s"]))


def _rank_correlation(jobs: pl.DataFrame) -> float | None:
    """Spearman's, of the jobs that waited here or there; waits of up to `SOON_S` are alike, because the scheduler's own
    latency explains them.
    """
    waits = jobs.select(pl.col("log_wait_s", "wait_s").clip(lower_bound=SOON_S))
    waited = waits.filter(pl.max_horizontal("log_wait_s", "wait_s") > SOON_S)
    found = waited.select(pl.corr("log_wait_s", "wait_s", method="spearman")).item()
    return None if found is None or np.isnan(found) else float(found)
