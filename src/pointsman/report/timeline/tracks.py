"""On which track of a timeline each slice is drawn, so that no two on one track overlap."""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.engine.run.result import RunData
from pointsman.report.metrics.shared import bits_of, shares_gpus
from pointsman.report.timeline.spells import Spells
from pointsman.types import MAX_NODE_GPUS

CLUSTER, WAITING, FIRST_NODE = 1, 2, 3
"""Numbers of the processes: of the counters, of jobs that wait, of the first node."""
STATE: Final = -1
"""Instead of the place of a GPU on its node: the state of the node."""
TRACK: Final = ("pid", "gpu", "lane")


@dataclass(frozen=True)
class Tracks:
    """Tracks, and where on them everything is drawn: ``pid, tid``, after the columns of `Spells`."""

    tracks: pl.DataFrame
    """``pid, gpu, lane, tid``, in the order in which they are shown; no two have the same `tid`."""
    held: pl.DataFrame
    """``holding, from_ms, to_ms``: a row for each GPU of each holding, by holding, node and GPU."""
    waits: pl.DataFrame
    """Null on no track: waits of no length."""
    outages: pl.DataFrame


def lanes(group: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """The lowest lane of its group that is free at each start, in O(n log n): spells on one lane do not overlap.

    Args:
        group: group of each spell (n).
        start: when each begins (n).
        end: when each ends, at or after its start (n).
    """
    lane = np.zeros(len(group), np.int64)
    order = np.lexsort((end, start, group))
    current, used = None, 0
    free: list[int] = []
    busy: list[tuple[int, int]] = []  # until when, on which lane
    for at, of, since, until in zip(order.tolist(), *(x[order].tolist() for x in (group, start, end)), strict=True):
        if of != current:
            current, used = of, 0
            free.clear()
            busy.clear()
        while busy and busy[0][0] <= since:
            heappush(free, heappop(busy)[1])
        if not free:
            heappush(free, used)
            used += 1
        lane[at] = heappop(free)
        heappush(busy, (until, int(lane[at])))
    return lane


def tracks_of(result: RunData, spells: Spells) -> Tracks:
    """Tracks for jobs that wait, for the state of nodes that were not always up, and for every GPU: one, or where jobs
    share it as many as hold it at once.
    """
    held = _on_gpus(result, spells)
    waits = spells.waits.with_columns(pid=pl.lit(WAITING), gpu=pl.lit(STATE), lane=_lanes_of_waits(spells.waits))
    outages = spells.outages.with_columns(pid=pl.col("node") + FIRST_NODE, gpu=pl.lit(STATE), lane=pl.lit(0))
    sizes = np.asarray(result.info["node_gpus"], np.int64)
    gpus = pl.DataFrame(
        {
            "pid": np.repeat(np.arange(len(sizes)) + FIRST_NODE, sizes),
            "gpu": np.concatenate([np.arange(size) for size in sizes]),
            "lane": np.zeros(sizes.sum(), np.int64),
        }
    )
    known = [frame.select(pl.col(TRACK).cast(pl.Int64)) for frame in (gpus, held, waits, outages)]
    tracks = pl.concat(known).drop_nulls().unique().sort(TRACK)
    tracks = tracks.with_columns(tid=pl.int_range(pl.len()) + FIRST_NODE + len(sizes))
    return Tracks(tracks, *(_join_tracks(frame, tracks) for frame in (held, waits, outages)))


def _on_gpus(result: RunData, spells: Spells) -> pl.DataFrame:
    part, gpu = bits_of(spells.parts["gpu_mask"])
    held = spells.parts.select("holding", "node")[part].with_columns(gpu=pl.Series(gpu))
    held = held.sort("holding", "node", "gpu")
    times = spells.holdings.select("from_ms", "to_ms")[held["holding"]]
    held = held.hstack(times).with_columns(pid=pl.col("node") + FIRST_NODE, lane=pl.lit(0))
    if not shares_gpus(result):
        return held
    place = held["node"] * MAX_NODE_GPUS + held["gpu"]
    return held.with_columns(lane=pl.Series(lanes(*(x.to_numpy() for x in (place, held["from_ms"], held["to_ms"])))))


def _lanes_of_waits(waits: pl.DataFrame) -> pl.Series:
    begin, end = waits["from_ms"].to_numpy(), waits["to_ms"].to_numpy()
    lasting = np.flatnonzero(end > begin)
    lane = np.full(len(begin), -1)
    lane[lasting] = lanes(np.zeros_like(lasting), begin[lasting], end[lasting])
    return pl.Series(lane).replace(-1, None)


def _join_tracks(frame: pl.DataFrame, tracks: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(TRACK).cast(pl.Int64)).join(tracks, on=TRACK, how="left", maintain_order="left")
