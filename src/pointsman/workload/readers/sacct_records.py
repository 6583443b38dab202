"""Rows of Slurm's accounting as records: a record is one run of one job, or of a part of one."""

from typing import Final

import polars as pl

from pointsman.workload.readers.cells import number, status, text
from pointsman.workload.readers.day_month import Order
from pointsman.workload.readers.gpu_demand import gpu_demands
from pointsman.workload.readers.sacct_clock import clocks
from pointsman.workload.readers.sacct_fields import ASKED, USED_TO_TELL
from pointsman.workload.readers.slurm_cells import is_step, span_s
from pointsman.workload.rules.clean import LINE
from pointsman.workload.rules.job_rules import written

_IN_TRES: Final = r"(?i)(?:gpu|shard|mps)[^=,]*=0*[1-9]|(?:^|,)1001=0*[1-9]"
_NONE: Final = r"(?i)gpu[^=,]*=0*(?:,|$)"
_IN_GRES: Final = r"(?i)gpu|shard|mps|(?:^|,)1001[=:]"
_CUT: Final = r"\w\+$"
"""What `sacct` writes where a column is too narrow for a cell."""
_NEVER_RAN: Final = ("PENDING", "CONFIGURING")
_REQUEUED: Final = ("REQUEUED", "RESV_DEL_HOLD", "SPECIAL_EXIT", "REQUEUE_HOLD")
"""States of a job that waits; of a run, that it is over."""
ENDED_WAITING: Final = ("CANCELLED", "DEADLINE", "REVOKED", "FAILED", "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "TIMEOUT")
"""States that a job can come to while it waits; older Slurm writes its end as its start, then."""
_SURELY_WAITED: Final = ("CANCELLED", "DEADLINE", "REVOKED")


def records(frame: pl.DataFrame, order: Order | None, path: str) -> pl.DataFrame:
    """One record a row, in the order of the rows; `frame` has text cells and `LINE`, and any fields of `ASKED`.

    Raises:
        InputError: dates that can be read in two ways.
    """
    here = frame.columns
    log = frame.with_columns(
        pl.lit(None, pl.String).alias(name) for name in (*ASKED, *USED_TO_TELL) if name not in here
    )
    times = clocks(log, order, path).rename(str.casefold)
    log = pl.concat([log.with_columns(times), _resources(log)], how="horizontal")
    plain = {name: _words(log[field]) for name, field in _WORDS.items()}
    log = log.with_columns(**plain, status=_by_value(log["State"], status("State")))
    log = log.select(*_who(), *_when(), *_RESOURCES, *_cells_as_written(), LINE)
    return log.with_columns(waiting=_waiting(here))


_RESOURCES: Final = (
    "gpus", "gpu_type", "fraction", "no_share", "no_share_gpus", "nodes", "allocated", "got_nothing",
)  # fmt: skip
_WORDS: Final = {
    "cluster": "Cluster", "user": "User", "account": "Account", "partition": "Partition", "qos": "QOS",
    "node_list": "NodeList",
}  # fmt: skip
"""Columns of few values."""


def _by_value(cells: pl.Series, meaning: pl.Expr) -> pl.Series:
    """What an expression makes of a column of few values: of each value once."""
    values = cells.unique()
    if len(values) * 4 > len(cells):
        return cells.to_frame().select(meaning).to_series()
    made = values.to_frame().select(meaning).to_series()
    return cells.replace_strict(values, made, return_dtype=made.dtype)


def _words(cells: pl.Series) -> pl.Series:
    return _by_value(cells, text(cells.name))


def _resources(log: pl.DataFrame) -> pl.DataFrame:
    """The GPUs and nodes of each row; lists of resources that stand in many rows are read once."""
    told = [name for name in _OF_RESOURCES if log[name].null_count() < log.height] or [*_OF_RESOURCES[:1]]
    lists = log.select(_OF_RESOURCES).unique(told, maintain_order=True)
    lists = lists.with_columns(gpu_cell=_gpu_cell(), by_node=_by_node(), nodes=_nodes())
    lists = pl.concat([lists, gpu_demands(lists["gpu_cell"])], how="horizontal").with_columns(_what())
    made = ["gpu_cell", *_RESOURCES]
    known = lists.select(*told, *made)
    return log.select(told).join(known, on=told, how="left", nulls_equal=True, maintain_order="left").select(made)


def _who() -> list[pl.Expr | str]:
    raw, shown = text("JobIDRaw"), text("JobID")
    part = shown.str.extract_groups(r"^([0-9]{1,18})\+([0-9]{1,18})$")
    of_part = (part.struct.field("1").cast(pl.Int64) + part.struct.field("2").cast(pl.Int64)).cast(pl.String)
    return [
        pl.when(shown.str.contains("[", literal=True))
        .then(shown)
        .otherwise(pl.coalesce(raw, of_part, shown))
        .alias("job_id"),
        (is_step(raw) | is_step(shown)).alias("step"),
        part.struct.field("1").alias("gang"),
        part.struct.field("2").cast(pl.Int64).alias("part"),
        "cluster",
        "user",
        text("JobName").alias("name"),
        "account",
        "partition",
        pl.coalesce(pl.col("partition").str.extract("^([^,]*)"), "account").alias("queue"),
        "qos",
        pl.when(pl.col("node_list") != "None assigned").then("node_list").alias("node_list"),
    ]


def _when() -> list[pl.Expr]:
    started = pl.col("start")
    eligible = pl.when(pl.col("eligible").is_not_null()).then(pl.min_horizontal("eligible", "start"))
    limit = pl.coalesce(number("TimelimitRaw") * 60, span_s("Timelimit"))
    return [
        pl.col("status"),
        pl.col("submit"),
        pl.when(pl.col("submit").is_not_null()).then(pl.max_horizontal("submit", eligible)).alias("arrival"),
        ((pl.col("eligible") > pl.col("submit")) & started.is_not_null()).fill_null(False).alias("held"),
        started,
        pl.col("end"),
        text("Start").is_not_null().alias("has_start"),
        pl.coalesce(number("ElapsedRaw"), span_s("Elapsed"), pl.col("end") - started).alias("elapsed"),
        pl.when(limit > 0).then(limit).alias("limit"),
        number("Restarts").fill_null(0).alias("restarts"),
    ]


def _what() -> list[pl.Expr]:
    many, whole = pl.col("nodes").fill_null(1), pl.col("fraction").is_null()
    spread = pl.col("by_node") & (many > 1)
    gpus = pl.col("gpus").cast(pl.Float64)
    cut = pl.col("gpu_cell").is_null() & (text("AllocTRES").str.contains(_CUT) | text("ReqTRES").str.contains(_CUT))
    each = pl.when(spread & whole).then(gpus * many).when(spread).then(0.0).otherwise(gpus)
    allocated = _tells("AllocTRES", _IN_TRES) | _tells("AllocGRES", _IN_GRES)
    said = pl.coalesce("no_share", pl.when(spread & ~whole).then(pl.format("{} on each of several nodes", "gpu_cell")))
    at_most = pl.coalesce("no_share_gpus", pl.when(said.is_not_null()).then(pl.col("fraction") * many))
    return [
        pl.when(~cut.fill_null(False)).then(each).alias("gpus"),
        pl.col("gpu_type"),
        pl.when(~spread).then(pl.col("fraction")).alias("fraction"),
        said.alias("no_share"),
        at_most.alias("no_share_gpus"),
        pl.col("nodes"),
        allocated.alias("allocated"),
        (pl.coalesce("AllocTRES", "AllocGRES").is_null() | (_tells("AllocTRES", _NONE) & ~allocated)).alias(
            "got_nothing"
        ),
    ]


_OF_RESOURCES: Final = ("AllocTRES", "AllocGRES", "ReqTRES", "ReqGRES", "TresPerNode", "GpusPerNode", "NNodes")


def _cells_as_written() -> list[pl.Expr]:
    """What stands where nothing could be read."""
    run = pl.coalesce(text("ElapsedRaw"), text("Elapsed"), _odd("End", "end"), _odd("Start", "start"))
    return [
        text("Submit").alias(written("submit_s")),
        run.alias(written("duration_s")),
        pl.coalesce("gpu_cell", text("AllocTRES"), text("ReqTRES")).alias(written("gpus")),
    ]


def _odd(field: str, read: str) -> pl.Expr:
    return pl.when(pl.col(read).is_null()).then(text(field))


def _tells(field: str, gpus: str) -> pl.Expr:
    return pl.col(field).str.contains(gpus).fill_null(False)


_SOURCES: Final = (
    ("AllocTRES", _IN_TRES, False),
    ("AllocGRES", _IN_GRES, True),
    ("ReqTRES", _IN_TRES, False),
    ("ReqGRES", _IN_GRES, True),
    ("TresPerNode", _IN_GRES, True),
    ("GpusPerNode", r"[0-9]", True),
)
"""Where GPUs are named, in the order in which they count; whether they are those of each node."""


def _gpu_cell() -> pl.Expr:
    return pl.coalesce(pl.when(_tells(field, gpus)).then(pl.col(field)) for field, gpus, _ in _SOURCES)


def _by_node() -> pl.Expr:
    found = [pl.when(_tells(field, gpus)).then(pl.lit(by_node)) for field, gpus, by_node in _SOURCES]
    return pl.coalesce(*found, pl.lit(False))


def _nodes() -> pl.Expr:
    """Nodes that a job had, or asks for."""
    listed = [pl.col(field).str.extract(r"(?:^|,)node=([0-9]+)").cast(pl.Float64) for field in ("AllocTRES", "ReqTRES")]
    known = pl.coalesce(number("NNodes"), *listed)
    return pl.when(known >= 1).then(known)


def _waiting(here: list[str]) -> pl.Expr:
    """Whether a record is of a job that has not started, or that was cancelled before it did."""
    told, nothing = _nothing_allocated(here)
    at_once = (pl.col("elapsed") == 0) & (pl.col("end").is_null() | (pl.col("end") == pl.col("start")))
    ended = pl.col("status").is_in(ENDED_WAITING if told else _SURELY_WAITED)
    some_time = pl.col("elapsed") > 0
    waits = pl.col("status").is_in(_NEVER_RAN)
    waits |= pl.col("status").is_in(_REQUEUED) & ~some_time.fill_null(False) & nothing
    unstarted = ~pl.col("has_start") if "Start" in here else ~(some_time.fill_null(True) | pl.col("allocated"))
    return pl.any_horizontal((at_once & ended & nothing).fill_null(False), waits.fill_null(False), unstarted)


def _nothing_allocated(here: list[str]) -> tuple[bool, pl.Expr]:
    """Whether the export tells what jobs were given, and where that was nothing."""
    if {"AllocTRES", "AllocGRES"} & {*here}:
        no_node = pl.col("node_list").is_null() & ~pl.col("allocated") if "NodeList" in here else pl.lit(False)
        return True, pl.col("got_nothing") | no_node
    if "NodeList" in here:
        return True, pl.col("node_list").is_null()
    return False, pl.lit(True)
