"""The metrics of one run (``docs/background/metrics.md`` defines each)."""

from typing import Any

import numpy as np
import polars as pl

from pointsman.engine.run.result import RunData
from pointsman.report.metrics.counted import ENDED, Window, deadlines_met_ratio, is_submitted_in, submit_window
from pointsman.report.metrics.fairness import jain_index
from pointsman.report.metrics.holdings import horizon_s, is_one_of, mean_held
from pointsman.report.metrics.lower_bound import lower_bound_s
from pointsman.report.metrics.measured import Measured
from pointsman.report.metrics.proximity import least_s
from pointsman.report.metrics.sections.registered import section_metrics
from pointsman.report.metrics.shared import most_gpus_of_work, part_asked, shares_gpus
from pointsman.report.metrics.steps import step_means
from pointsman.report.units import policy_name
from pointsman.sums import mean, total, total_of

PERCENTILES = (50, 90, 95, 99)

BREAKDOWNS = {"bucket": "by_gpus", "account": "by_account", "queue": "by_queue", "user": "by_user"}
"""Columns of `counted_jobs` by which the summary breaks its metrics down, and what it calls that."""

NOT_LOGGED = (
    "gpu_productive_ratio", "gpu_hours_productive", "preemptions", "preemptions_max", "jobs_preempted", "resizes",
    "lost_gpu_hours",
    "fragmentation_ratio", "fragmentation", "decisions", "engine_s", "decisions_per_s",
)  # fmt: skip
"""Figures that cannot be told of the schedule that a log records."""

LATE = 1.001
"""A finish-time fairness above this is late; times are in milliseconds, so a job that never waited is not just 1."""


def metrics_of(run: Measured) -> dict[str, Any]:
    """`summarise` of a run that has been measured."""
    result, chosen, counted, held = run.result, run.window, run.counted, run.held
    return {
        **_identity(result),
        **_counts(result, chosen, counted),
        **job_metrics(result, counted),
        "deadlines_met_ratio": deadlines_met_ratio(result, chosen),
        **_makespan(result),
        **_usage(result, chosen, held),
        **_preemptions(result),
        **_fragmentation(result, chosen),
        "locality": _locality(counted),
        **_speed(result),
        "sharing": None,  # in every summary, as its format says
        **section_metrics(run),
        **{name: breakdown(counted, by) for by, name in BREAKDOWNS.items()},
        **(dict.fromkeys(NOT_LOGGED) if result.info.get("logged") else {}),
    }


def job_metrics(result: RunData, counted: pl.DataFrame) -> dict[str, Any]:
    """The metrics of `summarise` that are of jobs, not of the cluster, over these rows of `counted_jobs`."""
    return {
        **_times("jct", counted["jct_s"]),
        **_times("pending", counted["pending_s"]),
        **_times("wait", counted["wait_s"]),
        "pending_max_s": counted["pending_s"].max(),
        "preemptions_max": counted["preemptions"].max(),
        **_communication(counted),
        **_bound(result, counted),
        **_fairness(counted),
    }


def _communication(counted: pl.DataFrame) -> dict[str, float | None]:
    """How much of their running time jobs wait for communication."""
    run_s = total(counted["run_s"])
    if counted.height and counted["comm_s"].null_count() == counted.height:
        return {"comm_mean_s": None, "comm_ratio": None}
    return {
        "comm_mean_s": mean(counted["comm_s"]),
        "comm_ratio": total(counted["comm_s"]) / run_s if run_s > 0 else None,
    }


def breakdown(counted: pl.DataFrame, by: str) -> list[dict[str, Any]]:
    """The main metrics per value of one column of `counted_jobs`: buckets in order, others by GPU-hours, most first."""
    if by not in counted.columns:
        return []
    groups = (
        counted.filter(pl.col(by).is_not_null())
        .group_by(by, maintain_order=True)
        .agg(
            pl.len().alias("jobs"),
            (pl.col("held_gpu_s").sum() / 3600).alias("gpu_hours"),
            *_time_columns("jct"),
            *_time_columns("pending"),
            *_time_columns("wait"),
            pl.col("rho").mean().alias("fairness_rho_mean"),
            pl.col("preemptions").sum(),
        )
    )
    ordered = groups.sort(by) if by == "bucket" else groups.sort(["gpu_hours", by], descending=[True, False])
    return ordered.to_dicts()


def _time_columns(name: str) -> list[pl.Expr]:
    column = pl.col(f"{name}_s")
    quantiles = [column.quantile(p / 100, "linear").alias(f"{name}_p{p}_s") for p in PERCENTILES]
    return [column.mean().alias(f"{name}_mean_s"), *quantiles]


def _times(name: str, values: pl.Series) -> dict[str, float | None]:
    ordered = pl.Series(np.sort(values.drop_nulls().to_numpy())).set_sorted()  # or every quantile sorts again
    quantiles = {f"{name}_p{p}_s": ordered.quantile(p / 100, "linear") for p in PERCENTILES}
    return {f"{name}_mean_s": mean(values), **quantiles}


def _identity(result: RunData) -> dict[str, Any]:
    keys = ("knowledge", "told_profiles", "progress", "params", "placement", "overheads", "seed", "cluster", "gpus")
    return {"policy": policy_name(result.info), **{key: result.info.get(key) for key in keys}}


def _counts(result: RunData, window: Window, counted: pl.DataFrame) -> dict[str, Any]:
    jobs, gpus = result.jobs, int(result.info["gpus"])
    submitted = int(is_submitted_in(jobs, window).sum())
    span_s = submit_window(result).span_s
    asked_gpu_s = _gpu_s(result, pl.col("duration_s"))
    return {
        "jobs": jobs.height,
        "jobs_counted": counted.height,
        "jobs_censored": submitted - counted.height,
        "window": {"from_s": window.from_s, "to_s": window.to_s},
        "load": asked_gpu_s / (gpus * span_s) if span_s > 0 else None,
        **{name: result.info[name] for name in ("schedulers", "forwards") if name in result.info},
    }


def _makespan(result: RunData) -> dict[str, float | None]:
    jobs = result.jobs
    if jobs["end_s"].null_count() == jobs.height:
        return {"makespan_s": None, "makespan_lower_bound_s": None}
    most = most_gpus_of_work(result)
    seconds = least_s(result)
    longest_s = float(jobs.select(seconds.max()).item())
    return {
        "makespan_s": float(jobs["end_s"].max() - jobs["submit_s"].min()),  # ty: ignore
        "makespan_lower_bound_s": most and max(_gpu_s(result, seconds) / most, longest_s),
    }


def _gpu_s(result: RunData, seconds: pl.Expr) -> float:
    """Sum over the jobs of GPUs asked for times seconds."""
    return total_of(result.jobs, pl.col("gpus") * part_asked(result) * seconds)


def _bound(result: RunData, counted: pl.DataFrame) -> dict[str, float | None]:
    most = most_gpus_of_work(result)
    if counted.is_empty() or most is None:
        return {"jct_lower_bound_s": None, "jct_above_bound_ratio": None}
    columns = counted.select("submit_s", "asked", least_s(result))
    bound_s = lower_bound_s(*(column.to_numpy() for column in columns), most)
    mean_s = mean(counted["jct_s"]) or 0.0
    return {"jct_lower_bound_s": bound_s, "jct_above_bound_ratio": mean_s / bound_s - 1 if bound_s > 0 else None}


_USAGE = (
    "gpu_allocated_ratio", "gpu_productive_ratio", "window_allocated_ratio", "gpu_hours_offered",
    "gpu_hours_allocated", "gpu_hours_productive",
)  # fmt: skip


def _usage(result: RunData, window: Window, held: pl.DataFrame | None) -> dict[str, float | None]:
    whole = Window(0.0, horizon_s(result))
    if result.jobs["held_gpu_s"].null_count():
        return dict.fromkeys(_USAGE) | {"gpu_hours_offered": int(result.info["gpus"]) * whole.span_s / 3600}
    offered_gpu_s = int(result.info["gpus"]) * whole.span_s
    held_gpu_s = total(result.jobs["held_gpu_s"])
    if shares_gpus(result):  # a GPU is in use once, however many jobs are on it
        held_gpu_s = (_gpus_in_use(result, whole, held) or 0.0) * whole.span_s
    cut_work_s = (pl.col("run_s") - pl.col("lost_s")).clip(0, pl.col("duration_s"))
    if "done_s" in result.jobs.columns:
        cut_work_s = pl.col("done_s")
    done_gpu_s = _gpu_s(result, pl.when(pl.col("state").is_in(ENDED)).then("duration_s").otherwise(cut_work_s))
    in_use = _gpus_in_use(result, window, held) if window.span_s > 0 else None
    return {
        "gpu_allocated_ratio": held_gpu_s / offered_gpu_s if offered_gpu_s else None,
        "gpu_productive_ratio": done_gpu_s / offered_gpu_s if offered_gpu_s else None,
        "window_allocated_ratio": None if in_use is None else in_use / int(result.info["gpus"]),
        "gpu_hours_offered": offered_gpu_s / 3600,
        "gpu_hours_allocated": held_gpu_s / 3600,
        "gpu_hours_productive": done_gpu_s / 3600,
    }


def _gpus_in_use(result: RunData, window: Window, held: pl.DataFrame | None) -> float | None:
    """Time average in the window, by the plan log, or where there is none by the samples."""
    if held is None or window.span_s <= 0:
        return _time_mean(result, result.series["used_gpus"], window)
    one_group = np.zeros(held.height, dtype=np.int64)
    return float(mean_held(held, one_group, 1, np.array([window.from_s, window.to_s]))[0, 0])


def _time_mean(result: RunData, values: pl.Series, window: Window) -> float | None:
    """Time average of a column of the series in the window, or in all of the run if everything came at once.

    None: the column is unknown at some time, or there are no samples.
    """
    if values.is_empty():
        return None
    edges_s = (window.from_s, window.to_s) if window.span_s > 0 else (0.0, max(horizon_s(result), 1e-3))
    found = float(step_means(result.series["time_ms"] / 1000, values.cast(pl.Float64), edges_s)[0])
    return None if np.isnan(found) else found


def _preemptions(result: RunData) -> dict[str, Any]:
    jobs = result.jobs
    return {
        "preemptions": int(jobs["preemptions"].sum()),
        "jobs_preempted": int((jobs["preemptions"] > 0).sum()),
        "resizes": _resizes(result),
        "lost_gpu_hours": _gpu_s(result, pl.col("lost_s")) / 3600,
    }


def _resizes(result: RunData) -> int | None:
    """How often running jobs were given other GPUs; None without a plan log."""
    if result.events is None:
        return None
    return int(result.events.filter(is_one_of(result.events, ("RESIZE",)))["seq"].n_unique())


def _fairness(counted: pl.DataFrame) -> dict[str, Any]:
    rho = counted["rho"].drop_nulls()
    return {
        "fairness_rho_mean": mean(rho),
        "fairness_rho_p50": rho.quantile(0.5, "linear"),
        "fairness_rho_p99": rho.quantile(0.99, "linear"),
        "fairness_rho_max": rho.max(),
        "fairness_rho_above_1_ratio": (rho > LATE).mean(),
        "fairness_rho_jain": jain_index(rho.to_numpy()),
    }


def stranded(series: pl.DataFrame, gpus: int) -> pl.Series:
    """Idle GPUs of each sample that the first waiting job cannot use although it asks for no more than are idle;
    null where that is unknown.
    """
    idle = gpus - pl.col("used_gpus")
    waits_in_vain = (pl.col("head_gpus") > 0) & (pl.col("head_gpus") <= idle)
    lost = pl.when(waits_in_vain).then(idle).when(waits_in_vain.is_not_null()).then(0)
    return series.select(lost.alias("stranded")).to_series()


def _fragmentation(result: RunData, window: Window) -> dict[str, Any]:
    gpus, series = int(result.info["gpus"]), result.series
    lost = stranded(series, gpus)
    means = {
        "lost_mean": lost,
        "blocked_time_ratio": lost > 0,
        "idle_gpus_mean": gpus - series["used_gpus"],
        "largest_free_mean": series["largest_free"],
        "whole_free_nodes_mean": series["whole_free_nodes"],
    }
    found: dict[str, Any] = {name: _time_mean(result, values, window) for name, values in means.items()}
    if None in found.values():
        return {"fragmentation_ratio": None, "fragmentation": None}
    return {"fragmentation_ratio": found.pop("lost_mean") / gpus, "fragmentation": found}


def _locality(counted: pl.DataFrame) -> dict[str, int]:
    counts = (
        counted.filter(pl.col("locality").is_not_null())
        .group_by("locality")
        .len()
        .sort("len", "locality", descending=True)
    )
    return dict(counts.iter_rows())


def _speed(result: RunData) -> dict[str, Any]:
    engine_s, decisions = float(result.info["engine_s"] or 0.0), int(result.info["decisions"] or 0)
    return {
        "decisions": decisions,
        "engine_s": engine_s,
        "decisions_per_s": decisions / engine_s if engine_s > 0 else None,
    }
