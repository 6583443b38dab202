"""The policies that are compared with `gittins`, and what each uses of durations."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from benchmarks.results.contestant import Contestant
from pointsman import Workload

Limits = Callable[[Workload, int], Workload]
"""Puts what policies are to use of durations, from a seed, into ``time_limit_s``, which `--estimate limit` reads."""

LADDER_GPU_S: Final = [float(round(s)) for s in np.geomspace(600.0, 1e7, 20)]
"""A fine ladder of thresholds."""


def limited(limits: Limits, jobs: Workload, seed: int) -> tuple[Workload, str]:
    """A hint by time limits."""
    return limits(jobs, seed), "limit"


def noisy(r2: float, jobs: Workload, _: int) -> tuple[Workload, str]:
    """A hint by noise on the logarithm of durations that leaves a share `r2` of its variance explained."""
    variance = float(np.log(jobs.jobs["duration_s"].to_numpy()).var())
    return jobs, f"lognormal:{np.sqrt(variance * (1 / r2 - 1)):.4f}"


def shuffled(jobs: Workload, seed: int) -> Workload:
    """Every job has the duration of another: R² 0."""
    seconds = jobs.jobs["duration_s"].to_numpy().copy()
    np.random.default_rng(seed).shuffle(seconds)
    return with_limits(jobs, seconds)


def reversed_halfway(jobs: Workload, seed: int) -> Workload:
    """True durations in the first half of the jobs; then the longest has that of the shortest."""
    seconds = jobs.jobs["duration_s"].to_numpy().copy()
    late = seconds[len(seconds) // 2 :]
    ranks = np.argsort(np.argsort(late, kind="stable"), kind="stable")
    seconds[len(seconds) // 2 :] = np.sort(late)[::-1][ranks]
    return with_limits(jobs, seconds)


REQUESTS_S: Final = tuple(3600.0 * hours for hours in (1, 2, 4, 8, 12, 24, 48, 96, 168, 336, 720))
"""Time limits that users choose from."""


def requested(jobs: Workload, seed: int) -> Workload:
    """Synthetic time limits, for logs have none: the least of `REQUESTS_S` that is at least the duration times
    1 + |x|, x normal with a standard deviation of 2. A longer job has the last of these, or its duration.
    """
    seconds = jobs.jobs["duration_s"].to_numpy()
    cautious = seconds * (1 + np.abs(np.random.default_rng(seed).normal(0.0, 2.0, len(seconds))))
    chosen = np.searchsorted(REQUESTS_S, cautious).clip(max=len(REQUESTS_S) - 1)
    return with_limits(jobs, np.maximum(np.array(REQUESTS_S)[chosen], seconds))


def with_limits(jobs: Workload, seconds: np.ndarray) -> Workload:
    """These time limits."""
    return replace(jobs, jobs=jobs.jobs.with_columns(time_limit_s=np.maximum(seconds, 0.001)))


ESTIMATE: Final = {"predictor": "estimate"}
GITTINS, NONE = "gittins", "gittins, no predictor"
ORACLES: Final = ("gittins, oracle", "srtf, tightest, oracle")
FREE: Final = (
    Contestant("fifo", "fifo"),
    Contestant("fifo-backfill", "fifo-backfill"),
    Contestant("kueue", "kueue"),
    Contestant("packed", "packed"),
    Contestant("las", "las"),
    Contestant("las, tightest", "las", placement="tightest"),
    Contestant("las, 20 thresholds", "las", {"thresholds_gpu_s": LADDER_GPU_S}),
    Contestant("las, 20 thresholds, tightest", "las", {"thresholds_gpu_s": LADDER_GPU_S}, placement="tightest"),
    Contestant("tiresias", "tiresias"),
    Contestant("tiresias, 20 thresholds", "tiresias", {"thresholds_gpu_s": LADDER_GPU_S}),
    Contestant("tiresias-skew", "tiresias-skew"),
    Contestant("dally", "dally"),
    Contestant("dally, 600 s", "dally", {"quantum_s": 600}),
    Contestant("dally-whole-nodes", "dally-whole-nodes"),
    Contestant(NONE, "gittins", {"predictor": "none"}),
    Contestant(GITTINS, "gittins"),
)
"""Those that require no durations."""
RIVALS: Final = tuple(who.label for who in FREE if who.policy != "gittins")


def _explained(policy: str, r2: float) -> Contestant:
    params = ESTIMATE if policy == "gittins" else {}
    said = f"lognormal:σ, σ for an R² of {r2:g}"
    return Contestant(f"{policy}, R² {r2:g}", policy, params, said, hint=partial(noisy, r2))


def _wrong(policy: str) -> tuple[Contestant, Contestant]:
    params = ESTIMATE if policy == "gittins" else {}
    return (
        Contestant(f"{policy}, shuffled", policy, params, "limit, of shuffled durations",
                   hint=partial(limited, shuffled)),
        Contestant(f"{policy}, reversed halfway", policy, params, "limit, of durations reversed halfway",
                   hint=partial(limited, reversed_halfway)),
    )  # fmt: skip


HINTED: Final = (
    *(_explained("gittins", r2) for r2 in (0.8, 0.6, 0.25)),
    *_wrong("gittins"),
    _explained("srtf", 0.6),
    *_wrong("srtf"),
    Contestant(ORACLES[0], "gittins", ESTIMATE, "oracle"),
    Contestant(ORACLES[1], "srtf", estimate="oracle", placement="tightest"),
)
"""Those that use durations, more or less true."""
KEEPING: Final = Contestant("gittins, preempt=false", "gittins", {"preempt": False})
"""It preempts nothing, as `fifo-backfill` and `sjf-backfill` do."""
AGEING: Final = tuple(Contestant(f"gittins, ageing={a:g}", "gittins", {"ageing": a}) for a in (0.01, 0.1, 1.0))


def _estimated(policy: str) -> tuple[Contestant, ...]:
    asked = "limit, of synthetic requests"
    return (
        Contestant(f"{policy}, history", policy, estimate="history"),
        Contestant(f"{policy}, limit", policy, estimate=asked, hint=partial(limited, requested)),
        Contestant(f"{policy}, oracle", policy, estimate="oracle"),
    )


LEARNT: Final = tuple(who for policy in ("sjf", "sjf-backfill", "srtf", "easy") for who in _estimated(policy))
"""Estimates from history for policies that need durations, beside synthetic time limits and the truth."""
SLOW: Final = (Contestant("gandiva", "gandiva"),)
"""It requires no durations either, but takes more than a minute on a large cluster."""
PERIODIC: Final = "periodic"
"""Overheads by which preempted jobs lose what they have done since their last checkpoint."""
RULES: Final = (
    Contestant("gittins, cost_weight=0", "gittins", {"cost_weight": 0}),
    Contestant("gittins, patience_s=0", "gittins", {"patience_s": 0}),
)
"""Without one of the rules of ADR 17 and 18."""
COSTLY: Final = (
    *(who for who in FREE if who.label in ("fifo-backfill", "las, 20 thresholds, tightest", "dally", GITTINS)),
    RULES[0], KEEPING,
)  # fmt: skip
"""Those that are shown where preempted jobs lose work."""
DEEP: Final = (*HINTED, KEEPING, *AGEING, *LEARNT)
