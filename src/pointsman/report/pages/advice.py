"""What a site should run: a comparison with its present scheduler, and how well the model of that fits the log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from pointsman.inputs.messages import counted
from pointsman.report.comparison import Comparison
from pointsman.report.metrics.calibration.verdict import LEAST_WAITING, Check, Verdict, judge
from pointsman.report.metrics.groups import Group, baseline_of, simulated
from pointsman.report.metrics.paired.differences import Difference, difference
from pointsman.report.pages.lead import featured, losers, price_of, who_pays, with_interval
from pointsman.report.tables.advice import FIGURES, check_cells, error_s, fit_table, part_tables, reading
from pointsman.report.units import duration, names

METRIC: Final = "jct_mean_s"
"""What policies are ranked by."""
UNTOLD: Final = (
    "The log does not record reservations, holds, drained or failed nodes, and jobs of other partitions that used "
    "these nodes."
)


@dataclass(frozen=True)
class Advice:
    """What follows from a comparison whose baseline is the model of the present scheduler, beside the log's own
    schedule. As text it is a paragraph, the advice first.
    """

    comparison: Comparison
    assumed: Sequence[str] = field(default=())
    """What the model assumes of the present scheduler, and what its configuration says and is not modelled."""

    @cached_property
    def verdict(self) -> Verdict:
        """How well the model fits."""
        groups = self.comparison.groups
        return judge(baseline_of(groups), groups[0])

    @property
    def policy(self) -> str | None:
        """The policy that the advice is about; None without a fit or a policy to compare."""
        one = self._featured if self.verdict.is_good else None
        return None if one is None else one.label

    @property
    def is_to_change(self) -> bool:
        """Whether another policy is advised."""
        return self.policy is not None and self._reading == "gain"

    @property
    def fit(self) -> str:
        """How well the model fits, in a sentence or two."""
        verdict = self.verdict
        if not verdict.has_enough:
            return _too_few(verdict)
        model = f"The model of the present scheduler ({verdict.policy})"
        if verdict.failed:
            said = [f"{check.name} {value} (limit {limit})" for check, (value, limit) in _cells(verdict.failed)]
            return f"{model} does not fit the log; beyond the limit: {names(said, most=len(said))}."
        said = [f"{check.name} {value}" for check, (value, _) in _cells(verdict.checks)]
        return f"{model} fits the log within every limit: {names(said, most=len(said))}."

    @property
    def untold(self) -> list[str]:
        """What the fit depends on, and what may explain that it is not better."""
        found = self.comparison.calibration
        return [*self.assumed, UNTOLD, *(found.explanations if found else [])]

    @property
    def lead(self) -> str:
        """The advice, or that there is none and why."""
        if not self.verdict.is_good:
            return f"No advice: {self.fit[0].lower()}{self.fit[1:]}"
        return f"{self._conclusion()}{self._cost()}{self._others()}"

    def __str__(self) -> str:
        """The advice, and how well the model fits."""
        return f"{self.lead} {self.fit}" if self.verdict.is_good else self.lead

    def _conclusion(self) -> str:
        """Which policy, how much, and how sure that is."""
        base = self.comparison.baseline.policy
        if self.policy is None:
            return f"Advice: keep {base}. No other policy can be compared with it."
        change, error = self._change, error_s(self.comparison, METRIC)
        means = f"from {duration(self._mean(base))} to {duration(self._mean(self.policy))}"
        much = f"mean completion time {with_interval(change)}, {means}"
        if self.is_to_change:
            sure = f", more than the {duration(error)} by which the model misses the log" if error else ""
            return f"Advice: run {self.policy} instead of {base}: {much}{sure}."
        why = {
            "within error": f", no more than the {duration(error)} by which the model misses the log",
            "may be chance": ", which may be chance",
        }.get(self._reading, "")
        return f"Advice: keep {base}. Under {self.policy} {much}{why}."

    def _cost(self) -> str:
        """Who loses by the change that is advised, and at which interval between checkpoints it no longer pays."""
        if not self.is_to_change:
            return ""
        groups = simulated(self.comparison.groups)
        return losers(who_pays(self.comparison, groups)) + price_of(self.comparison.price, groups)

    def _others(self) -> str:
        """What the other policies would change, each with its reading."""
        said = []
        for row in self.comparison.policies:
            if row.policy not in (self.policy, self.comparison.baseline.policy):
                change = row.differences[METRIC]
                called = reading(change, error_s(self.comparison, METRIC))
                said.append(f"{row.policy} {with_interval(change)} ({called})")
        return f" Mean completion time under other policies: {', '.join(said)}." if said else ""

    @cached_property
    def _featured(self) -> Group | None:
        return featured(simulated(self.comparison.groups))

    @cached_property
    def _change(self) -> Difference:
        assert self._featured is not None, "asked only where there is a policy"
        return difference(self._featured, baseline_of(self.comparison.groups), METRIC)

    @property
    def _reading(self) -> str:
        return reading(self._change, error_s(self.comparison, METRIC))

    def _mean(self, policy: str) -> float | None:
        return next(row.values[METRIC] for row in self.comparison.rows if row.policy == policy)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: the advice, the fit, each figure's reading, and the comparison."""
        readings = {
            row.policy: {name: reading(row.differences[name], error_s(self.comparison, name)) for name in FIGURES}
            for row in self.comparison.policies
            if row.policy != self.comparison.baseline.policy and self.verdict.is_good
        }
        errors = {name: error_s(self.comparison, name) for name in FIGURES}
        told = {"advice": str(self), "policy": self.policy, "is_to_change": self.is_to_change}
        fit = {"fit": self.verdict.to_dict(), "untold": self.untold, "model_error": errors, "readings": readings}
        return told | fit | {"comparison": self.comparison.to_dict()}


def fit_section(advice: Advice) -> dict[str, Any]:
    """What a page says of how well the model fits."""
    verdict = advice.verdict
    tables = {"checks": fit_table(verdict), "parts": part_tables(verdict.checks)}
    return {"said": advice.fit, "untold": advice.untold} | tables


def _too_few(verdict: Verdict) -> str:
    waited = f"In the log {verdict.waiting:,} of {counted(verdict.jobs, 'job')} waited for more than a minute"
    return f"{waited}; fewer than {LEAST_WAITING} say too little of the scheduler."


def _cells(checks: Sequence[Check]) -> Iterator[tuple[Check, tuple[str, str]]]:
    return ((check, check_cells(check)) for check in checks)
