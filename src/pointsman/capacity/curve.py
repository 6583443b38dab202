"""A figure of jobs by the size of the cluster, and the least size that meets a target."""

from collections.abc import Sequence
from dataclasses import dataclass

from pointsman.errors import UsageError
from pointsman.report.metrics.threshold import OPERATORS, parse_threshold
from pointsman.report.units import count, digits, duration, percent


@dataclass(frozen=True)
class Target:
    """What a figure must be: ``pending_p90_s<=3600``."""

    text: str
    metric: str
    comparison: str
    limit: float

    def is_met(self, value: float | None) -> bool:
        """Whether it is so; an unknown figure is not."""
        return value is not None and OPERATORS[self.comparison](value, self.limit)

    def said(self, value: float | None) -> str:
        """The figure, or the limit, as people read it."""
        if value is None:
            return "unknown"
        if self.metric.endswith("_s"):
            return duration(value)
        return percent(value) if self.metric.endswith("_ratio") else digits(value)


def parse_target(text: str) -> Target:
    """Reads ``METRIC OP VALUE``.

    Raises:
        UsageError: it is no such condition, there is no such metric, or it is a change to a baseline.
    """
    found = parse_threshold(text)
    if found.kind != "value":
        raise UsageError(f"--target {text!r} is a change to a baseline; give a value, as in 'pending_p90_s<=3600'")
    return Target(text, found.metric, found.comparison, found.limit)


@dataclass(frozen=True)
class Point:
    """One size."""

    nodes: int
    gpus: int
    value: float | None
    """The figure, the mean over seeds; None: unknown, or a job could never run."""


@dataclass(frozen=True)
class Curve:
    """One policy."""

    policy: str
    points: Sequence[Point]
    """By size."""
    answer: Point | None
    """The least from which on all sizes around it meet the target; None: none does."""


def sentence(curves: Sequence[Curve], target: Target) -> str:
    """The answer in words, the policy that needs least first."""
    able = sorted((c for c in curves if c.answer is not None), key=lambda c: c.answer.gpus)  # ty: ignore
    told = [f"{c.policy} meets it with {count(c.answer.gpus)} GPUs" for c in able if c.answer is not None]
    unable = [c for c in curves if c.answer is None]
    told += [f"{c.policy} does not meet it with up to {count(c.points[-1].gpus)} GPUs" for c in unable]
    limit = f"{target.metric} {target.comparison} {target.said(target.limit)}"
    return f"Target {limit}: {', '.join(told)}."
