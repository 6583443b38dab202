"""The columns of the job table, and how far their values may go."""

from collections.abc import Iterable
from itertools import chain
from typing import Final

import polars as pl

SCHEMA: Final[dict[str, pl.DataType]] = {
    "job_id": pl.String(),
    "user": pl.String(),
    "queue": pl.String(),
    "account": pl.String(),
    "partition": pl.String(),
    "qos": pl.String(),
    "model": pl.String(),
    "gpu_type": pl.String(),
    "batch_size": pl.Int64(),
    "nodes_requested": pl.Int64(),
    "gpus_per_node": pl.Int64(),
    "fraction": pl.Float64(),
    "time_limit_s": pl.Float64(),
    "priority": pl.Int64(),
    "preemptible": pl.Boolean(),
    "status": pl.String(),
    "submit_s": pl.Float64(),
    "gpus": pl.Int64(),
    "duration_s": pl.Float64(),
    "start_s": pl.Float64(),
    "end_s": pl.Float64(),
    "node_list": pl.String(),
}
"""Every column of the job table, in order. `submit_s` is in seconds from any origin ≥ 0; `duration_s` is the run time
on the GPUs asked for; `nodes_requested` and `gpus_per_node` are the shape of the gang: exactly that many nodes with
exactly that many GPUs each; `fraction` is the part of one GPU that a sharing job asks for, in (0, 1]; `preemptible`
says whether the job may be preempted, which it may where it is null. `start_s` (first start) and `end_s` are when the
job really ran, from the same origin as `submit_s`; `node_list` is where, in Slurm's hostlist notation.
"""

LOGGED: Final = ("start_s", "end_s")
"""Times of the schedule that the log records, which no policy sees."""

OF_SCHEDULE: Final = (*LOGGED, "node_list")
"""All columns of that schedule."""

SHAPE: Final = ("nodes_requested", "gpus_per_node")
"""Columns that say how a gang is spread over nodes; either may be null."""

REQUIRED: Final = ("submit_s", "gpus", "duration_s")
"""Columns that a native file must have; the others are null where a file is silent (`priority`: 0)."""

ALIASES: Final[dict[str, str]] = {"vc": "queue", "cluster": "queue", "tenant": "queue"}
"""Words that logs and papers use for our columns."""

OTHERS_WORDS: Final[dict[str, str]] = {
    **dict.fromkeys(("runtime", "run_time", "elapsed", "elapsed_time", "duration"), "duration_s"),
    **dict.fromkeys(("submit", "submit_time", "submitted", "submission_time", "arrival", "arrival_time"), "submit_s"),
    **dict.fromkeys(("gpu", "num_gpus", "num_gpu", "ngpus", "n_gpus", "gpu_num", "gpu_count"), "gpus"),
}
"""Ordinary words for the required columns, in lower case: proposed where a table in memory lacks those, never read."""

TIME_UNITS_S: Final[dict[str, float]] = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
"""Units in which logs have times, in seconds."""

MAX_DURATION_S: Final = 1e9
"""Longest job accepted (31.7 years): a million such jobs still add up inside int64 milliseconds."""

MAX_SUBMIT_S: Final = 1e11
"""Latest submit time accepted: an epoch in seconds passes, one in milliseconds is caught."""

MAX_GPUS: Final = 1 << 20
"""Widest gang accepted, so that its GPU-milliseconds fit in an int64."""

_SHARE: Final = pl.when(pl.col("gpus") == 1).then("fraction").fill_null(1.0)
GPUS: Final = pl.col("gpus") * _SHARE
"""GPUs of each job; of one on a slice, its share of one."""
GPU_S: Final = GPUS * pl.col("duration_s")
"""GPU-seconds of each job, of one on a slice at its share."""


TRUE: Final = ("true", "yes", "t", "y", "1", "1.0")
FALSE: Final = ("false", "no", "f", "n", "0", "0.0")
"""How a cell of a yes-or-no column may be written, in any case."""


def plain_word(column: str) -> pl.Expr:
    """Text without blanks around it, in lower case; null where nothing is left."""
    return pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase().replace("", None)


def columns_named(names: Iterable[str]) -> tuple[str, ...]:
    """These columns, each once; `shape` is both of `SHAPE`."""
    named = (SHAPE if name == "shape" else (name,) for name in names)
    return tuple(dict.fromkeys(chain.from_iterable(named)))


def _truths(jobs: pl.DataFrame) -> list[pl.Expr]:
    """Yes-or-no columns that are text still."""
    texts = (name for name, kind in SCHEMA.items() if kind == pl.Boolean and jobs.schema.get(name) == pl.String)
    words = {word: truth for truth, some in ((True, TRUE), (False, FALSE)) for word in some}
    return [plain_word(name).replace_strict(words, default=None, return_dtype=pl.Boolean).alias(name) for name in texts]


def complete(jobs: pl.DataFrame, kept: Iterable[str] = ()) -> pl.DataFrame:
    """`jobs` with every column of the schema, in order, then those `kept` of the log, and nothing else; stably sorted
    by `submit_s`.

    Columns that `jobs` lacks are null, but `priority` is 0 and `job_id` the row.
    """
    if "job_id" not in jobs.columns:
        jobs = jobs.with_columns(pl.int_range(pl.len()).cast(pl.String).alias("job_id"))
    absent = [pl.lit(None, dtype).alias(name) for name, dtype in SCHEMA.items() if name not in jobs.columns]
    table = jobs.with_columns(absent).with_columns(_truths(jobs))
    table = table.select(*(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items()), *kept)
    table = table.with_columns(pl.col("priority").fill_null(0))
    return table if table["submit_s"].is_sorted() else table.sort("submit_s", maintain_order=True)
