"""Several policies side by side, each against one baseline."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from pointsman.engine.run.result import RunData
from pointsman.errors import UsageError
from pointsman.report.as_table import AsTable
from pointsman.report.metrics.calibration.fits import Calibration, calibration
from pointsman.report.metrics.comparison_rows import Row, as_csv, mean_changes, record, rows_of
from pointsman.report.metrics.groups import Group, baseline_of, group_runs, simulated
from pointsman.report.metrics.paired.changes import Change, changes
from pointsman.report.metrics.price import Price, Repeated, price
from pointsman.report.tables.equal_columns import laid_out
from pointsman.report.tables.tables import Table
from pointsman.report.units import class_name


@dataclass(frozen=True, repr=False)
class Comparison(AsTable):
    """Policies side by side: the log's own schedule first, if there is one, then the baseline."""

    groups: list[Group]
    rows: list[Row]
    price: Price | None = None
    """What becomes of it where preemption loses work; None where that was not simulated."""

    @property
    def baseline(self) -> Row:
        """The policy the others are measured against."""
        return self.rows[self.groups.index(baseline_of(self.groups))]

    @property
    def policies(self) -> list[Row]:
        """The rows of policies, without the log's own schedule."""
        return [row for row, group in zip(self.rows, self.groups, strict=True) if not group.is_logged]

    @cached_property
    def calibration(self) -> Calibration | None:
        """How far the policies are from the log's own schedule; None where it is not known."""
        return calibration(self.groups)

    @cached_property
    def changes(self) -> list[Change]:
        """Who gains and who loses against the baseline: policy by policy, the greatest loss first."""
        return [change for group in simulated(self.groups) for change in self.changes_under(group)]

    def changes_under(self, group: Group) -> list[Change]:
        """Who gains and who loses under one policy: the greatest loss first."""
        if group.label not in self._changes:
            self._changes[group.label] = changes(group, baseline_of(self.groups))
        return self._changes[group.label]

    @cached_property
    def _changes(self) -> dict[str, list[Change]]:
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        found: dict[str, Any] = {"baseline": self.baseline.policy, "rows": [asdict(row) for row in self.rows]}
        if self.calibration is not None:
            found["calibration"] = asdict(self.calibration)
        if self.price is not None:
            found["price"] = [point.record() for point in self.price.points]
        return found

    def to_json(self) -> str:
        """As JSON text."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def to_csv(self) -> str:
        """One row a policy: each metric, its change to the baseline as a ratio, and the interval of that."""
        return as_csv([record(row) for row in self.rows])

    def __repr__(self) -> str:
        """``Comparison(fifo, gittins -12.3 %)``: mean JCT against the baseline."""
        return f"Comparison({mean_changes(self.rows)})"

    def _table(self) -> Table:
        return laid_out(self)


def compare(
    results: Sequence[RunData],
    *,
    baseline: str | None = None,
    window: tuple[float, float] | None = None,
    repeated: Repeated | None = None,
) -> Comparison:
    """Puts policies side by side; runs of one policy with several seeds, or on several workloads that were generated
    alike, are one row.

    Args:
        results: the runs. Differences are paired on the workloads and seeds that a policy and the baseline have in
            common.
        baseline: label of the policy to compare with; by default that of the first result.
        window: jobs to count, as in `summarise`.
        repeated: runs of these policies where preemption loses work, for `Comparison.price`.

    Raises:
        UsageError: no results, a run given twice, an unknown baseline, or an empty window.
    """
    groups = _in_order(group_runs(results, window), baseline)
    return Comparison(groups, rows_of(groups), price(groups, repeated, window) if repeated else None)


def _in_order(groups: list[Group], baseline: str | None) -> list[Group]:
    """The log's own schedule, the baseline, the others; the baseline is marked."""
    chosen = _choose_baseline(groups, baseline)
    others = [group for group in groups if group is not chosen]
    others.sort(key=lambda group: not group.is_logged)
    place = 1 if others and others[0].is_logged else 0
    return [*others[:place], replace(chosen, is_baseline=True), *others[place:]]


def _choose_baseline(groups: list[Group], baseline: str | None) -> Group:
    if baseline is None:
        return next((group for group in groups if not group.is_logged), groups[0])
    labels = [group.label for group in groups]
    found = [group for group in groups if group.label == baseline] or [
        group for group in groups if baseline in _other_names(group)
    ]
    if len(found) != 1:
        raise UsageError(
            f"the baseline {baseline!r} is not among the policies compared; choose from {', '.join(labels)}"
        )
    return found[0]


def _other_names(group: Group) -> tuple[str, str]:
    """What else the policy may be called: as it was asked for, and by its class."""
    asked = str(group.first.result.info["policy"])
    return asked, class_name(asked)
