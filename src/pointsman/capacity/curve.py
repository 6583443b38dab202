"""A metric of jobs by the size of the cluster, and the least size that meets a target."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pointsman.errors import UsageError
from pointsman.inputs.messages import counted
from pointsman.report.metrics.comparison_rows import TIMINGS
from pointsman.report.metrics.threshold import OPERATORS, parse_threshold
from pointsman.report.units import digits, duration, percent

RISING = ("fairness_rho_jain",)
"""Figures that more nodes may raise."""


@dataclass(frozen=True)
class Target:
    """What a metric must be: ``pending_p90_s<=3600``."""

    text: str
    metric: str
    comparison: str
    limit: float

    def is_met(self, value: float | None) -> bool:
        """Whether it is so; an unknown metric is not."""
        return value is not None and OPERATORS[self.comparison](value, self.limit)

    def render(self, value: float | None) -> str:
        """The metric, or the limit, as people read it."""
        if value is None:
            return "unknown"
        if self.metric.endswith("_s"):
            return duration(value)
        return percent(value) if self.metric.endswith("_ratio") else digits(value)


def parse_target(text: str) -> Target:
    """Reads ``METRIC OP VALUE``; the value of a time may be a duration, as in ``pending_p90_s<=1h``.

    Raises:
        UsageError: it is no such condition, there is no such metric, or it is a change to a baseline or a timing of
            this computer.
    """
    found = parse_threshold(text)
    if found.metric in TIMINGS:
        raise UsageError(f"--target {text!r:.60} is about this computer; give a metric of jobs: 'pending_p90_s<=1h'")
    if found.kind != "value":
        raise UsageError(f"--target {text!r} is a change to a baseline; give a value, as in 'pending_p90_s<=3600'")
    if found.comparison.startswith(">") and found.metric not in RISING:
        raise UsageError(
            f"--target {text!r:.60}: more nodes lower this metric, so no least number of them reaches it; give what it "
            "may be at most, as in 'pending_p90_s<=1h'"
        )
    return Target(text, found.metric, found.comparison, found.limit)


@dataclass(frozen=True)
class Point:
    """One size."""

    nodes: int
    gpus: int
    value: float | None
    """The metric, the mean over seeds; None: unknown, or a job could never run."""


@dataclass(frozen=True)
class Curve:
    """One policy."""

    policy: str
    points: Sequence[Point]
    """By size."""
    answer: Point | None
    """The least from which on all sizes around it meet the target; None: none does."""


def sentence(curves: Sequence[Curve], target: Target, nodes: Callable[[int], str]) -> str:
    """Says the answer, the policy that needs least first; `nodes` describes a number of nodes."""
    able = sorted((c for c in curves if c.answer is not None), key=lambda c: c.answer.gpus)  # ty: ignore
    told = [
        f"{c.policy} meets it with {counted(c.answer.gpus, 'GPU')} ({nodes(c.answer.nodes)})"
        for c in able
        if c.answer is not None
    ]
    unable = [c for c in curves if c.answer is None]
    told += [f"{c.policy} does not meet it with up to {counted(c.points[-1].gpus, 'GPU')}" for c in unable]
    limit = f"{target.metric} {target.comparison} {target.render(target.limit)}"
    return f"Target {limit}: {', '.join(told)}."


def notes(curves: Sequence[Curve], metric: str) -> list[str]:
    """What may surprise about the curves of `metric`."""
    told, alike = [], []
    for curve in curves:
        known = [point for point in curve.points if point.value is not None]
        if _levels_off(curve, known):
            told.append(f"{curve.policy}: with more GPUs it stays as it is: {_what_holds_back(known[-1], metric)}")
        elif any(smaller.value == larger.value != 0 for smaller, larger in pairwise(known)):
            alike.append(curve.policy)
        if _turns(known):
            told.append(f"{curve.policy}: the curve is not monotone: with more nodes jobs start in another order")
    if alike:
        told.append(
            f"{', '.join(alike)}: some neighbouring sizes have the same value: the jobs behind it do not wait for the "
            "nodes between them, which are of another partition or type, or too few for their gangs"
        )
    return told


def _what_holds_back(largest: Point, metric: str) -> str:
    """What keeps a metric from falling further."""
    if metric.startswith(("pending", "wait")) and largest.value:
        return "quotas or limits of queues hold jobs back, not the cluster"
    return "what is left is the time that jobs run, or quotas hold jobs back; more nodes change neither"


def _levels_off(curve: Curve, known: Sequence[Point]) -> bool:
    """Whether the target is not met, and the largest sizes are all alike."""
    return curve.answer is None and len(known) > 1 and known[-1].value == known[-2].value


def _turns(points: Sequence[Point]) -> bool:
    """Whether a metric goes up at one place and down at another."""
    steps = [(b.value or 0.0) - (a.value or 0.0) for a, b in pairwise(points)]
    return any(step > 0 for step in steps) and any(step < 0 for step in steps)
