"""The entries of a file in the Trace Event format: what each kind of them says."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.engine.run.result import RunData
from pointsman.report.timeline.spells import Spells
from pointsman.report.timeline.tracks import CLUSTER, STATE, WAITING, Tracks
from pointsman.types import Reason

US: Final = 1000
"""Microseconds, the unit of the format, in a millisecond, that of the log."""


def trace_events(result: RunData, spells: Spells, tracks: Tracks) -> Iterator[pl.DataFrame]:
    """Entries of the array ``traceEvents``, a column a field; `args` is an object without its nulls.

    Slices come before the arrows that begin or end in them: viewers sort by time, and keep the order of what is at the
    same time.
    """
    jobs = result.jobs.select("job_id", "user", "gpus")
    yield from _names(result, tracks.tracks)
    yield _slices(_holdings(jobs, spells, tracks))
    yield _slices(_waits(jobs, tracks.waits))
    yield _slices(tracks.outages.with_columns(name="state", cat=pl.lit("node"), args=pl.struct("state")))
    yield from _arrows(spells, tracks)
    yield from _counters(tracks)


def _names(result: RunData, tracks: pl.DataFrame) -> Iterator[pl.DataFrame]:
    names = ["cluster", "jobs waiting", *map(str, result.info["node_names"])]
    processes = pl.DataFrame({"name": names}).with_columns(pid=pl.int_range(pl.len()) + CLUSTER)
    slot = pl.when(pl.col("lane") > 0).then(pl.format(", slot {}", pl.col("lane") + 1)).otherwise(pl.lit(""))
    on_node = pl.when(pl.col("gpu") == STATE).then(pl.lit("state")).otherwise(pl.format("GPU {}{}", "gpu", slot))
    lane = pl.format("lane {}", pl.col("lane") + 1)
    named = pl.when(pl.col("pid") == WAITING).then(lane).otherwise(on_node)
    yield _metadata("process_name", processes.select("pid", args=pl.struct("name")))
    yield _metadata("process_sort_index", processes.select("pid", args=pl.struct(sort_index="pid")))
    yield _metadata("thread_name", tracks.select("pid", "tid", args=pl.struct(name=named)))
    yield _metadata("thread_sort_index", tracks.select("pid", "tid", args=pl.struct(sort_index="tid")))


def _metadata(name: str, of: pl.DataFrame) -> pl.DataFrame:
    return of.select(pl.lit(name).alias("name"), pl.lit("M").alias("ph"), pl.all())


def _holdings(jobs: pl.DataFrame, spells: Spells, tracks: Tracks) -> pl.DataFrame:
    """A slice for each GPU of a holding."""
    why = pl.col("started", "reason").replace(Reason.OK.name, None)
    told = spells.holdings.select("row", "attempt", "end", why)
    gpus = pl.Series("gpus", np.bincount(tracks.held["holding"].to_numpy(), minlength=told.height))
    job = jobs.select("job_id", "user")[told["row"]]
    args = pl.struct("job_id", "user", "gpus", "attempt", "started", "end", "reason")
    told = told.hstack(job).with_columns(gpus).select(name="job_id", args=args)
    return tracks.held.hstack(told[tracks.held["holding"]]).with_columns(cat=pl.lit("job"))


def _waits(jobs: pl.DataFrame, waits: pl.DataFrame) -> pl.DataFrame:
    lasting = waits.filter(pl.col("tid").is_not_null())
    after = pl.when(pl.col("before").is_null()).then(pl.lit("submit")).otherwise(pl.lit("losing its GPUs"))
    told = lasting.hstack(jobs[lasting["row"]]).with_columns(after=after)
    return told.with_columns(name="job_id", cat=pl.lit("wait"), args=pl.struct("job_id", "user", "gpus", "after"))


def _slices(told: pl.DataFrame) -> pl.DataFrame:
    """Complete events (`X`), by track and time."""
    return told.sort("tid", "from_ms", "to_ms", maintain_order=True).select(
        "name", "cat", pl.lit("X").alias("ph"), "pid", "tid",
        (US * pl.col("from_ms")).alias("ts"), (US * (pl.col("to_ms") - pl.col("from_ms"))).alias("dur"), "args",
    )  # fmt: skip


def _arrows(spells: Spells, tracks: Tracks) -> Iterator[pl.DataFrame]:
    """Flow events: from GPUs that a job lost to its wait, and on to the GPUs on which it starts; of several GPUs, the
    first. One that has nowhere to go is left out. They touch slices a microsecond inside, for a viewer takes any that
    it finds at that time.
    """
    first = tracks.held.unique("holding", keep="first", maintain_order=True)
    inside = (pl.col("to_ms") > pl.col("from_ms")).cast(pl.Int64)
    begin, end = US * pl.col("from_ms") + inside, US * pl.col("to_ms") - inside
    waits = tracks.waits.with_row_index("id", 1)
    points = pl.concat(
        [
            _points(
                waits, first, "before", pl.max_horizontal(begin, end - 1)
            ),  # a viewer looks for the slice around it
            waits.filter(pl.col("tid").is_not_null()).select("id", "pid", "tid", ts=begin),
            _points(waits, first, "after", begin),
        ]
    ).sort("id", maintain_order=True)
    number = pl.int_range(pl.len()).over("id")
    last = pl.len().over("id") - 1
    phase = pl.when(number == 0).then(pl.lit("s")).when(number == last).then(pl.lit("f")).otherwise(pl.lit("t"))
    arrows = points.with_columns(phase.alias("ph"), last=last).filter(pl.col("last") > 0)
    enclosing = pl.lit("e").alias("bp")  # it belongs to the slice around it, and not to the next one
    yield arrows.select(
        pl.lit("wait").alias("name"), pl.lit("wait").alias("cat"), "ph", "id", "pid", "tid", "ts", enclosing
    )


def _points(waits: pl.DataFrame, first: pl.DataFrame, side: str, ts: pl.Expr) -> pl.DataFrame:
    """Where arrows touch the holdings on one side of the waits."""
    known = waits.filter(pl.col(side).is_not_null())
    return known.select("id").hstack(first[known[side]].select("pid", "tid", ts=ts))


def _counters(tracks: Tracks) -> Iterator[pl.DataFrame]:
    """GPUs that one job or more hold, and jobs that wait, at every change."""
    yield _counter("GPUs", "in use", *_gpus_in_use(tracks.held))
    waits = tracks.waits.select("from_ms", "to_ms")
    yield _counter("jobs", "waiting", *_both_ends(waits))


def _both_ends(spells: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """When each spell begins, then when each ends; and by how much the number of spells then changes."""
    begin, end = (spells[name].to_numpy() for name in ("from_ms", "to_ms"))
    return np.concatenate([begin, end]), np.repeat([1, -1], len(begin))


def _gpus_in_use(held: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """When a GPU comes into use or falls idle, and by how much that changes the number in use."""
    time_ms, change = _both_ends(held)
    gpu = np.tile(held.select(pl.struct("pid", "gpu").rank("dense")).to_series().to_numpy(), 2)
    order = np.lexsort((-change, time_ms, gpu))  # who leaves last, so that a GPU is not idle for no time
    jobs = np.cumsum(change[order])  # on that GPU, for nothing is left on the one before
    comes, goes = (change[order] > 0) & (jobs == 1), (change[order] < 0) & (jobs == 0)
    return time_ms[order], comes.astype(np.int64) - goes.astype(np.int64)


def _counter(name: str, what: str, time_ms: NDArray[np.int64], change: NDArray[np.int64]) -> pl.DataFrame:
    changes = pl.DataFrame({"ms": time_ms, "change": change}).group_by("ms").agg(pl.col("change").sum()).sort("ms")
    values = changes.with_columns(value=pl.col("change").cum_sum()).filter(
        (pl.col("change") != 0) | (pl.col("ms") == 0)
    )
    return values.select(
        pl.lit(name).alias("name"), pl.lit("C").alias("ph"), pl.lit(CLUSTER).alias("pid"),
        ts=US * pl.col("ms"), args=pl.struct(pl.col("value").alias(what)),
    )  # fmt: skip
