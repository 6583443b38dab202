"""What the jobs of a run ask for, and whether the cluster could ever give it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.placement.occupancy import WHOLE
from pointsman.engine.setup.demand import (
    KEYS,
    NO_PARTITIONS,
    Demand,
    Pools,
    alternatives,
    can_ever_fit,
    classify,
    make_pools,
    per_node_of,
)
from pointsman.engine.setup.protected import preemptible_of
from pointsman.engine.setup.refusal import nowhere, too_wide
from pointsman.engine.setup.schedulers import parts_of, scheduler_of_nodes
from pointsman.engine.setup.widest import Widest, widest_of
from pointsman.errors import InputError
from pointsman.inputs.messages import counted
from pointsman.types import NARROWED, SCATTERED, TOO_WIDE, Placement
from pointsman.workload import Workload

QUEUES_WITHOUT_JOBS: Final = "queues with a limit or a quota and no jobs"
MOST_NAMED: Final = 10


@dataclass(frozen=True)
class Asked:
    """The jobs by what they ask for, on the nodes by what these give."""

    workload: Workload
    """Sorted by submission, with columns `limited`, the queue, `milli` and `per_node`; without, or with narrower,
    jobs that never fit."""
    pools: Pools
    cls: NDArray[np.int64]
    """(jobs,) the class of each job."""
    demands: list[Demand]
    """By class."""
    queue_limits: list[int]
    """By queue; -1: none."""
    assumptions: list[str]


def asked_of(
    workload: Workload,
    layout: Layout,
    *,
    placement: Placement,
    oversized: str,
    schedulers: int = 1,
    jobs_per_gpu: int = 1,
    by: Sequence[str] = KEYS,
) -> Asked:
    """What the jobs ask for; the arguments are those of `prepare`, and `by` are the columns that divide them.

    Raises:
        InputError: no job; a gang that never fits (``oversized="refuse"``); an unknown GPU type or partition.
        UsageError: there are fewer racks than schedulers.
    """
    if workload.jobs.is_empty():
        raise InputError("the workload has no jobs", path=workload.provenance.source, fix="give at least one")
    pools = make_pools(layout, scheduler_of_nodes(layout, schedulers))
    assumptions: list[str] = []
    jobs = _without_partitions(_by_submit(workload.jobs), pools, assumptions)
    queues, limits = _limited_queues(jobs, layout, assumptions)
    jobs = jobs.with_columns(
        per_node_of(jobs), preemptible_of(jobs, layout), limited=queues, milli=_milli(jobs, jobs_per_gpu)
    )
    if protected := int((~jobs["preemptible"]).sum()):
        assumptions.append(
            f"{counted(protected, 'job is', 'jobs are')} never preempted, as the log or the cluster says"
        )
    workload = replace(workload, jobs=jobs)
    cls, demands, workload = _demands(workload, layout, pools, limits, placement, oversized, by)
    return Asked(workload, pools, cls, demands, limits, assumptions)


def _by_submit(jobs: pl.DataFrame) -> pl.DataFrame:
    """Stably sorted; readers sort, so most often there is nothing to do."""
    return jobs if jobs["submit_s"].is_sorted() else jobs.sort("submit_s", maintain_order=True)


def _without_partitions(jobs: pl.DataFrame, pools: Pools, assumptions: list[str]) -> pl.DataFrame:
    """A cluster that names no partitions takes the jobs of all of them."""
    if any(pools.partitions) or jobs["partition"].null_count() == len(jobs):
        return jobs
    assumptions.append(NO_PARTITIONS)
    return jobs.with_columns(partition=pl.lit(None, pl.String))


def _limited_queues(jobs: pl.DataFrame, layout: Layout, assumptions: list[str]) -> tuple[pl.Series, list[int]]:
    """Queue 0 holds every job without a limit; queues with one follow in the order of the cluster file."""
    names = list(layout.queue_limits)
    limits = [-1, *layout.queue_limits.values()]
    index = {name: i + 1 for i, name in enumerate(names)}
    if idle := sorted(index.keys() - set(jobs["queue"].unique())):  # a misspelt name, perhaps
        assumptions.append(f"{QUEUES_WITHOUT_JOBS}: {', '.join(map(repr, idle[:MOST_NAMED]))}")
    if not index:
        return pl.zeros(len(jobs), pl.Int64, eager=True), limits
    return jobs["queue"].replace_strict(index, default=0, return_dtype=pl.Int64), limits


def _milli(jobs: pl.DataFrame, jobs_per_gpu: int) -> pl.Series:
    """Thousandths of a GPU that each job asks for."""
    part = pl.when(pl.col("gpus") == 1).then(pl.col("fraction")).fill_null(1.0).alias("part")  # of one GPU
    milli = (jobs.select(part)["part"] * WHOLE).round().clip(1, WHOLE).cast(pl.Int64).alias("milli")
    return milli if jobs_per_gpu > 1 else milli.clip(WHOLE)


def _demands(
    workload: Workload,
    layout: Layout,
    pools: Pools,
    limits: list[int],
    placement: Placement,
    oversized: str,
    by: Sequence[str],
) -> tuple[NDArray[np.int64], list[Demand], Workload]:
    """The class of each job and what each class asks for; what never fits is refused, dropped or clamped.

    The jobs have a column `limited`, and the workload that comes back lacks, or has narrower, those that never fit.
    """
    cls, classes = classify(workload.jobs, by)
    demands: list[Demand] = []
    too_wide_for: dict[int, Widest] = {}
    for c, (gpus, kind, partition, queue, milli, per_node) in enumerate(classes.select(KEYS).rows()):
        sets = alternatives(layout, pools, kind, partition)
        if not sets:
            raise nowhere(workload, _first(cls, c), kind, partition, layout, pools)
        parts = parts_of(pools, sets)
        widest = max(widest_of(pools, part, limits[queue], placement in SCATTERED, gpus, per_node) for part in parts)
        if gpus > widest.gpus or not any(
            can_ever_fit(pools, gpus, part, placement in SCATTERED, per_node) for part in parts
        ):
            if oversized == "refuse" or (oversized == "clamp" and widest.gpus == 0):  # a queue may be closed
                raise too_wide(workload, _first(cls, c), gpus, per_node, widest, pools.schedulers)
            too_wide_for[c] = widest
        demands.append(Demand(gpus, sets, queue if limits[queue] >= 0 else -1, milli, per_node))
    if not too_wide_for:
        return cls, demands, workload
    mend = _without_wide if oversized == "drop" else _narrow
    return _demands(mend(workload, cls, too_wide_for), layout, pools, limits, placement, "refuse", by)


def _first(cls: NDArray[np.int64], c: int) -> int:
    return int(np.flatnonzero(cls == c)[0])


def _without_wide(workload: Workload, cls: NDArray[np.int64], widest: dict[int, Widest]) -> Workload:
    kept = workload.jobs.filter(pl.Series(~np.isin(cls, list(widest))))
    if kept.is_empty():
        fix = "use a larger cluster, or --oversized clamp"
        raise InputError("no job of the workload fits the cluster", path=workload.provenance.source, fix=fix)
    return workload.with_jobs(kept, reason=TOO_WIDE)


def _narrow(workload: Workload, cls: NDArray[np.int64], widest: dict[int, Widest]) -> Workload:
    gpus, per_node = (workload.jobs[name].to_numpy().copy() for name in ("gpus", "per_node"))
    for c, most in widest.items():
        gpus[cls == c], per_node[cls == c] = most
    n = int(np.isin(cls, list(widest)).sum())
    clamped = workload.quality.clamped | {NARROWED: n}
    shape = pl.when(pl.Series(np.isin(cls, list(widest))))
    jobs = workload.jobs.with_columns(
        gpus=pl.Series(gpus),
        per_node=pl.Series(per_node),
        nodes_requested=shape.then(None).otherwise("nodes_requested"),
        gpus_per_node=shape.then(pl.Series(per_node).replace(0, None)).otherwise("gpus_per_node"),
    )
    return replace(workload, jobs=jobs, quality=replace(workload.quality, clamped=clamped))
