"""Runs of the same policy on several seeds, side by side with those of other policies."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.engine.rate_models.registry import options_of_factors
from pointsman.engine.run.result import RunData
from pointsman.errors import UsageError
from pointsman.inputs.messages import described
from pointsman.report.metrics.counted import submit_window
from pointsman.report.metrics.draws import workload_seeds
from pointsman.report.metrics.holdings import horizon_s
from pointsman.report.metrics.measured import Measured
from pointsman.report.metrics.shared import interference_of, jobs_per_gpu
from pointsman.report.metrics.summary import BREAKDOWNS, breakdown, metrics_of
from pointsman.report.units import policy_name


@dataclass(frozen=True)
class Run(Measured):
    """A result, and what is said of it: tables, figures, pages, run directories and comparisons are made of this."""

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Its metrics, as `summarise` gives them."""
        return metrics_of(self)

    @cached_property
    def paired(self) -> dict[tuple[str, int], tuple["Run", Any]]:
        """What `differences` has resampled, by column and the id of the other run, which is held here."""
        return {}


def measure(result: RunData, window: tuple[float, float] | None = None) -> Run:
    """A run to report on, measured once whatever is made of it; `window` as in `summarise`.

    Raises:
        UsageError: no job was submitted in the window.
    """
    return Run(result, submit_window(result, window))


@dataclass(frozen=True)
class Group:
    """Runs that differ in nothing but seeds, by increasing seeds: those of their workloads, then their own."""

    label: str
    runs: tuple[Run, ...]
    is_baseline: bool = False
    """Whether the others are compared with it."""

    @property
    def is_logged(self) -> bool:
        """Whether it is no policy's, but the schedule that the log records."""
        return bool(self.first.result.info.get("logged"))

    @cached_property
    def tells_places(self) -> bool:
        """Whether it is known where its jobs ran: of the log's own schedule, for half of those that started or more."""
        if not self.is_logged:
            return True
        started = self.first.result.jobs.filter(pl.col("start_s").is_not_null())
        known = started.height - started["locality"].null_count()
        return 0 < known >= started.height - known

    @property
    def first(self) -> Run:
        """The run of the lowest seed, shown where several cannot be."""
        return self.runs[0]

    @property
    def seeds(self) -> list[int]:
        """The seeds of its runs, each once."""
        return sorted({run.seed for run in self.runs})

    @property
    def workload_seeds(self) -> list[int]:
        """The seeds of its workloads, each once; none where it has one workload."""
        return workload_seeds(self.runs)

    @property
    def knowledge(self) -> str:
        """What its policy was told of durations."""
        return str(self.first.result.info.get("knowledge", "none"))

    @property
    def profiles(self) -> str:
        """What its policy was told of model profiles."""
        return str(self.first.result.info.get("told_profiles", "none"))

    @property
    def progress(self) -> str:
        """What its policy observed of jobs that run or have run."""
        return str(self.first.result.info.get("progress", "none"))

    @cached_property
    def depends_on_seed(self) -> bool:
        """Whether its seeds make a difference: to the jobs, or to what became of them."""
        first = self.first.result.jobs.drop("estimate_s")
        return any(not run.result.jobs.drop("estimate_s").equals(first) for run in self.runs[1:])

    @cached_property
    def counted(self) -> pl.DataFrame:
        """Counted jobs of all seeds together; of one seed where the others are the same."""
        if not self.depends_on_seed:
            return self.first.counted
        return pl.concat([run.counted for run in self.runs], how="vertical_relaxed")

    def broken_down(self, by: str) -> list[dict[str, Any]]:
        """`breakdown` of the counted jobs; of several seeds, sums are means over the runs."""
        if not self.depends_on_seed:
            return self.first.summary[BREAKDOWNS[by]]
        sums = ("jobs", "gpu_hours", "preemptions")
        return [row | {name: row[name] / len(self.runs) for name in sums} for row in breakdown(self.counted, by)]

    @property
    def censored(self) -> int:
        """Jobs of `counted`'s seeds that were submitted in the window, and not run to their end."""
        runs = self.runs if self.depends_on_seed else self.runs[:1]
        return sum(run.summary["jobs_censored"] for run in runs)

    def values(self, column: str) -> NDArray[np.float64]:
        """One column of the counted jobs of all seeds, without nulls, in increasing order; sorted once."""
        if column not in self._sorted:
            self._sorted[column] = np.sort(self.counted[column].drop_nulls().to_numpy().astype(np.float64))
        return self._sorted[column]

    @cached_property
    def _sorted(self) -> dict[str, NDArray[np.float64]]:
        return {}

    def mean(self, metric: str) -> float | None:
        """Mean over seeds of one metric of the summary; None where a seed has none."""
        found = [run.summary[metric] for run in self.runs]
        return None if None in found else float(np.mean(found))

    @property
    def mean_jct_s(self) -> float:
        """To rank by: endless where a seed has none."""
        found = self.mean("jct_mean_s")
        return float("inf") if found is None else found


def baseline_of(groups: Sequence[Group]) -> Group:
    """The group that the others are compared with: the first, if none is marked."""
    return next((group for group in groups if group.is_baseline), groups[0])


def simulated(groups: Sequence[Group]) -> list[Group]:
    """The groups of policies, the baseline first, without the log's own schedule if there are any others."""
    first = baseline_of(groups)
    ordered = [first, *(group for group in groups if group is not first)]
    return [group for group in ordered if not group.is_logged] or ordered


LONGEST_NAME = 120
"""Characters of a label in the name of a folder."""


def run_name(group: Group, run: Run) -> str:
    """The folder of a run in a comparison's ``runs/``; what is left out of a long label shows in a digest."""
    name = re.sub(r"[^A-Za-z0-9._+-]+", "-", group.label).strip("-")
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}-{hashlib.sha256(group.label.encode()).hexdigest()[:8]}"
    of_workload = f"_w{run.workload_seed}" if len(group.seeds) < len(group.runs) else ""
    return f"{name}{of_workload}_s{run.seed}"


def with_known_places(groups: Sequence[Group]) -> list[Group]:
    """The groups of which it is known where jobs ran, in their order."""
    return [group for group in groups if group.tells_places]


def shown_span_s(groups: list[Group]) -> float:
    """Where time axes end (s): when the last job does, or sooner if that is long after the last submit."""
    last_end_s = max(horizon_s(group.first.result) for group in groups)
    last_submit_s = max(submit_window(group.first.result).to_s for group in groups)
    return min(last_end_s, 1.4 * last_submit_s) if last_submit_s > 0 else last_end_s


def group_runs(results: Sequence[RunData | Run], window: tuple[float, float] | None = None) -> list[Group]:
    """Results by policy and settings, in the order in which each first appears, under labels that tell them apart.

    `window` is for results; a `Run` has its own.

    Raises:
        UsageError: there are none, one run is there twice, or no job was submitted in the window.
    """
    some = list(results) if isinstance(results, Iterable) and not isinstance(results, str | RunData) else None
    if some is None or not all(isinstance(each, RunData | Run) for each in some):
        raise UsageError(
            f"compare takes a list of results, or a workload, a cluster and policies, not {described(results)}: "
            "pointsman.compare(workload, cluster, policies)"
        )
    runs = [result if isinstance(result, Run) else measure(result, window) for result in some]
    if not runs:
        raise UsageError("no run to report; give at least one")
    sorts: dict[str, list[Run]] = {}
    for run in runs:
        sorts.setdefault(json.dumps(_settings(run.result), sort_keys=True, default=str), []).append(run)
    labels = _labels([_settings(found[0].result) for found in sorts.values()])
    return [_group(label, found) for label, found in zip(labels, sorts.values(), strict=True)]


def _group(label: str, runs: list[Run]) -> Group:
    if len({run.draw for run in runs}) < len(runs):
        raise UsageError(
            f"{label} occurs twice with the same seed; give each run once, or compare one workload at a time"
        )
    if workload_seeds(runs) and len(made := {_recipe(run.result) for run in runs}) > 1:
        raise UsageError(
            f"the workloads of {label} differ in more than the seed: {'; '.join(sorted(made))}; compare those that "
            "were generated alike, and report others separately"
        )
    return Group(label, tuple(sorted(runs, key=lambda run: run.draw)))


def _recipe(result: RunData) -> str:
    """How its jobs were generated, without the seed."""
    told = result.info["workload"]
    while "seed" not in told and "origin" in told:
        told = told["origin"]
    return re.sub(r"\bseed=\d+", "seed=…", str(told["command"]))


def _option(name: str, result: RunData) -> str | None:
    value = result.info.get(name)
    return None if value is None else f"{name.replace('_', ' ')} {value}"


SETTINGS: dict[str, Callable[[RunData], Any]] = {
    "name": lambda result: policy_name(result.info),
    "policy": lambda result: result.info["policy"],
    "knowledge": lambda result: result.info.get("knowledge", "none"),
    "profile_error": lambda result: f"profile error {result.info.get('profile_error') or 0:g}",
    "params": lambda result: result.info.get("params") or {},
    "placement": lambda result: result.info.get("placement"),
    "overheads": lambda result: result.info.get("overheads"),
    "oversized": lambda result: result.info.get("oversized") or "refuse",
    "assign_models": lambda result: result.info.get("assign_models"),
    "profiles": lambda result: ", ".join(result.info.get("profiles") or ()) or "shipped profiles",
    "congestion": lambda result: result.info.get("congestion") or {},
    "contention": lambda result: result.info.get("contention") or "none",
    "rate_model": lambda result: result.info.get("rate_model") or "rates",
    "gpu_sharing": lambda result: f"{jobs_per_gpu(result.info)} jobs a GPU",
    "interference": lambda result: interference_of(result.info) and f"interference {interference_of(result.info)}",
    "decision_time": lambda result: f"{result.info.get('decision_time') or 0:g} s to decide",
    "enforce_limits": lambda result: "limits enforced" if result.info.get("enforce_limits") else "limits ignored",
    "cluster": lambda result: result.info.get("cluster"),
}
SETTINGS |= {name: partial(_option, name) for name in options_of_factors() if name not in SETTINGS}
"""What makes two runs differ in more than the seed."""


def is_same_but(setting: str, run: Run, other: Run) -> bool:
    """Whether two runs differ in nothing but one of the `SETTINGS` and the seed."""
    one, two = (_settings(each.result) | {setting: None} for each in (run, other))
    return one == two


def _settings(result: RunData) -> dict[str, Any]:
    return {name: of(result) for name, of in SETTINGS.items()}


def _labels(settings: list[dict[str, Any]]) -> list[str]:
    return [_label(own, [other for other in settings if other["name"] == own["name"]]) for own in settings]


def _label(own: dict[str, Any], namesakes: list[dict[str, Any]]) -> str:
    telling = [name for name in own if any(other[name] != own[name] for other in namesakes)]
    said = [_setting_label(own[name], [other[name] for other in namesakes]) for name in telling]
    return f"{own['name']} ({', '.join(said)})" if said else own["name"]


def _setting_label(value: Any, others: list[Any]) -> str:
    """A setting in the words that tell it from the others: of several parts, those in which any differ."""
    if not isinstance(value, dict):
        return str(value)
    parts = [o if isinstance(o, dict) else {} for o in others]
    telling = [key for key in value if any(key not in o or o[key] != value[key] for o in parts)]
    return ", ".join(f"{key}={value[key]}" for key in telling) or "defaults"
