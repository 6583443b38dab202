"""The price of preemption: the policies of a comparison again, where preempted jobs lose work since a checkpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pointsman.engine.run.result import RunData
from pointsman.engine.setup.overheads import Overheads, load_overheads
from pointsman.report.metrics.groups import Group, Run, group_runs, is_same_but, simulated
from pointsman.report.metrics.paired.differences import Difference, difference

Repeated = Mapping[float, Sequence[RunData]]
"""By seconds between checkpoints, the runs that had to be made again; 0 s: preemption loses nothing."""


@dataclass(frozen=True)
class Point:
    """A policy at one interval between checkpoints; its `change` is to the baseline at the same interval."""

    policy: str
    checkpoint_every_s: float
    seeds: list[int]
    jct_mean_s: float | None
    change: Difference
    preemptions: float | None
    lost_gpu_hours: float | None

    def record(self) -> dict[str, Any]:
        """A row of ``price.csv``."""
        low, high = self.change.ratio_interval or (None, None)
        return {
            "policy": self.policy,
            "checkpoint_every_s": self.checkpoint_every_s,
            "seeds": " ".join(map(str, self.seeds)),
            "jct_mean_s": self.jct_mean_s,
            "jct_mean_s_change": self.change.ratio,
            "jct_mean_s_change_low": low,
            "jct_mean_s_change_high": high,
            "preemptions": self.preemptions,
            "lost_gpu_hours": self.lost_gpu_hours,
        }


@dataclass(frozen=True)
class BreakEven:
    """At which intervals a policy is ahead of the baseline, and where that first changes."""

    policy: str
    starts_ahead: bool
    """Whether it is ahead at the shortest interval: one that preempts less may be so at long intervals only."""
    at_s: float | None
    """Where that first changes, by a straight line between two measured intervals; None: nowhere."""
    again_s: list[float]
    """Longer measured intervals at which it is as it was at the shortest."""
    again_by_chance: bool
    """Whether it may be so by chance at each of these."""
    may_be_chance: bool
    """Whether it is so at each interval at which it is ahead."""


@dataclass(frozen=True)
class Price:
    """The groups of a comparison at each interval, the baseline first; a policy may be missing where it was not run."""

    cells: dict[float, list[Group]]
    repeated: list[tuple[float, Group, Run]]
    """The runs that the comparison itself lacks, with the interval and the policy of each."""
    left_out: list[str]
    """Policies that preempt and were not run again."""
    of_all_seeds: bool

    @property
    def baseline(self) -> str:
        """The policy that the others are compared with."""
        return next(iter(self.cells.values()))[0].label

    @property
    def intervals_s(self) -> list[float]:
        """Seconds between checkpoints, ascending."""
        return list(self.cells)

    @property
    def lost_s(self) -> float:
        """Work that a preemption loses at every interval."""
        return _costs(next(iter(self.cells.values()))[0]).lost_s

    @cached_property
    def points(self) -> list[Point]:
        """Interval by interval, the policies in the order of the comparison."""
        return [_point(group, groups[0], interval) for interval, groups in self.cells.items() for group in groups]

    def ahead_of(self, policy: str) -> list[tuple[str, float, bool]]:
        """Where a policy other than the baseline has a lower mean than `policy`, the one with the lowest: its name, the
        interval, and whether that may be chance.
        """
        found = []
        for interval_s, groups in self.cells.items():
            mine = next((group for group in groups if group.label == policy), None)
            best = min(groups, key=lambda group: group.mean_jct_s)
            if mine is not None and best.mean_jct_s < mine.mean_jct_s and best is not groups[0]:
                found.append((best.label, interval_s, difference(best, mine, "jct_mean_s").may_be_chance))
        return found

    @cached_property
    def break_evens(self) -> list[BreakEven]:
        """Finds where each policy breaks even, if it is known at all intervals; the baseline is left out."""
        labels = [group.label for group in next(iter(self.cells.values()))[1:]]
        lines = {label: [point for point in self.points if point.policy == label] for label in labels}
        return [_break_even(line) for line in lines.values() if all(p.change.ratio is not None for p in line)]


def price(groups: Sequence[Group], repeated: Repeated, window: tuple[float, float] | None) -> Price | None:
    """Policies at each interval of `repeated`, on the seeds of these runs.

    A policy that does not preempt, or whose overheads are those of an interval already, counts as it is; one that
    preempts and was not run again is left out; the interval of the comparison itself is one of them. None without the
    baseline.

    Args:
        groups: those of the comparison.
        repeated: the runs made again.
        window: jobs to count, as in `summarise`.
    """
    runs = {interval: group_runs(results, window) for interval, results in repeated.items()}
    draws = {run.draw for some in runs.values() for group in some for run in group.runs}
    policies = [group for group in simulated(groups) if not group.is_logged]
    own = [_on_draws(group, draws) for group in policies]
    cells = {s: [_at(s, group, runs.get(s, [])) for group in own] for s in sorted({*runs, _costs(own[0]).interval_s})}
    if any(some[0] is None for some in cells.values()):
        return None
    everywhere = [all(column) for column in zip(*cells.values(), strict=True)]
    kept = {
        interval: [group for group, stays in zip(some, everywhere, strict=True) if group is not None and stays]
        for interval, some in cells.items()
    }
    made = [
        (interval, group, run)
        for interval, some in kept.items()
        for group in some
        if all(group is not mine for mine in own)
        for run in group.runs
    ]
    left_out = [group.label for group, stays in zip(own, everywhere, strict=True) if not stays]
    return Price(kept, made, left_out, all(len(a.runs) == len(b.runs) for a, b in zip(own, policies, strict=True)))


def preempts(run: Run | RunData) -> bool:
    """Whether any of its jobs was preempted, so that it depends on what that costs."""
    jobs = (run.result if isinstance(run, Run) else run).jobs
    return bool(jobs["preemptions"].sum())


def _on_draws(group: Group, draws: set[tuple[int, int]]) -> Group:
    return replace(group, runs=tuple(run for run in group.runs if run.draw in draws))


def _at(interval_s: float, group: Group, repeated: Sequence[Group]) -> Group | None:
    """The group at an interval: made again, or as it is where that changes nothing; None where it is not known."""
    found = next((other for other in repeated if is_same_but("overheads", other.first, group.first)), None)
    if found is not None:
        return replace(found, label=group.label, is_baseline=group.is_baseline)
    costs = _costs(group)
    unchanged = costs.at_interval(interval_s) == costs or not any(map(preempts, group.runs))
    return group if unchanged else None


def _costs(group: Group) -> Overheads:
    return load_overheads(group.first.result.info["overheads"])


def _point(group: Group, baseline: Group, interval_s: float) -> Point:
    return Point(
        policy=group.label,
        checkpoint_every_s=interval_s,
        seeds=group.seeds,
        jct_mean_s=group.mean("jct_mean_s"),
        change=difference(group, baseline, "jct_mean_s"),
        preemptions=group.mean("preemptions"),
        lost_gpu_hours=group.mean("lost_gpu_hours"),
    )


def _break_even(line: Sequence[Point]) -> BreakEven:
    ahead = [(point.change.ratio or 0.0) < 0 for point in line]
    first = ahead[0]
    count = ahead.index(not first) if (not first) in ahead else len(line)
    at_s = _crossing_s(line[count - 1], line[count]) if count < len(line) else None
    again = [point for point, is_ahead in zip(line, ahead, strict=True) if is_ahead is first][count:]
    again_s = [point.checkpoint_every_s for point in again]
    again_by_chance = bool(again) and all(point.change.may_be_chance for point in again)
    may_be_chance = all(point.change.may_be_chance for point, is_ahead in zip(line, ahead, strict=True) if is_ahead)
    return BreakEven(line[0].policy, first, at_s, again_s, again_by_chance, may_be_chance and any(ahead))


def _crossing_s(below: Point, above: Point) -> float:
    """Where the straight line between two points is 0."""
    low, high = below.change.ratio or 0.0, above.change.ratio or 0.0
    span_s = above.checkpoint_every_s - below.checkpoint_every_s
    return below.checkpoint_every_s + span_s * -low / (high - low)
