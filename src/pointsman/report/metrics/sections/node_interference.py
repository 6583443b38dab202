"""Jobs that slow each other on different GPUs of a node: how many, by how much, and what that cost."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from pointsman.report.metrics.measured import Measured
from pointsman.report.units import NOTHING, digits, percent
from pointsman.sums import total

KEY, TITLE = "node_interference", "Node interference"


def _source(info: Mapping[str, Any]) -> str:
    return str(info.get("node_interference") or "none")


def described(info: Mapping[str, Any]) -> str:
    """What was assumed."""
    source = _source(info)
    return source if source == "none" else f"jobs slow each other on nodes, by {source}"


def metrics(run: Measured) -> dict[str, Any] | None:
    """How many of the jobs counted were slowed, and by how much; None where jobs do not slow each other on nodes. The
    time is that which all factors cost: where GPUs are shared, also the slowdown there.
    """
    if _source(run.result.info) == "none":
        return None
    jobs = run.counted.select("slowed_s", "run_s", gpu_s=pl.col("gpus") * pl.col("run_s"))
    slowed = jobs.filter(pl.col("slowed_s") > 0)
    ran_s, lost_s, gpu_s = (total(jobs[name]) for name in ("run_s", "slowed_s", "gpu_s"))
    lost_gpu_s = total(run.counted["gpus"] * run.counted["slowed_s"])
    return {
        "source": _source(run.result.info),
        "jobs_slowed_ratio": len(slowed) / len(jobs) if len(jobs) else None,
        "gpu_hours_of_slowed_ratio": total(slowed["gpu_s"]) / gpu_s if gpu_s else None,
        "gpu_hours_lost_ratio": lost_gpu_s / gpu_s if gpu_s else None,
        "slow_down_mean": ran_s / (ran_s - lost_s) if ran_s > lost_s else None,
    }


def lines(metrics: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Rows of the summary table."""
    if metrics is None:
        return []
    mean = metrics["slow_down_mean"]
    return [
        ("jobs slowed on nodes", f"{percent(metrics['jobs_slowed_ratio'])} (by {metrics['source']})"),
        ("… slowdown by jobs beside them, times, mean", NOTHING if mean is None else digits(mean)),
        ("… GPU-hours of slowed jobs, of those run", percent(metrics["gpu_hours_of_slowed_ratio"])),
        ("… GPU-hours lost to the slowdown, of those run", percent(metrics["gpu_hours_lost_ratio"])),
    ]
