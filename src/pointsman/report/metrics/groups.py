"""Runs of the same policy on several seeds, side by side with those of other policies."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.engine.run.result import Result
from pointsman.errors import UsageError
from pointsman.report.metrics.counted import Window, counted_jobs, submit_window
from pointsman.report.metrics.holdings import holdings, horizon_s
from pointsman.report.metrics.shared import interference_of, jobs_per_gpu
from pointsman.report.metrics.summary import summarise
from pointsman.report.units import policy_name


@dataclass(frozen=True)
class Run:
    """A result, and what is said of it."""

    result: Result
    window: Window
    counted: pl.DataFrame
    summary: dict[str, Any]

    @property
    def seed(self) -> int:
        """The run's seed."""
        return int(self.result.info["seed"])

    @property
    def gpus(self) -> int:
        """GPUs of the cluster."""
        return int(self.result.info["gpus"])

    @cached_property
    def held(self) -> pl.DataFrame | None:
        """Who held what when, as `holdings` gives it."""
        return holdings(self.result)


@dataclass(frozen=True)
class Group:
    """Runs that differ in nothing but the seed, by increasing seed."""

    label: str
    runs: tuple[Run, ...]

    @property
    def first(self) -> Run:
        """The run of the lowest seed, shown where several cannot be."""
        return self.runs[0]

    @property
    def seeds(self) -> list[int]:
        """The seeds of its runs."""
        return [run.seed for run in self.runs]

    @property
    def knowledge(self) -> str:
        """What its policy was told of durations."""
        return str(self.first.result.info.get("knowledge", "none"))

    @cached_property
    def depends_on_seed(self) -> bool:
        """Whether its seeds make a difference: to the jobs, or to what became of them."""
        first = self.first.result.jobs.drop("estimate_s")
        return any(not run.result.jobs.drop("estimate_s").equals(first) for run in self.runs[1:])

    @cached_property
    def counted(self) -> pl.DataFrame:
        """Counted jobs of all seeds together; of one seed where the others are the same."""
        runs = self.runs if self.depends_on_seed else self.runs[:1]
        return pl.concat([run.counted for run in runs], how="vertical_relaxed")

    @property
    def censored(self) -> int:
        """Jobs of `counted`'s seeds that were submitted in the window, and not run to their end."""
        runs = self.runs if self.depends_on_seed else self.runs[:1]
        return sum(run.summary["jobs_censored"] for run in runs)

    def values(self, column: str) -> NDArray[np.float64]:
        """One column of the counted jobs of all seeds, without nulls."""
        return self.counted[column].drop_nulls().to_numpy().astype(np.float64)

    def mean(self, metric: str) -> float | None:
        """Mean over seeds of one figure of the summary; None where a seed has none."""
        found = [run.summary[metric] for run in self.runs]
        return None if None in found else float(np.mean(found))


def shown_span_s(groups: list[Group]) -> float:
    """Where time axes end (s): when the last job does, or sooner if that is long after the last submit."""
    last_end_s = max(horizon_s(group.first.result) for group in groups)
    last_submit_s = max(submit_window(group.first.result).to_s for group in groups)
    return min(last_end_s, 1.4 * last_submit_s) if last_submit_s > 0 else last_end_s


def group_runs(results: Sequence[Result], window: tuple[float, float] | None = None) -> list[Group]:
    """Results by policy and settings, in the order in which each first appears, under labels that tell them apart.

    Raises:
        UsageError: there are none, or one run is there twice.
    """
    if not results:
        raise UsageError("there is no run to report on; give at least one")
    sorts: dict[str, list[Result]] = {}
    for result in results:
        sorts.setdefault(json.dumps(_settings(result), sort_keys=True, default=str), []).append(result)
    labels = _labels([_settings(found[0]) for found in sorts.values()])
    return [_group(label, found, window) for label, found in zip(labels, sorts.values(), strict=True)]


def _group(label: str, results: list[Result], window: tuple[float, float] | None) -> Group:
    seeds = [result.info["seed"] for result in results]
    if len(set(seeds)) < len(seeds):
        raise UsageError(
            f"{label} is there twice with one seed; give each run once, or compare workloads one at a time"
        )
    ordered = sorted(results, key=lambda result: result.info["seed"])
    return Group(label, tuple(_measured(result, window) for result in ordered))


def _measured(result: Result, window: tuple[float, float] | None) -> Run:
    chosen = submit_window(result, window)
    return Run(result, chosen, counted_jobs(result, chosen), summarise(result, window=window))


SETTINGS: dict[str, Callable[[Result], Any]] = {
    "name": lambda result: policy_name(result.info),
    "policy": lambda result: result.info["policy"],
    "knowledge": lambda result: result.info.get("knowledge", "none"),
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
    "enforce_limits": lambda result: "limits enforced" if result.info.get("enforce_limits") else "limits ignored",
    "cluster": lambda result: result.info.get("cluster"),
}
"""What makes two runs differ in more than the seed."""


def _settings(result: Result) -> dict[str, Any]:
    return {name: of(result) for name, of in SETTINGS.items()}


def _labels(settings: list[dict[str, Any]]) -> list[str]:
    return [_label(own, [other for other in settings if other["name"] == own["name"]]) for own in settings]


def _label(own: dict[str, Any], namesakes: list[dict[str, Any]]) -> str:
    telling = [name for name in own if any(other[name] != own[name] for other in namesakes)]
    said = [_said(own[name], [other[name] for other in namesakes]) for name in telling]
    return f"{own['name']} ({', '.join(said)})" if said else own["name"]


def _said(value: Any, others: list[Any]) -> str:
    """A setting in the words that tell it from the others: of several parts, those in which any differ."""
    if not isinstance(value, dict):
        return str(value)
    parts = [o if isinstance(o, dict) else {} for o in others]
    telling = [key for key in value if any(key not in o or o[key] != value[key] for o in parts)]
    return ", ".join(f"{key}={value[key]}" for key in telling) or "defaults"
