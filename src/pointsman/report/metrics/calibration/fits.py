"""How far simulated policies are from what the log says really happened, and what may explain it."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from pointsman.report.metrics.calibration.explanations import explanations
from pointsman.report.metrics.groups import Group
from pointsman.sums import mean

SOON_S = 60.0
"""A job that starts this close to its logged start counts as reproduced."""
STATISTICS = ("mean", "p50", "p90")


@dataclass(frozen=True)
class Times:
    """Mean, median and 90th percentile of some seconds; None of none."""

    mean: float | None
    p50: float | None
    p90: float | None

    @classmethod
    def of(cls, seconds: pl.Series) -> "Times":
        """Those of `seconds`; percentiles interpolate linearly."""
        return cls(mean(seconds), *(seconds.quantile(share, "linear") for share in (0.5, 0.9)))


@dataclass(frozen=True)
class Fit:
    """One policy against the log, on the jobs of which both know when they ended (seconds; simulated less logged)."""

    policy: str
    jobs: int
    wait: Times
    jct: Times
    wait_logged: Times
    jct_logged: Times
    later_p10_s: float | None
    """A tenth of the jobs starts so much later than logged, or less; below 0: sooner."""
    later_p50_s: float | None
    later_p90_s: float | None
    apart_mean_s: float | None
    """Mean distance between the simulated and the logged start of a job."""
    jct_apart_mean_s: float | None
    """Mean distance of completion times."""
    reproduced_ratio: float | None
    """Share of the jobs that start within a minute of their logged start."""

    @property
    def is_exact(self) -> bool:
        """Whether every job starts and ends when the log says."""
        return self.apart_mean_s == 0.0 and self.jct_apart_mean_s == 0.0


@dataclass(frozen=True)
class Calibration:
    """Every policy against the log, and what may explain the differences of the closest."""

    logged: str
    """What tables call the scheduler that made the log."""
    fits: list[Fit]
    closest: str
    explanations: list[str]


def calibration(groups: Sequence[Group]) -> Calibration | None:
    """Measures how well each policy fits the log, by its lowest seed; None without the log's own schedule or
    a policy.
    """
    logged = next((group for group in groups if group.is_logged), None)
    fits = [] if logged is None else [measure_fit(group, logged) for group in groups if not group.is_logged]
    known = [found for found in fits if found.apart_mean_s is not None]
    if logged is None or not known:
        return None
    closest = min(known, key=lambda found: (found.apart_mean_s, found.jct_apart_mean_s))
    group = next(group for group in groups if group.label == closest.policy)
    said = [] if closest.is_exact else explanations(logged.first, group.first)
    return Calibration(logged.label, fits, closest.policy, said)


def measure_fit(group: Group, logged: Group) -> Fit:
    """One policy against the log's own schedule."""
    log = logged.first.counted.select("row", log_wait_s="wait_s", log_jct_s="jct_s")
    both = group.first.counted.join(log, on="row", how="inner", maintain_order="left")
    later_s = both["wait_s"] - both["log_wait_s"]
    low, middle, high = (later_s.quantile(at, "linear") for at in (0.1, 0.5, 0.9))
    return Fit(
        policy=group.label,
        jobs=both.height,
        wait=Times.of(both["wait_s"]),
        jct=Times.of(both["jct_s"]),
        wait_logged=Times.of(both["log_wait_s"]),
        jct_logged=Times.of(both["log_jct_s"]),
        later_p10_s=low,
        later_p50_s=middle,
        later_p90_s=high,
        apart_mean_s=mean(later_s.abs()),
        jct_apart_mean_s=mean((both["jct_s"] - both["log_jct_s"]).abs()),
        reproduced_ratio=mean((later_s.abs() <= SOON_S).cast(pl.Float64)),
    )
