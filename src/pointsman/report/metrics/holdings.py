"""Who held how many GPUs from when to when, read back from the plan log."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.hostlist import nodes_named
from pointsman.engine.run.result import RunData
from pointsman.report.metrics.shared import divide_held, model_of_run, shares_gpus

TAKES = ("START", "RESIZE")
"""Decisions that give a job GPUs; the second, others instead of its own."""

RELEASES = ("FINISH", "PREEMPT", "STOPPED", "FAIL", "CANCEL", "START_FAILED", "NODE_DOWN", "TIMEOUT")
"""Events that can end a holding; the last of them before the job next takes some does."""


def horizon_s(result: RunData) -> float:
    """Length of the run (s): from the first submit to the last end, or to where it was cut."""
    jobs, series = result.jobs, result.series
    if jobs.is_empty():
        return 0.0
    ended = jobs["end_s"].max()
    last_end_s = 0.0 if ended is None else float(ended - jobs["submit_s"].min())  # ty: ignore
    if jobs["end_s"].null_count() == 0 or series.is_empty():
        return last_end_s
    last_sample_s = float(series["time_ms"].max()) / 1000  # ty: ignore
    return max(last_end_s, last_sample_s, float(result.info.get("until_s") or 0.0))


def holdings(result: RunData) -> pl.DataFrame | None:
    """One row per node part of every start: ``row, node, gpus, from_s, to_s`` (s since the first submit); where jobs
    share GPUs one per GPU and stretch of time, each of n jobs on it holding 1/n (`shared.divided`).

    Without a plan log, a run in which no job was preempted, shared a GPU or changed its number of them is read from its
    job table, ``node`` null (of a log's own schedule known where the log names it); None otherwise.
    """
    if result.events is not None:
        held = parts_held(result, result.events).select("row", "node", "gpus", "gpu_mask", "from_s", "to_s")
        return divide_held(held) if shares_gpus(result) else held.drop("gpu_mask")
    changes = shares_gpus(result) or model_of_run(result.info).adapts_gangs
    return _from_jobs(result) if not changes and result.jobs["preemptions"].sum() == 0 else None


def _from_jobs(result: RunData) -> pl.DataFrame:
    origin_s = result.jobs["submit_s"].min()
    started = result.jobs.filter(pl.col("start_s").is_not_null())
    gpus = _mean_gpus() if result.info.get("logged") else pl.col("gpus")
    held = started.select(
        "row",
        pl.lit(None, pl.Int64).alias("node"),
        gpus,
        (pl.col("start_s") - origin_s).alias("from_s"),
        (pl.col("end_s") - origin_s).fill_null(horizon_s(result)).alias("to_s"),
    )
    return _by_node(result, started, held) if "node_list" in started.columns else held


def _by_node(result: RunData, started: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """The holdings on each node that a log names, which does not say how many GPUs on each: the same number on all."""
    texts = started["node_list"].drop_nulls().unique(maintain_order=True)
    named = nodes_named(texts, result.info["node_names"])
    schema = {"node_list": pl.String(), "nodes": pl.List(pl.Int64())}
    table = pl.DataFrame([[*named], [*named.values()]], schema)
    nodes = started.select("node_list").join(table, on="node_list", how="left", maintain_order="left")["nodes"]
    parts = held.with_columns(gpus=pl.col("gpus") / nodes.list.len().fill_null(1), node=nodes)
    return parts.explode("node").select(held.columns)


def _mean_gpus() -> pl.Expr:
    """GPUs that a job held on average from its first start to its end; it may not have run all of that time."""
    lasted_s = pl.col("end_s") - pl.col("start_s")
    mean = pl.when(lasted_s > 0).then(pl.col("held_gpu_s") / lasted_s).otherwise("gpus")
    return pl.min_horizontal(mean, "gpus").alias("gpus")


def parts_held(result: RunData, events: pl.DataFrame) -> pl.DataFrame:
    """One row per node part of every start in the plan log: ``row, node, gpus, gpu_mask, from_s, to_s`` (s since the
    first submit); the number of the `holding` that it is part of, by job and time; and the places in the log at which
    this begins (`taken`) and is first given up (`given_up`): null where the job took other GPUs instead, or held these
    when the run was cut.
    """
    takes, releases = (is_one_of(events, kinds).to_numpy() for kinds in (TAKES, RELEASES))
    order = _by_row(events["row"].to_numpy(), np.flatnonzero(takes | releases))
    row, seq, time_ms = (events[name].to_numpy()[order] for name in ("row", "seq", "time_ms"))
    start = takes[order]
    opens = np.ones(len(order), dtype=bool)  # a new job, or a START: parts of one gang have one seq
    opens[1:] = (row[1:] != row[:-1]) | (start[1:] & (seq[1:] != seq[:-1]))
    holding = np.cumsum(opens) - 1
    last = np.flatnonzero(np.roll(opens, -1))
    begin_s = time_ms[opens] / 1000
    goes_on = np.append(row[opens][1:] == row[opens][:-1], False)  # its next holding begins where this one ends
    open_end_s = np.where(goes_on, np.roll(begin_s, -1), horizon_s(result))
    end_s = np.where(start[last], open_end_s, time_ms[last] / 1000)
    given_up = np.full(len(last), -1)
    given_up[holding[~start][::-1]] = order[~start][::-1]  # the first of each is written last
    parts = events.select("row", "node", "gpus", "gpu_mask")[order[start]]
    return parts.with_columns(
        from_s=pl.Series(time_ms[start]) / 1000,
        to_s=pl.Series(end_s[holding[start]]),
        holding=pl.Series(holding[start]),
        taken=pl.Series(order[start]),
        given_up=pl.Series(given_up[holding[start]]).replace(-1, None),
    )


def _by_row(row: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """`chosen`, places in the log, by job, and those of one job in order, which is that of seq."""
    bits = max(len(row) - 1, 1).bit_length()
    return np.sort((row[chosen] << bits) | chosen) & ((1 << bits) - 1)


def is_one_of(events: pl.DataFrame, kinds: Sequence[str]) -> pl.Series:
    """Which entries of the plan log are of these kinds."""
    dtype = events["kind"].dtype
    known = [kind for kind in kinds if not isinstance(dtype, pl.Enum) or kind in dtype.categories]
    return events["kind"].is_in(known)


def mean_held(
    held: pl.DataFrame, group: NDArray[np.int64], groups: int, edges_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean GPUs held by each group in each bin of time (groups, bins).

    Args:
        held: what `holdings` gives (n).
        group: group of each row (n).
        groups: how many groups there are.
        edges_s: edges of equally wide bins (bins + 1).
    """
    bins, width = len(edges_s) - 1, edges_s[1] - edges_s[0]
    gpus = held["gpus"].to_numpy().astype(np.float64)
    return (
        _held_since(group, held["from_s"].to_numpy(), gpus, groups, bins, edges_s[0], width)
        - _held_since(group, held["to_s"].to_numpy(), gpus, groups, bins, edges_s[0], width)
    )  # fmt: skip


def _held_since(
    group: NDArray[np.int64],
    since_s: NDArray[np.float64],
    gpus: NDArray[np.float64],
    groups: int,
    bins: int,
    first_s: float,
    width_s: float,
) -> NDArray[np.float64]:
    """Mean GPUs in each bin if no job ever released any: a share of the bin it falls in, then all of the later ones."""
    at = np.clip((since_s - first_s) / width_s, 0.0, float(bins))
    bin_of = np.minimum(at.astype(np.int64), bins)
    flat, shape = group * (bins + 2) + bin_of, groups * (bins + 2)
    share = gpus * (bin_of + 1 - at)
    steps = np.zeros(shape)
    np.add.at(steps, flat, share)
    np.add.at(steps, flat + 1, gpus - share)
    return steps.reshape(groups, bins + 2).cumsum(axis=1)[:, :bins]
