"""A policy as it is run, and what a run of it shows."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from pointsman import Workload
from pointsman.api import simulate
from pointsman.cluster import Cluster
from pointsman.engine.rate_models.factors.gpu_sharing import jobs_per_gpu
from pointsman.engine.run.result import Result
from pointsman.policies.registry import get_policy
from pointsman.report.metrics.counted import is_submitted_in, submit_window
from pointsman.report.metrics.summary import summarise


@dataclass(frozen=True)
class Contestant:
    """A policy with its parameters, the durations it uses, and how tables name it."""

    label: str
    policy: str
    params: Mapping[str, Any] = field(default_factory=dict)
    estimate: str | None = None
    placement: str | None = None
    logs: bool = True
    """Whether a plan log is kept where GPUs are shared, to tell how much; policies of short slices log too much."""

    @property
    def command(self) -> str:
        """The options that make `pointsman simulate` run it."""
        given = [f"--policy {self.policy}", *(f"--set '{self.policy}.{k}={v}'" for k, v in self.params.items())]
        given += [f"--{name} {value}" for name, value in vars(self).items() if name in OPTIONS and value]
        return " ".join(given)


OPTIONS = ("estimate", "placement")


@dataclass(frozen=True)
class Setting:
    """Jobs on a cluster, the options of all runs, and the share of the submits, from the first, that does not count."""

    jobs: Workload
    cluster: Cluster
    options: Mapping[str, Any]
    warmup: float
    also: Callable[[Result], Mapping[str, float | None]] | None = None
    """Figures of a run besides those of all pages."""


def run(who: Contestant, setting: Setting, seed: int) -> dict[str, Any]:
    """The figures of one run; times in seconds."""
    result = simulate(
        setting.jobs, setting.cluster, who.policy, params=dict(who.params) or None, seed=seed, estimate=who.estimate,
        placement=who.placement, log=who.logs and shares(who.policy), **setting.options,
    )  # fmt: skip
    also = setting.also(result) if setting.also else {}
    return figures(result, setting.warmup) | {name: _digits(value) for name, value in also.items()}


def shares(policy: str) -> bool:
    """Whether two jobs may be on one GPU under it."""
    return jobs_per_gpu(get_policy(policy).factory, None) > 1


def figures(result: Result, warmup: float) -> dict[str, Any]:
    """What data files hold of a run, four digits of each."""
    window = (warmup * submit_window(result).to_s, math.inf)
    found = summarise(result, window=window)
    counted = result.jobs.filter(is_submitted_in(result.jobs, submit_window(result, window)))
    above = found["jct_above_bound_ratio"]
    slowdown = (counted["jct_s"] / counted["duration_s"].clip(10.0)).clip(1.0)
    wide = counted.filter(pl.col("nodes") > 1)
    return {
        "durations": found["knowledge"], "profiles": found["told_profiles"] or "none", "progress": found["progress"],
        "jobs": found["jobs_counted"], "unfinished": found["jobs_censored"],
        **{name: _digits(found[name]) for name in SUMMARY},
        "above_bound_percent": None if above is None else _digits(100 * above),
        "slowdown_p99": _digits(slowdown.quantile(0.99, "linear")), "slowdown_max": _digits(slowdown.max()),
        "preemptions": _digits(found["preemptions"] / result.jobs.height),
        "on_nodes_mean": _digits(wide["nodes"].mean()),
        **{name: _digits(value) for name, value in (found["sharing"] or {}).items() if name in OF_SHARING},
    }  # fmt: skip


SUMMARY = (
    "jct_mean_s", "jct_p99_s", "pending_mean_s", "pending_p99_s", "comm_mean_s", "makespan_s", "makespan_lower_bound_s",
    "fairness_rho_max", "window_allocated_ratio",
)  # fmt: skip
OF_SHARING = ("jobs_shared_ratio", "gpu_shared_ratio", "accumulated_ratio", "slow_down_mean")
"""Only of policies that share GPUs, from their plan log."""


def _digits(value: Any) -> float | None:
    return None if value is None else float(f"{float(value):.4g}")
