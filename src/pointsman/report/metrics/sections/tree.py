"""What gangs pay for their places on the tree of racks, nodes and GPUs (``docs/reference/semantics.md`` §12)."""

from typing import Any

import polars as pl

from pointsman.report.metrics.holdings import horizon_s
from pointsman.report.metrics.measured import Measured
from pointsman.report.metrics.proximity import places
from pointsman.report.units import NOTHING, digits
from pointsman.sums import in_groups, total

KEY = "tree"


def metrics(run: Measured) -> dict[str, Any]:
    """The metrics of a run that are of its tree; None in each place where the plan log is wanted and was not kept."""
    result = run.result
    hours = (result.info.get("until_s") or horizon_s(result)) / 3600
    done_gpu_s = total(result.jobs["gpus"] * result.jobs["done_s"])
    gangs = None if result.events is None else places(result)
    return {
        "work_gpu_hours_per_hour": done_gpu_s / 3600 / hours if hours > 0 else None,
        "jobs_per_hour": float(result.jobs["end_s"].is_not_null().sum()) / hours if hours > 0 else None,
        "cost_mean": None if gangs is None else gangs["cost"].mean(),
        "cost_sum": None if gangs is None else gangs["cost"].sum(),
        "proximity_mean": None if gangs is None else gangs["proximity"].mean(),
        "by_gang": None if gangs is None else _by_gang(gangs),
    }


def _by_gang(gangs: pl.DataFrame) -> list[dict[str, Any]]:
    """Starts, mean cost and mean proximity by GPUs of the gang."""
    named = ("cost", "proximity")
    groups = in_groups(gangs, ["gpus"], *named).sort("gpus")
    means = (pl.col(name).list.mean().alias(f"{name}_mean") for name in named)
    return groups.select("gpus", pl.col("cost").list.len().alias("starts"), *means).to_dicts()


def lines(metrics: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Lines on the communication cost of gangs, where there is one."""
    if metrics is None:
        return []
    work, cost, near = (metrics[name] for name in ("work_gpu_hours_per_hour", "cost_mean", "proximity_mean"))
    return [
        ("progress in an hour", NOTHING if work is None else f"{digits(work)} GPU-hours"),
        ("communication cost of a gang, mean", NOTHING if cost is None else digits(cost)),
        ("proximity of its GPUs, 0 to 1, mean", NOTHING if near is None else digits(near)),
    ]
