"""Which jobs were ever on a GPU together with another, and which accumulated gradients, read from the plan log."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.engine.run.result import Result

RELEASES = ("FINISH", "PREEMPT")


def shared_rows(result: Result) -> dict[str, pl.Series]:
    """``shared`` and ``accumulated`` of each job; nobody's without a log."""
    jobs = result.jobs.height
    shared, accumulated = np.zeros(jobs, bool), np.zeros(jobs, bool)
    if result.events is not None:
        held = _held(result.events)
        shared[_overlapping(held)] = True
        accumulated[held.filter(pl.col("arg") > 1)["row"].to_numpy()] = True
    return {"shared": pl.Series(shared), "accumulated": pl.Series(accumulated)}


def _held(events: pl.DataFrame) -> pl.DataFrame:
    """A row for each node part of each start, with when it let go."""
    starts = events.filter(pl.col("kind") == "START")
    starts = starts.with_columns(time=pl.col("seq").rank("dense").over("row").cast(pl.Int64))
    ends = events.filter(pl.col("kind").is_in(RELEASES)).select(
        "row", to_ms="time_ms", time=pl.int_range(1, pl.len() + 1).over("row").cast(pl.Int64)
    )
    return starts.join(ends, on=["row", "time"], how="inner")


def _overlapping(held: pl.DataFrame) -> NDArray[np.int64]:
    """Rows of the jobs that were on some GPU while another was."""
    mask = held["gpu_mask"].to_numpy().view(np.uint64)
    node, row, since, to = (held[name].to_numpy() for name in ("node", "row", "time_ms", "to_ms"))
    found = [np.zeros(0, np.int64)]
    for bit in range(int(mask.max(initial=0)).bit_length()):
        here = np.flatnonzero((mask >> np.uint64(bit)) & np.uint64(1))
        here = here[np.lexsort((to[here], since[here], node[here]))]
        latest = _latest_before(node[here], to[here])
        joins = since[here] < latest
        follows = np.zeros(len(here), bool)
        same = node[here][1:] == node[here][:-1]
        follows[:-1] = same & (since[here][1:] < to[here][:-1])
        found.append(row[here[joins | follows]])
    return np.unique(np.concatenate(found))


def _latest_before(group: NDArray[np.int64], to: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each, the latest end of those before it in its group; -1 of the first."""
    apart = int(to.max(initial=0)) + 1
    offset = group * apart  # so that one running maximum serves all groups, which come in order
    latest = np.empty_like(to)
    latest[:1] = -1
    latest[1:] = np.maximum.accumulate(to + offset)[:-1] - offset[1:]
    return latest
