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
from pointsman.policies.registry import get_policy
from pointsman.report.metrics.counted import is_submitted_in, submit_window
from pointsman.report.result import Result
from pointsman.report.summary import summarise

Hint = Callable[[Workload, int], tuple[Workload, str]]
"""From jobs and a seed: jobs with what a policy is to use of durations, and the estimate that reads it."""


@dataclass(frozen=True)
class Contestant:
    """A policy with its parameters, what it uses of durations, and how tables name it."""

    label: str
    policy: str
    params: Mapping[str, Any] = field(default_factory=dict)
    estimate: str | None = None
    placement: str | None = None
    logs: bool = True
    """Whether a plan log is kept where GPUs are shared, to tell how much; policies of short slices log too much."""
    hint: Hint | None = None
    """What stands in for `estimate`, which then only says it in words."""

    @property
    def command(self) -> str:
        """The options that make `pointsman simulate` run it."""
        name = self.policy.partition(":")[0]
        given = [f"--policy {self.policy}", *(f"--set '{name}.{k}={v}'" for k, v in self.params.items())]
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
    also: Callable[[Result], Mapping[str, float | str | None]] | None = None
    """Figures of a run besides those of all pages."""
    digits: int = 4
    """That data files hold of each figure."""
    log: bool = False
    """Whether a plan log is kept of every run."""


def run(who: Contestant, setting: Setting, seed: int) -> dict[str, Any]:
    """The figures of one run; times in seconds."""
    result = simulated(who, setting, seed)
    also = setting.also(result) if setting.also else {}
    said = {"durations": f"estimate {who.estimate}"} if who.hint else {}
    found = figures(result, setting.warmup) | said | also
    return {name: rounded(value, setting.digits) if name not in COUNTS else value for name, value in found.items()}


def simulated(who: Contestant, setting: Setting, seed: int) -> Result:
    """One run."""
    jobs, estimate = who.hint(setting.jobs, seed) if who.hint else (setting.jobs, who.estimate)
    return simulate(
        jobs, setting.cluster, who.policy, params=dict(who.params) or None, seed=seed, estimate=estimate,
        placement=who.placement, log=setting.log or (who.logs and shares(who.policy)), **setting.options,
    )  # fmt: skip


def shares(policy: str) -> bool:
    """Whether two jobs may be on one GPU under it."""
    return jobs_per_gpu(get_policy(policy).factory, None) > 1


def counted(result: Result, warmup: float) -> pl.DataFrame:
    """The jobs whose submits count."""
    return result.jobs.filter(is_submitted_in(result.jobs, submit_window(result, _window(result, warmup))))


def _window(result: Result, warmup: float) -> tuple[float, float]:
    return warmup * submit_window(result).to_s, math.inf


def figures(result: Result, warmup: float) -> dict[str, Any]:
    """What data files hold of a run."""
    found, jobs = summarise(result, window=_window(result, warmup)), counted(result, warmup)
    above = found["jct_above_bound_ratio"]
    slowdown = (jobs["jct_s"] / jobs["duration_s"].clip(10.0)).clip(1.0)
    return {
        "durations": found["knowledge"], "profiles": found["told_profiles"] or "none", "progress": found["progress"],
        "jobs": found["jobs_counted"], "unfinished": found["jobs_censored"],
        **{name: found[name] for name in SUMMARY},
        "above_bound_percent": None if above is None else 100 * above,
        "slowdown_p99": slowdown.quantile(0.99, "linear"), "slowdown_max": slowdown.max(),
        "pending_max_s": jobs["pending_s"].max(),
        "preemptions": found["preemptions"] / result.jobs.height,
        "on_nodes_mean": jobs.filter(pl.col("nodes") > 1)["nodes"].mean(),
        **{name: value for name, value in (found["sharing"] or {}).items() if name in OF_SHARING},
    }  # fmt: skip


COUNTS = ("jobs", "unfinished")
SUMMARY = (
    "jct_mean_s", "jct_p99_s", "pending_mean_s", "pending_p99_s", "comm_mean_s", "makespan_s", "makespan_lower_bound_s",
    "fairness_rho_max", "window_allocated_ratio",
)  # fmt: skip
OF_SHARING = ("jobs_shared_ratio", "gpu_shared_ratio", "accumulated_ratio", "slow_down_mean")
"""Only of policies that share GPUs, from their plan log."""


def rounded(value: Any, digits: int) -> Any:
    """A number to so many digits; words as they are."""
    return value if value is None or isinstance(value, str) else float(f"{float(value):.{digits}g}")
