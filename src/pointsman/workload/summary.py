"""What a job table holds, in a few figures."""

from typing import Any, Final

import polars as pl

from pointsman.sums import mean, total_of
from pointsman.workload.columns import GPU_S
from pointsman.workload.table import Workload

SIZES: Final = ((1, 1), *((2**k // 2 + 1, 2**k) for k in range(1, 21)))
"""Buckets of GPUs per job, both ends included; those of the report, too."""


def summary(workload: Workload) -> dict[str, Any]:
    """The figures that say what a replay of `workload` will be like.

    `submit_span_s` is last submit less first; `gpu_hours` is Σ GPUs × run time, of a slice its share; `mean_busy_gpus`
    is the same over the span. Percentiles interpolate linearly.
    """
    jobs = workload.jobs
    run, gpus = jobs["duration_s"], jobs["gpus"]
    span_s = float(jobs["submit_s"][-1] - jobs["submit_s"][0])
    gpu_s = total_of(jobs, GPU_S)
    return {
        "jobs": jobs.height,
        "submit_span_s": span_s,
        "gpu_hours": gpu_s / 3600,
        "mean_busy_gpus": gpu_s / span_s if span_s > 0 else None,
        "gpus_mean": mean(gpus),
        "gpus_max": int(gpus.max()),  # ty: ignore[invalid-argument-type]
        "duration_mean_s": mean(run),
        **{f"duration_p{p}_s": run.quantile(p / 100, "linear") for p in (10, 50, 90, 99)},
        "gap_p50_s": jobs["submit_s"].diff().quantile(0.5, "linear"),
        **{f"{name}s": jobs[name].n_unique() - (jobs[name].null_count() > 0) for name in ("user", "queue", "model")},
    }


def sizes(workload: Workload) -> list[dict[str, Any]]:
    """Jobs and GPU-hours by GPUs per job, one row a bucket that has jobs."""
    rows = []
    hours = total_of(workload.jobs, GPU_S) / 3600
    for low, high in SIZES:
        chosen = workload.jobs.filter(pl.col("gpus").is_between(low, high))
        own = total_of(chosen, GPU_S) / 3600
        if chosen.height:
            rows.append(
                {
                    "gpus": f"{low}" if low == high else f"{low}-{high}",
                    "jobs": chosen.height,
                    "jobs_share": chosen.height / workload.jobs.height,
                    "gpu_hours": own,
                    "gpu_hours_share": own / hours if hours else None,
                    "duration_p50_s": chosen["duration_s"].median(),
                }
            )
    return rows


def by_status(workload: Workload) -> list[dict[str, Any]]:
    """Jobs by recorded status, most first; empty where the log records none."""
    counts = workload.jobs["status"].drop_nulls().value_counts(sort=True)
    return [{"status": word, "jobs": n, "jobs_share": n / workload.jobs.height} for word, n in counts.iter_rows()]
