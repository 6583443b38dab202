"""The rows of a comparison: the metrics of each policy, and their differences to the baseline."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pointsman.report.metrics.groups import Group, baseline_of
from pointsman.report.metrics.paired.differences import Difference, differences

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
"""Jobs that the metrics are of, and jobs that they leave out for not having run to their end."""

TIMINGS = ("engine_s", "decisions_per_s")
"""Metrics that tell of the machine, not of the policies: they have a change, and no interval."""


@dataclass(frozen=True)
class Row:
    """One policy: each metric is the mean over its runs; `differences` are to the baseline, on jobs both completed.

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

    def metric(self, name: str) -> float | None:
        """One of the `METRICS` or `COUNTS`."""
        return getattr(self, name) if name in COUNTS else self.values[name]


class Compared(Protocol):
    """What tables and conditions read of a comparison (`report.comparison.Comparison`)."""

    @property
    def groups(self) -> Sequence[Group]: ...
    @property
    def rows(self) -> Sequence[Row]: ...
    @property
    def baseline(self) -> Row: ...
    @property
    def policies(self) -> Sequence[Row]: ...


def rows_of(groups: Sequence[Group]) -> list[Row]:
    """Makes a row of each group."""
    base = baseline_of(groups)
    return [_row(group, base) for group in groups]


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
    metrics = {name: row.metric(name) for name in (*COUNTS, *METRICS)}
    seeds = {name: " ".join(map(str, getattr(row, name))) for name in ("seeds", "workload_seeds")}
    told = {"knowledge": row.knowledge, "profiles": row.profiles, "progress": row.progress}
    return {"policy": row.policy, **told, **seeds, **metrics, **_changes(row)}


def _changes(row: Row) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for metric in METRICS:
        change = row.differences[metric]
        found[f"{metric}_change"] = change.ratio
        if metric not in TIMINGS:
            low, high = change.ratio_interval or (None, None)
            found |= {f"{metric}_change_low": low, f"{metric}_change_high": high}
    return found


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
        differences=_without_timing_intervals(differences(group, baseline, METRICS + COUNTS)),
    )


def _without_timing_intervals(found: dict[str, Difference]) -> dict[str, Difference]:
    bare = {metric: replace(found[metric], interval=None, ratio_interval=None, method="") for metric in TIMINGS}
    return found | bare
