"""Alibaba openb 2023 pod lists, with and without times (`docs/formats/openb-pods.md`)."""

import polars as pl

from pointsman.workload.readers.sdk import (
    Quality,
    Rows,
    Source,
    TraceFormat,
    absent,
    has_columns,
    number,
    read_rows,
    settle,
    status,
    text,
)

_SHORT = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
_LONG = ("pod_phase", "creation_time", "deletion_time", "scheduled_time")


def _read(source: Source, gap_s: float = 1.0, duration_s: float = 3600.0) -> tuple[pl.DataFrame, Quality]:
    """`gap_s` and `duration_s` stand in for the times that the short layout does not have."""
    rows = read_rows(source)
    if set(_LONG) <= set(rows.frame.columns):
        return _with_times(source, rows)
    jobs = rows.select(
        **_demand(),
        submit_s=pl.int_range(pl.len()).cast(pl.Float64) * gap_s,
        duration_s=pl.lit(duration_s),
    )
    notes = [
        f"the list has no times: pods are submitted {gap_s:g} s apart in file order and run {duration_s:g} s each; "
        "only packing can be judged from it"
    ]
    return settle(source, jobs, rows=rows, notes=notes)


def _demand() -> dict[str, pl.Expr]:
    share = number("gpu_milli") / 1000
    partial = (number("num_gpu") == 1) & (share > 0) & (share < 1)
    return {"job_id": text("name"), "gpus": number("num_gpu"), "fraction": pl.when(partial).then(share)}


def _with_times(source: Source, rows: Rows) -> tuple[pl.DataFrame, Quality]:
    never = (text("pod_phase").str.to_lowercase() == "pending") | absent("scheduled_time")
    jobs = rows.select(
        **_demand(),
        gpu_type=text("gpu_spec") if "gpu_spec" in rows.frame.columns else pl.lit(None, pl.String),
        queue=text("qos") if "qos" in rows.frame.columns else pl.lit(None, pl.String),
        status=status("pod_phase"),
        submit_s=number("creation_time"),
        duration_s=number("deletion_time") - number("scheduled_time"),
        start_s=number("scheduled_time"),
        end_s=number("deletion_time"),
        dropped=pl.when(never & (number("num_gpu") > 0)).then(pl.lit("never scheduled")),
    )
    notes = ["times are seconds from the trace's start; run time = deletion − scheduling; the QoS class is the queue"]
    return settle(source, jobs, rows=rows, notes=notes)


FORMAT = TraceFormat(
    "openb",
    "Alibaba openb 2023 pod list",
    lambda source: has_columns(source, *_SHORT),
    _read,
    frozenset({"gap_s", "duration_s"}),
)
