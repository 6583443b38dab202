"""GPUs that jobs share: how much of the sharing that was allowed there was, and what it cost."""

from typing import Any

import polars as pl

from pointsman.report.metrics.measured import Measured
from pointsman.report.metrics.shared import allowed, interference_of, jobs_per_gpu, shares_gpus
from pointsman.report.units import NOTHING, digits, percent
from pointsman.sums import mean, total

KEY, TITLE = "sharing", "GPU sharing"
FROM_LOG = ("jobs_shared_ratio", "gpu_shared_ratio", "accumulated_ratio", "stretch_shared", "slow_down_mean")
"""Figures of sharing that are read from the plan log."""

described = allowed


def metrics(run: Measured) -> dict[str, Any] | None:
    """How much of the sharing that was allowed there was; None where a GPU has one job. Without a plan log (`held` is
    None) only what was allowed.
    """
    result, held, counted = run.result, run.held, run.counted
    if not shares_gpus(result):
        return None
    limit = {"jobs_per_gpu": jobs_per_gpu(result.info), "interference": interference_of(result.info)}
    if held is None or result.events is None:
        return limit | dict.fromkeys(FROM_LOG)
    beside = held.filter(pl.col("beside") > 1)
    in_use_s, shared_s = (total(one["gpus"] * (one["to_s"] - one["from_s"])) for one in (held, beside))
    shared = counted["row"].is_in(beside["row"].unique().implode())
    starts = result.events.filter(result.events["kind"].cast(pl.String) == "START", pl.col("arg") > 1)
    accumulated = counted["row"].is_in(starts["row"].unique().implode())
    stretch = counted.filter(shared, pl.col("duration_s") > 0).select(pl.col("run_s") / pl.col("duration_s"))
    ran_s, slowed_s = (total(counted.filter(shared)[name]) for name in ("run_s", "slowed_s"))
    return limit | {
        "jobs_shared_ratio": shared.mean(),
        "gpu_shared_ratio": shared_s / in_use_s if in_use_s else None,
        "accumulated_ratio": accumulated.mean(),
        "stretch_shared": mean(stretch.to_series()),
        "slow_down_mean": ran_s / (ran_s - slowed_s) if ran_s else None,
    }


def lines(metrics: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Lines on GPUs that jobs share, where they may."""
    if metrics is None:
        return []
    stretch, slow_down, source = (metrics[name] for name in ("stretch_shared", "slow_down_mean", "interference"))
    of_what = f"up to {metrics['jobs_per_gpu']} a GPU{f', interference {source}' if source else ''}"
    return [
        ("jobs that shared a GPU", f"{percent(metrics['jobs_shared_ratio'])} ({of_what})"),
        ("… GPU time shared, of that allocated", percent(metrics["gpu_shared_ratio"])),
        ("… these jobs' running over their duration, mean", NOTHING if stretch is None else digits(stretch)),
        ("… slowdown by co-located jobs, times", NOTHING if slow_down is None else digits(slow_down)),
        ("jobs started with accumulation", percent(metrics["accumulated_ratio"])),
    ]
