"""What the tables of a run directory must hold for a reader to believe them (``docs/formats/run-directory.md``)."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from pointsman.report.metrics.shared import jobs_per_gpu, model_of_run

WHOLE, NUMBER, TEXT = "whole numbers", "numbers", "texts"
KNOWN, MAY_LACK = True, False
"""Whether every row has a value."""

COLUMNS: Final[dict[str, dict[str, tuple[str, bool]]]] = {
    "jobs.parquet": {
        **dict.fromkeys(("row", "gpus", "preemptions", "nodes"), (WHOLE, KNOWN)),
        **dict.fromkeys(
            ("submit_s", "duration_s", "pending_s", "run_s", "held_gpu_s", "lost_s", "comm_s"), (NUMBER, KNOWN)
        ),
        **dict.fromkeys(("estimate_s", "start_s", "end_s", "wait_s", "jct_s"), (NUMBER, MAY_LACK)),
        **dict.fromkeys(("job_id", "state"), (TEXT, KNOWN)),
        **dict.fromkeys(("user", "queue", "model", "locality"), (TEXT, MAY_LACK)),
    },
    "events.parquet": {
        **dict.fromkeys(("time_ms", "seq", "row", "attempt", "arg", "node", "gpu_mask", "gpus"), (WHOLE, KNOWN)),
        **dict.fromkeys(("kind", "reason"), (TEXT, KNOWN)),
        **dict.fromkeys(("job_id", "node_name"), (TEXT, MAY_LACK)),
    },
    "series.parquet": dict.fromkeys(
        ("time_ms", "used_gpus", "running", "pending", "queued_gpus", "largest_free", "whole_free_nodes", "head_gpus"),
        (WHOLE, KNOWN),
    ),
    "speeds.parquet": {
        **dict.fromkeys(("time_ms", "row"), (WHOLE, KNOWN)),
        **dict.fromkeys(("rate", "slowdown", "computing_slowdown"), (NUMBER, MAY_LACK)),
        "job_id": (TEXT, MAY_LACK),
    },
}


def table_fault(name: str, table: pl.DataFrame) -> str:
    """What is wrong with a table of that name, in some words; empty if nothing is."""
    for column, (kind, known) in COLUMNS[name].items():
        if column not in table.columns:
            return f"the column {column!r} is missing"
        values = table[column]
        if not _is(values.dtype, kind) and not (not known and values.dtype == pl.Null):
            return f"{column} holds {values.dtype}, and no {kind}"
        if known and values.null_count():
            return f"{column} lacks a value"
        if kind == NUMBER and not bool(values.drop_nulls().is_finite().all()):
            return f"{column} holds something else than finite numbers"
    if name == "jobs.parquet" and not table["row"].equals(pl.int_range(table.height, dtype=pl.Int64, eager=True)):
        return "row does not count the jobs"
    return ""


def places_fault(events: pl.DataFrame, jobs: int, nodes: int) -> str:
    """Whether events are of jobs and nodes that there are; empty if so."""
    for name, most in (("row", jobs), ("node", nodes)):
        if events.height and not bool(events[name].is_between(-1, most - 1).all()):
            return f"{name} is of none of the {most:,}"
    return ""


def missing_of_options(info: Mapping[str, Any], jobs: pl.DataFrame) -> str:
    """The column of jobs that a run with these options must have, and this one lacks; empty if none."""
    slowed = (info.get("node_interference") or "none") != "none" or jobs_per_gpu(dict(info)) > 1
    wanted = {"slowed_s": slowed, "done_s": model_of_run(dict(info)).tells_done}
    lacking = [name for name, is_wanted in wanted.items() if is_wanted and name not in jobs.columns]
    return f"the column {lacking[0]!r} is missing, which a run with these options has" if lacking else ""


def _is(dtype: pl.DataType, kind: str) -> bool:
    if kind == TEXT:
        return dtype == pl.String or isinstance(dtype, pl.Enum | pl.Categorical)
    return dtype == pl.Int64 if kind == WHOLE else dtype == pl.Float64
