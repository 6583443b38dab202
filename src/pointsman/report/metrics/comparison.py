"""Several policies side by side, each against one baseline."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any

from pointsman.engine.run.result import Result
from pointsman.errors import UsageError
from pointsman.report.as_table import AsTable
from pointsman.report.metrics.calibration.fits import Calibration, calibration
from pointsman.report.metrics.groups import Group, baseline_of, group_runs, simulated
from pointsman.report.metrics.paired.changes import Change, changes
from pointsman.report.metrics.paired.differences import Difference, differences
from pointsman.report.metrics.price import Price, Repeated, price
from pointsman.report.units import class_name

METRICS = (
    "jct_mean_s", "jct_p50_s", "jct_p90_s", "jct_p95_s", "jct_p99_s",
    "pending_mean_s", "pending_p50_s", "pending_p90_s", "pending_p95_s", "pending_p99_s", "pending_max_s",
    "wait_mean_s", "wait_p50_s", "wait_p90_s", "wait_p95_s", "wait_p99_s", "comm_mean_s", "comm_ratio",
    "makespan_s", "gpu_allocated_ratio", "gpu_productive_ratio", "window_allocated_ratio", "preemptions",
    "preemptions_max", "lost_gpu_hours", "fairness_rho_max", "fairness_rho_mean", "fairness_rho_jain",
    "fragmentation_ratio", "jct_lower_bound_s", "jct_above_bound_ratio", "deadlines_met_ratio", "engine_s",
    "decisions_per_s",
)  # fmt: skip
"""What is compared, by the names of ``summary.json``."""

COUNTS = ("jobs_counted", "jobs_censored")
"""Jobs that the figures are of, and jobs that they leave out for not having run to their end."""

TIMINGS = ("engine_s", "decisions_per_s")
"""Metrics that tell of the machine, not of the policies: they have a change, and no interval."""


@dataclass(frozen=True)
class Row:
    """One policy: each figure is the mean over its runs; `differences` are to the baseline, on jobs both completed.

    The `COUNTS` are of all runs together, their differences the mean over the common ones.
    """

    policy: str
    knowledge: str
    profiles: str
    progress: str
    seeds: list[int]
    workload_seeds: list[int]
    """Those that its workloads were drawn with; none where it has one workload."""
    jobs_counted: int
    jobs_censored: int
    values: dict[str, float | None]
    differences: dict[str, Difference]

    def figure(self, name: str) -> float | None:
        """One of the `METRICS` or `COUNTS`."""
        return getattr(self, name) if name in COUNTS else self.values[name]


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
        """The same of one policy."""
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
        """One row a policy: each figure, its change to the baseline as a ratio, and the interval of that."""
        return as_csv([record(row) for row in self.rows])

    def __repr__(self) -> str:
        """``Comparison(fifo, gittins -12.3 %)``: mean JCT against the baseline."""
        return f"Comparison({mean_changes(self.rows)})"

    def _table(self) -> Any:
        return import_module("pointsman.report.tables.equal_columns").laid_out(self)


def mean_changes(rows: Sequence[Row]) -> str:
    """``fifo, gittins -12.3 %``: mean JCT against the baseline."""
    changes = ((row.policy, row.differences["jct_mean_s"].ratio) for row in rows)
    return ", ".join(name if not ratio else f"{name} {100 * ratio:+.1f} %" for name, ratio in changes)


def as_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Rows with equal keys as CSV text."""
    text = io.StringIO()
    table = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(records)
    return text.getvalue()


def record(row: Row) -> dict[str, Any]:
    """A row of ``comparison.csv``."""
    figures = {name: row.figure(name) for name in (*COUNTS, *METRICS)}
    seeds = {name: " ".join(map(str, getattr(row, name))) for name in ("seeds", "workload_seeds")}
    told = {"knowledge": row.knowledge, "profiles": row.profiles, "progress": row.progress}
    return {"policy": row.policy, **told, **seeds, **figures, **_changes(row)}


def _changes(row: Row) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for metric in METRICS:
        change = row.differences[metric]
        found[f"{metric}_change"] = change.ratio
        if metric not in TIMINGS:
            low, high = change.ratio_interval or (None, None)
            found |= {f"{metric}_change_low": low, f"{metric}_change_high": high}
    return found


def compare(
    results: Sequence[Result],
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
    base = baseline_of(groups)
    rows = [_row(group, base) for group in groups]
    return Comparison(groups, rows, price(groups, repeated, window) if repeated else None)


def _in_order(groups: list[Group], baseline: str | None) -> list[Group]:
    """The log's own schedule, the baseline, the others; the baseline is marked."""
    chosen = _chosen(groups, baseline)
    others = [group for group in groups if group is not chosen]
    others.sort(key=lambda group: not group.is_logged)
    place = 1 if others and others[0].is_logged else 0
    return [*others[:place], replace(chosen, is_baseline=True), *others[place:]]


def _chosen(groups: list[Group], baseline: str | None) -> Group:
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


def _row(group: Group, baseline: Group) -> Row:
    return Row(
        policy=group.label,
        knowledge=group.knowledge,
        profiles=group.profiles,
        progress=group.progress,
        seeds=group.seeds,
        workload_seeds=group.workload_seeds,
        jobs_counted=group.counted.height,
        jobs_censored=group.censored,
        values={metric: group.mean(metric) for metric in METRICS},
        differences=_told(differences(group, baseline, METRICS + COUNTS)),
    )


def _told(found: dict[str, Difference]) -> dict[str, Difference]:
    bare = {metric: replace(found[metric], interval=None, ratio_interval=None, method="") for metric in TIMINGS}
    return found | bare
