"""The policies that are compared with `gittins`, and what each is told of durations."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import polars as pl

from pointsman import Workload

Hint = Callable[[Workload, int], Workload]
"""Puts what policies are told of durations, from a seed, into ``time_limit_s``, which `--estimate limit` reads."""

LADDER_GPU_S: Final = tuple(float(round(s)) for s in np.geomspace(600.0, 1e7, 20))
"""A fine ladder of thresholds."""


@dataclass(frozen=True)
class Contestant:
    """A policy with its parameters, and what it is told of durations."""

    label: str
    policy: str
    params: dict[str, Any] = field(default_factory=dict)
    estimate: str | None = None
    r2: float | None = None
    """Of the logarithm of durations that the estimate explains; None: as `estimate` says."""
    hint: Hint | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def estimate_for(self, jobs: pl.DataFrame) -> str | None:
        """Noise on the logarithm that leaves a share `r2` of its variance explained."""
        if self.r2 is None:
            return self.estimate
        variance = float(np.log(jobs["duration_s"].to_numpy()).var())
        return f"lognormal:{np.sqrt(variance * (1 / self.r2 - 1)):.4f}"


def shuffled(jobs: Workload, seed: int) -> Workload:
    """Every job is told the duration of another: R² 0."""
    told = jobs.jobs["duration_s"].to_numpy().copy()
    np.random.default_rng(seed).shuffle(told)
    return _told(jobs, told)


def reversed_halfway(jobs: Workload, seed: int) -> Workload:
    """True durations in the first half of the jobs; then the longest is told to be the shortest."""
    told = jobs.jobs["duration_s"].to_numpy().copy()
    late = told[len(told) // 2 :]
    ranks = np.argsort(np.argsort(late, kind="stable"), kind="stable")
    told[len(told) // 2 :] = np.sort(late)[::-1][ranks]
    return _told(jobs, told)


REQUESTS_S: Final = tuple(3600.0 * hours for hours in (1, 2, 4, 8, 12, 24, 48, 96, 168, 336, 720))
"""Time limits that users choose from."""


def requested(jobs: Workload, seed: int) -> Workload:
    """Synthetic time limits, for logs have none: the least of `REQUESTS_S` that is at least the duration times
    1 + |x|, x normal with a standard deviation of 2. A longer job has the last of these, or its duration.
    """
    seconds = jobs.jobs["duration_s"].to_numpy()
    cautious = seconds * (1 + np.abs(np.random.default_rng(seed).normal(0.0, 2.0, len(seconds))))
    chosen = np.searchsorted(REQUESTS_S, cautious).clip(max=len(REQUESTS_S) - 1)
    return _told(jobs, np.maximum(np.array(REQUESTS_S)[chosen], seconds))


def _told(jobs: Workload, seconds: np.ndarray) -> Workload:
    return replace(jobs, jobs=jobs.jobs.with_columns(time_limit_s=pl.Series(np.maximum(seconds, 0.001))))


ESTIMATE: Final = {"predictor": "estimate"}
GITTINS, NONE = "gittins", "gittins, no predictor"
TOLD: Final = ("gittins, told", "srtf, tightest, told")
RUNNABLE: Final = (
    Contestant("fifo", "fifo"),
    Contestant("fifo-backfill", "fifo-backfill"),
    Contestant("kueue", "kueue"),
    Contestant("packed", "packed"),
    Contestant("las", "las"),
    Contestant("las, 20 thresholds", "las", {"thresholds_gpu_s": LADDER_GPU_S}),
    Contestant("tiresias", "tiresias"),
    Contestant("tiresias, 20 thresholds", "tiresias", {"thresholds_gpu_s": LADDER_GPU_S}),
    Contestant("tiresias-skew", "tiresias-skew"),
    Contestant("dally", "dally"),
    Contestant("dally, 600 s", "dally", {"quantum_s": 600}),
    Contestant("dally-whole-nodes", "dally-whole-nodes"),
    Contestant(NONE, "gittins", {"predictor": "none"}),
    Contestant(GITTINS, "gittins"),
)
"""Those that are told no durations."""
HINTED: Final = (
    *(Contestant(f"gittins, R² {r2:g}", "gittins", ESTIMATE, r2=r2) for r2 in (0.8, 0.6, 0.25)),
    Contestant("gittins, shuffled", "gittins", ESTIMATE, "limit", hint=shuffled),
    Contestant("gittins, reversed halfway", "gittins", ESTIMATE, "limit", hint=reversed_halfway),
    Contestant("srtf, R² 0.6", "srtf", r2=0.6),
    Contestant("srtf, shuffled", "srtf", estimate="limit", hint=shuffled),
    Contestant("srtf, reversed halfway", "srtf", estimate="limit", hint=reversed_halfway),
    Contestant(TOLD[0], "gittins", ESTIMATE, "oracle"),
    Contestant(TOLD[1], "srtf", estimate="oracle", options={"placement": "tightest"}),
)
"""Those that are told durations, more or less."""
KEEPING: Final = (Contestant("gittins, preempt=false", "gittins", {"preempt": False}),)
"""It preempts nothing, as `fifo-backfill` and `sjf-backfill` do."""
AGEING: Final = tuple(Contestant(f"gittins, ageing={a:g}", "gittins", {"ageing": a}) for a in (0.01, 0.1, 1.0))
LEARNT: Final = tuple(
    Contestant(f"{policy}, {estimate}", policy, estimate=estimate, hint=requested if estimate == "limit" else None)
    for policy in ("sjf", "sjf-backfill", "srtf", "easy")
    for estimate in ("history", "limit", "oracle")
)
"""Estimates from history for policies that need durations, beside synthetic time limits and the truth."""
SLOW: Final = (Contestant("gandiva", "gandiva"),)
"""It is told no durations either, but takes more than a minute on a large cluster."""
