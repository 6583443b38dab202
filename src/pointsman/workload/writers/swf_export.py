"""Standard Workload Format 2.2, written (`docs/formats/swf.md`)."""

from typing import Final

import polars as pl

from pointsman.workload.readers.swf import STATUSES
from pointsman.workload.table import Workload

_UNKNOWN: Final = pl.lit("-1")
_CODES: Final = {word: code for code, word in STATUSES.items()} | {"TIMEOUT": 5, "NODE_FAIL": 0}


def swf_text(workload: Workload) -> str:
    """`workload` in SWF: jobs numbered from 1 in submit order, names of users, queues and partitions as numbers, listed
    in the header comments. The wait is known where the log says when jobs started. CPU, memory and group are not known
    (−1); a model, a fraction, a GPU type, a batch size and a priority have no place in SWF and are lost.
    """
    jobs = workload.jobs
    origin = float(jobs["submit_s"][0])
    code = jobs["status"].replace_strict(_CODES, default=-1, return_dtype=pl.Int64)
    columns = jobs.select(
        pl.int_range(1, pl.len() + 1).cast(pl.String).alias("job"),
        _number(pl.col("submit_s") - origin).alias("submit"),
        pl.coalesce(_number(pl.col("start_s") - pl.col("submit_s")), _UNKNOWN).alias("wait"),
        _number(pl.col("duration_s")).alias("run"),
        pl.col("gpus").cast(pl.String).alias("allocated"),
        _UNKNOWN.alias("cpu"),
        _UNKNOWN.alias("memory"),
        pl.col("gpus").cast(pl.String).alias("requested"),
        pl.coalesce(_number(pl.col("time_limit_s")), _UNKNOWN).alias("limit"),
        _UNKNOWN.alias("memory_limit"),
        pl.lit(code).cast(pl.String).fill_null("-1").alias("status"),
        _rank(jobs, "user").alias("user"),
        _UNKNOWN.alias("group"),
        _rank(jobs, "model").alias("executable"),
        _rank(jobs, "queue").alias("queue"),
        _rank(jobs, "partition").alias("partition"),
        _UNKNOWN.alias("preceding"),
        _UNKNOWN.alias("think"),
    )
    lines = columns.select(pl.concat_str(pl.all(), separator=" ")).to_series().to_list()
    return "\n".join([*_header(workload, origin), *lines, ""])


def _number(value: pl.Expr) -> pl.Expr:
    """Whole seconds without a fraction, as SWF has them; others keep their milliseconds."""
    rounded = value.round(3)
    whole = rounded == rounded.floor()
    return pl.when(whole).then(rounded.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(rounded.cast(pl.String))


def _names(jobs: pl.DataFrame, column: str) -> list[str]:
    return jobs[column].drop_nulls().unique(maintain_order=True).to_list()


def _rank(jobs: pl.DataFrame, column: str) -> pl.Expr:
    codes = {name: str(code) for code, name in enumerate(_names(jobs, column), 1)}
    if not codes:
        return _UNKNOWN
    return pl.col(column).replace_strict(codes, default="-1", return_dtype=pl.String)


def _header(workload: Workload, origin: float) -> list[str]:
    jobs = workload.jobs
    lines = [
        "; Version: 2.2",
        f"; MaxJobs: {jobs.height}",
        f"; MaxRecords: {jobs.height}",
        f"; MaxProcs: {jobs['gpus'].max()}",
        "; Note: processors are GPUs",
        f"; Note: written by Pointsman from {_one_line(workload.provenance.source)} ({workload.provenance.format})",
        f"; Note: submit times count from submit_s = {origin:g}",
    ]
    for word, column in (("User", "user"), ("Executable", "model"), ("Queue", "queue"), ("Partition", "partition")):
        names = _names(jobs, column)
        lines += [f"; {word}: {code} {_one_line(name)}" for code, name in enumerate(names, 1)]
    return lines


def _one_line(name: str) -> str:
    return " ".join(name.split())
