"""Conditions that fail a comparison, for use in CI: ``jct_mean_s>+5%``."""

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pointsman.errors import ThresholdError, UsageError
from pointsman.inputs.durations import parse_duration_s
from pointsman.report.metrics.comparison_rows import COUNTS, METRICS, Compared, Row
from pointsman.report.units import count, digits

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
PATTERN = re.compile(r"\s*(\w+)\s*(>=|<=|>|<)\s*([+-]?)\s*(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*(%?)\s*")

TIMED = re.compile(r"(\s*\w+_s\s*(?:<=|>=|<|>)\s*[+-]?\s*)(\d[\d.]*(?!e[+-]?\d)[a-z]\w*)\s*")


@dataclass(frozen=True)
class Threshold:
    """A condition on one metric: its value, its difference to the baseline, or that as a share of the baseline's."""

    text: str
    metric: str
    comparison: str
    limit: float
    kind: str

    def measure(self, row: Row) -> float | None:
        """What is compared with the limit."""
        if self.kind == "value":
            return row.metric(self.metric)
        change = row.differences[self.metric]
        if self.kind == "difference" or change.value is None or change.ratio is not None:
            return change.value if self.kind == "difference" else change.ratio
        return math.copysign(math.inf, change.value) if change.value else 0.0  # to a baseline of 0

    def fails(self, row: Row) -> bool:
        """Whether the condition came true, or it is unknown whether it did not."""
        found = self.measure(row)
        return found is None or OPERATORS[self.comparison](found, self.limit)


def parse_threshold(text: str) -> Threshold:
    """Reads ``METRIC OP VALUE``.

    ``>+5%`` and ``<-5%`` are changes to the baseline in percent, ``>+60`` a change in the metric's unit, ``>3600`` a
    value, and ``<60%`` a value of a metric that ends in ``_ratio``.

    A value of time may be a duration: ``pending_max_s>30d``, ``jct_mean_s>+1h``.

    Raises:
        UsageError: it is no such condition, or there is no such metric.
    """
    found = PATTERN.fullmatch(_in_seconds(text))
    if found is None:
        raise UsageError(f"{text!r} is not a condition; write it like 'jct_mean_s>+5%' or 'gpu_allocated_ratio<0.6'")
    metric, comparison, sign, number, percent = found.groups()
    if metric not in METRICS + COUNTS:
        raise UsageError(f"{text!r} does not name a metric of comparisons; choose from {', '.join(METRICS + COUNTS)}")
    if percent and not sign and not metric.endswith("_ratio"):
        raise UsageError(
            f"{text!r} does not say what the percentage refers to; write +{number}% for a change to the baseline"
        )
    kind = "value" if not sign else "ratio" if percent else "difference"
    limit = float(sign + number) / (100 if percent else 1)
    if not math.isfinite(limit):
        raise UsageError(f"{text!r:.60} has an infinite limit, so it would never be true")
    return Threshold(text, metric, comparison, limit, kind)


def _in_seconds(text: str) -> str:
    """Converts a duration such as ``1h`` or ``30m`` in a condition to seconds."""
    timed = TIMED.fullmatch(text)
    if timed is None:
        return text
    try:
        return f"{timed[1]}{parse_duration_s(timed[2])!r}"
    except ValueError as wrong:
        raise UsageError(f"{text!r:.60}: {wrong}") from None


def fail_if(comparison: Compared, *conditions: str) -> None:
    """Checks conditions on every policy; those on a change not on the baseline itself.

    Raises:
        ThresholdError: one came true, or is on a metric that is unknown.
        UsageError: one cannot be read.
    """
    check_rows(comparison.policies, comparison.baseline, conditions)


def check_rows(policies: Sequence[Row], baseline: Row, conditions: Sequence[str]) -> None:
    """As `fail_if`, of the rows of policies."""
    broken: list[str] = []
    for threshold in [parse_threshold(text) for text in conditions]:
        rows = [row for row in policies if threshold.kind == "value" or row is not baseline]
        broken += [_describe_broken(threshold, row, baseline) for row in rows if threshold.fails(row)]
    if broken:
        raise ThresholdError("; ".join(broken))


def _describe_broken(threshold: Threshold, row: Row, base: Row) -> str:
    found = threshold.measure(row)
    value, reference = row.metric(threshold.metric), base.metric(threshold.metric)
    if found is None:
        what = threshold.metric if threshold.kind == "value" else f"the change of {threshold.metric} to {base.policy}"
        return f"{threshold.text} cannot be judged: {what} is unknown under {row.policy}{_left_over(row, base)}"
    said = "" if threshold.kind == "value" else f" against {_number(reference)} under {base.policy}"
    change = f" ({100 * found:+.1f} %)" if threshold.kind == "ratio" else ""
    told = f"{threshold.text} came true: {threshold.metric} is {_number(value)} under {row.policy}{said}{change}"
    return told if threshold.metric in COUNTS else told + _left_over(row, base)


def _left_over(*rows: Row) -> str:
    """Jobs that the policies have not run to their end."""
    left = {row.policy: row.jobs_censored for row in rows if row.jobs_censored}
    told = [f"{count(jobs)} under {policy}" for policy, jobs in left.items()]
    return f"; not run to their end: {', '.join(told)}" if told else ""


def _number(value: float | None) -> str:
    return "unknown" if value is None else digits(value)
