"""Several policies side by side, each against one baseline."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pointsman.engine.run.result import Result
from pointsman.errors import UsageError
from pointsman.report.metrics.groups import Group, group_runs
from pointsman.report.metrics.paired import Difference, differences
from pointsman.report.units import class_name

METRICS = (
    "jct_mean_s", "jct_p50_s", "jct_p90_s", "jct_p95_s", "jct_p99_s",
    "pending_mean_s", "pending_p50_s", "pending_p90_s", "pending_p95_s", "pending_p99_s",
    "wait_mean_s", "wait_p50_s", "wait_p90_s", "wait_p95_s", "wait_p99_s", "comm_mean_s", "comm_ratio",
    "makespan_s", "gpu_allocated_ratio", "gpu_productive_ratio", "window_allocated_ratio", "preemptions",
    "lost_gpu_hours", "fairness_rho_max", "fairness_rho_mean", "fairness_rho_jain", "fragmentation_ratio",
    "jct_lower_bound_s", "jct_above_bound_ratio", "engine_s", "decisions_per_s",
)  # fmt: skip
"""What is compared, by the names of ``summary.json``."""

COUNTS = ("jobs_counted", "jobs_censored")
"""Jobs that the figures are of, and jobs that they leave out for not having run to their end."""

TIMINGS = ("engine_s", "decisions_per_s")
"""Metrics that tell of the machine, not of the policies: they have a change, and no interval."""


@dataclass(frozen=True)
class Row:
    """One policy: each figure is the mean over its seeds; `differences` are to the baseline, on jobs both completed.

    The `COUNTS` are of all seeds together, their differences the mean over the common seeds.
    """

    policy: str
    knowledge: str
    profiles: str
    progress: str
    seeds: list[int]
    jobs_counted: int
    jobs_censored: int
    values: dict[str, float | None]
    differences: dict[str, Difference]

    def figure(self, name: str) -> float | None:
        """One of the `METRICS` or `COUNTS`."""
        return getattr(self, name) if name in COUNTS else self.values[name]


@dataclass(frozen=True)
class Comparison:
    """Policies side by side, the baseline first."""

    groups: list[Group]
    rows: list[Row]

    @property
    def baseline(self) -> Row:
        """The policy the others are measured against."""
        return self.rows[0]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"baseline": self.baseline.policy, "rows": [asdict(row) for row in self.rows]}

    def to_json(self) -> str:
        """As JSON text."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def to_csv(self) -> str:
        """One row a policy: each figure, its change to the baseline as a ratio, and the interval of that."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        parts = {
            metric: ("change",) if metric in TIMINGS else ("change", "change_low", "change_high") for metric in METRICS
        }
        changes = [f"{metric}_{part}" for metric in METRICS for part in parts[metric]]
        table.writerow(["policy", "knowledge", "profiles", "progress", "seeds", *COUNTS, *METRICS, *changes])
        for row in self.rows:
            seeds = " ".join(map(str, row.seeds))
            figures = map(row.figure, (*COUNTS, *METRICS))
            table.writerow([row.policy, row.knowledge, row.profiles, row.progress, seeds, *figures, *_changes(row)])
        return text.getvalue()


def _changes(row: Row) -> list[float | None]:
    found: list[float | None] = []
    for metric in METRICS:
        change = row.differences[metric]
        found += [change.ratio, *(() if metric in TIMINGS else change.ratio_interval or (None, None))]
    return found


def compare(
    results: Sequence[Result], *, baseline: str | None = None, window: tuple[float, float] | None = None
) -> Comparison:
    """Puts policies side by side; runs of one policy with several seeds are one row.

    Args:
        results: the runs. Differences are paired on the seeds that a policy and the baseline have in common.
        baseline: label of the policy to compare with; by default that of the first result.
        window: jobs to count, as in `summarise`.

    Raises:
        UsageError: no results, a run given twice, an unknown baseline, or an empty window.
    """
    groups = _baseline_first(group_runs(results, window), baseline)
    return Comparison(groups, [_row(group, groups[0]) for group in groups])


def _baseline_first(groups: list[Group], baseline: str | None) -> list[Group]:
    if baseline is None:
        return groups
    labels = [group.label for group in groups]
    found = [group for group in groups if group.label == baseline] or [
        group for group in groups if baseline in _other_names(group)
    ]
    if len(found) != 1:
        raise UsageError(
            f"the baseline {baseline!r} is not among the policies compared; choose from {', '.join(labels)}"
        )
    return [*found, *(group for group in groups if group is not found[0])]


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
        jobs_counted=group.counted.height,
        jobs_censored=group.censored,
        values={metric: group.mean(metric) for metric in METRICS},
        differences=_told(differences(group, baseline, METRICS + COUNTS)),
    )


def _told(found: dict[str, Difference]) -> dict[str, Difference]:
    bare = {metric: replace(found[metric], interval=None, ratio_interval=None, method="") for metric in TIMINGS}
    return found | bare
