"""From a job table and a cluster to the arrays of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.estimates.keys import NOTHING, History, history_of
from pointsman.engine.placement.occupancy import WHOLE
from pointsman.engine.rate_models.base.rates import Rates
from pointsman.engine.rate_models.contract import BaseModel, Factor
from pointsman.engine.rate_models.named_models import named_models
from pointsman.engine.rate_models.profile_error import with_error
from pointsman.engine.rate_models.speeds import Speeds
from pointsman.engine.setup.demand import (
    KEYS,
    NO_PARTITIONS,
    WITH_MODELS,
    Demand,
    Pools,
    alternatives,
    can_ever_fit,
    classify,
    make_pools,
)
from pointsman.engine.setup.refusal import nowhere, too_wide
from pointsman.engine.setup.schedulers import divide, parts_of, scheduler_of_nodes
from pointsman.engine.state.records import TRACE
from pointsman.errors import InputError, UsageError
from pointsman.types import LOCALITIES, SCATTERED, Contention, Placement
from pointsman.workload import Quality, Workload

LATEST_MS = 1 << 60
"""Jobs one after another must end before; a quarter of the int64 clock, for the rest that happens."""


@dataclass
class Prepared:
    """The jobs that take part, in row order, and what the engine is built from."""

    jobs: pl.DataFrame
    trace: NDArray[np.void]
    layout: Layout
    pools: Pools
    demands: list[Demand]
    queue_limits: list[int]
    speeds: Speeds
    base_model: BaseModel
    factors: Sequence[Factor]
    knowledge: str
    history: History
    quality: Quality
    """The log's, and what the cluster could not take of it."""
    named_models: bool = False
    """Some job names a model."""
    assumptions: list[str] = field(default_factory=list)


def milliseconds(seconds: pl.Expr) -> pl.Expr:
    """Whole milliseconds, half to even."""
    return (seconds * 1000).round(0, mode="half_to_even")


def prepare(
    workload: Workload,
    layout: Layout,
    *,
    knowledge: str,
    placement: Placement,
    oversized: str,
    seed: int,
    profiles: Sequence[str | Path] = (),
    congestion: Mapping[str, float],
    contention: Contention = Contention.NONE,
    base_model: BaseModel | None = None,
    factors: Sequence[Factor] = (),
    jobs_per_gpu: int = 1,
    schedulers: int = 1,
    profile_error: float = 0.0,
) -> Prepared:
    """Check the jobs against the cluster and lay them out.

    `knowledge`: ``none``, ``limit``, ``history``, ``oracle`` or ``lognormal:SIGMA``; `oversized`: what to do with gangs
    that never fit; `profiles`: files of model profiles, which go before the shipped ones; `congestion` divides
    the bandwidth of levels, and jobs share links by `contention`; `base_model` (``rates`` by default) and `factors`
    decide how fast they run; `jobs_per_gpu`: how many may hold one GPU; `schedulers`: how many share the cluster;
    `profile_error`: σ of the error of what policies are told of model profiles.

    Raises:
        InputError: a gang that never fits (``oversized="refuse"``), an unknown GPU type or partition, limits missing.
        UsageError: there are fewer racks than schedulers.
    """
    path = workload.provenance.source
    if workload.jobs.is_empty():
        raise InputError("there are no jobs to run", path=path, fix="give at least one")
    pools = make_pools(layout, scheduler_of_nodes(layout, schedulers))
    assumptions: list[str] = []
    jobs = _without_partitions(_by_submit(workload.jobs), pools, assumptions)
    queues, limits = _limited_queues(jobs, layout)
    workload = replace(workload, jobs=jobs.with_columns(limited=queues, milli=_milli(jobs, jobs_per_gpu)))
    base_model = base_model or Rates()
    by = WITH_MODELS if jobs_per_gpu > 1 or base_model.adapts_gangs else KEYS
    cls, demands, workload = _demands(workload, layout, pools, limits, placement, oversized, by)
    jobs = workload.jobs
    named = named_models(jobs, layout, profiles, congestion, contention, base_model.unknown_models)
    speeds = base_model.speeds(named)
    for factor in factors:
        speeds = factor.speeds(named, speeds)
    if speeds.stages:
        demands = _elastic(demands, cls, speeds, named.rows)
    cls, demands = divide(cls, demands, pools, scattered=placement in SCATTERED, seed=seed)
    if any(factor.slows == "computing" for factor in factors):
        speeds = base_model.with_computing(named, speeds)
    if profile_error > 0.0:
        speeds = with_error(speeds, named, profile_error, seed)
    trace = np.zeros(len(jobs), TRACE)
    trace["submit"], trace["work"] = _times(jobs, path)
    trace["estimate"] = _estimates(jobs, trace["work"], knowledge, seed, path)
    trace["cls"], trace["queue"], trace["speed"] = cls, jobs["limited"].to_numpy(), named.rows
    trace["neg_priority"] = -jobs["priority"].fill_null(0).to_numpy()
    return Prepared(
        jobs.drop("limited", "milli"),
        trace,
        layout,
        pools,
        demands,
        limits,
        speeds,
        base_model,
        factors,
        knowledge,
        history_of(jobs) if knowledge == "history" else NOTHING,
        workload.quality,
        not named.nameless,
        [*assumptions, *named.assumptions],
    )


def _times(jobs: pl.DataFrame, path: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(jobs,) submits since the first and work, in ms, if the clock has room for all of it, one after another."""
    since_first_s = pl.col("submit_s") - pl.col("submit_s").first()
    times = jobs.select(submit=milliseconds(since_first_s), work=milliseconds(pl.col("duration_s")))
    submit, work = times["submit"].to_numpy(), times["work"].to_numpy()
    end = submit[-1] + work.sum()
    if not (end < LATEST_MS and work.min() >= 0):  # NaN is refused, too
        raise InputError(
            f"submit times and durations add up to {end / 1000:.3g} s (or one is negative), beyond the engine's clock",
            path=path,
            fix="both are in seconds; are these milliseconds?",
        )
    return submit, work


def _by_submit(jobs: pl.DataFrame) -> pl.DataFrame:
    """Stably sorted; readers sort, so most often there is nothing to do."""
    return jobs if jobs["submit_s"].is_sorted() else jobs.sort("submit_s", maintain_order=True)


def _without_partitions(jobs: pl.DataFrame, pools: Pools, assumptions: list[str]) -> pl.DataFrame:
    """A cluster that names no partitions takes the jobs of all of them."""
    if any(pools.partitions) or jobs["partition"].null_count() == len(jobs):
        return jobs
    assumptions.append(NO_PARTITIONS)
    return jobs.with_columns(partition=pl.lit(None, pl.String))


def _limited_queues(jobs: pl.DataFrame, layout: Layout) -> tuple[pl.Series, list[int]]:
    """Queue 0 holds every job without a limit; queues with one follow in the order of the cluster file."""
    names = list(layout.queue_limits)
    limits = [-1, *layout.queue_limits.values()]
    index = {name: i + 1 for i, name in enumerate(names)}
    if not index:
        return pl.zeros(len(jobs), pl.Int64, eager=True), limits
    return jobs["queue"].replace_strict(index, default=0, return_dtype=pl.Int64), limits


def _milli(jobs: pl.DataFrame, jobs_per_gpu: int) -> pl.Series:
    """Thousandths of a GPU that each job asks for."""
    part = pl.when(pl.col("gpus") == 1).then(pl.col("fraction")).fill_null(1.0).alias("part")  # of one GPU
    milli = (jobs.select(part)["part"] * WHOLE).round().clip(1, WHOLE).cast(pl.Int64).alias("milli")
    return milli if jobs_per_gpu > 1 else milli.clip(WHOLE)


def _elastic(
    demands: list[Demand], cls: NDArray[np.int64], speeds: Speeds, speed: NDArray[np.int64] | int
) -> list[Demand]:
    """The same, where jobs that tune their batches may have any number of GPUs that their rates are known for."""
    adapts = np.any(speeds.goodputs.reshape(len(speeds.models), -1) > 0.0, axis=1)
    known = np.zeros(len(demands), bool)
    known[cls] = np.asarray(adapts)[speed]
    most = speeds.goodputs.shape[1] // LOCALITIES - 1
    return [replace(d, elastic=(1, most)) if known[c] else d for c, d in enumerate(demands)]


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
    too_wide_for: dict[int, int] = {}
    for c, (gpus, kind, partition, queue, milli) in enumerate(classes.select(KEYS).rows()):
        sets = alternatives(layout, pools, kind, partition)
        if not sets:
            raise nowhere(workload, _first(cls, c), kind, partition, layout, pools)
        parts = parts_of(pools, sets)
        widest = max(_widest(pools, part, limits[queue], placement) for part in parts)
        if gpus > widest or not any(can_ever_fit(pools, gpus, part, placement in SCATTERED) for part in parts):
            if oversized == "refuse" or (oversized == "clamp" and widest == 0):  # a queue may be closed
                raise too_wide(workload, _first(cls, c), gpus, widest, pools.schedulers)
            too_wide_for[c] = widest
        demands.append(Demand(gpus, sets, queue if limits[queue] >= 0 else -1, milli))
    if not too_wide_for:
        return cls, demands, workload
    mend = _without_wide if oversized == "drop" else _narrowed
    return _demands(mend(workload, cls, too_wide_for), layout, pools, limits, placement, "refuse", by)


def _first(cls: NDArray[np.int64], c: int) -> int:
    return int(np.flatnonzero(cls == c)[0])


def _without_wide(workload: Workload, cls: NDArray[np.int64], widest: dict[int, int]) -> Workload:
    kept = workload.jobs.filter(pl.Series(~np.isin(cls, list(widest))))
    if kept.is_empty():
        fix = "use a larger cluster, or --oversized clamp"
        raise InputError("no job of the workload fits the cluster", path=workload.provenance.source, fix=fix)
    return workload.with_jobs(kept, reason="wider than the cluster or its queue")


def _narrowed(workload: Workload, cls: NDArray[np.int64], widest: dict[int, int]) -> Workload:
    gpus = workload.jobs["gpus"].to_numpy().copy()
    for c, most in widest.items():
        gpus[cls == c] = most
    n = int(np.isin(cls, list(widest)).sum())
    clamped = workload.quality.clamped | {"narrowed to the GPUs that they can have at once": n}
    jobs = workload.jobs.with_columns(gpus=pl.Series(gpus))
    return replace(workload, jobs=jobs, quality=replace(workload.quality, clamped=clamped))


def _widest(pools: Pools, sets: tuple[tuple[int, ...], ...], limit: int, placement: Placement) -> int:
    """The widest gang that fits the empty cluster under some alternative, and the queue's limit."""
    widest = 0
    for members in sets:
        nodes = np.sort(np.concatenate([np.full(len(pools.members[p]), pools.sizes[p]) for p in members]))[::-1]
        whole = int((nodes == nodes[0]).sum())
        beyond = nodes[nodes < nodes[0]]
        rest = int(beyond[0]) if len(beyond) else 0
        total = int(nodes.sum()) if placement in SCATTERED else whole * int(nodes[0]) + rest
        widest = max(widest, total)
    return widest if limit < 0 else min(widest, limit)


def _estimates(
    jobs: pl.DataFrame, work: NDArray[np.float64], knowledge: str, seed: int, path: str
) -> NDArray[np.float64] | float:
    """What policies are told of each job's work, in ms."""
    if knowledge in ("none", "history"):  # the run works out the latter
        return float("nan")
    if knowledge == "oracle":
        return work
    if knowledge == "limit":
        limits = jobs["time_limit_s"]
        if limits.null_count():
            raise InputError(
                f"{limits.null_count()} of {len(jobs)} jobs have no time_limit_s",
                path=path,
                fix="use --estimate oracle or lognormal:SIGMA",
            )
        return jobs.select(milliseconds(pl.col("time_limit_s"))).to_series().to_numpy()
    sigma = sigma_of(knowledge)
    error = np.random.default_rng([seed, 0x657374]).standard_normal(len(jobs))
    return np.maximum(1.0, np.round(work * np.exp(sigma * error)))


def sigma_of(knowledge: str) -> float:
    """The σ of ``lognormal:SIGMA``.

    Raises:
        UsageError: it is no estimate at all.
    """
    kind, _, value = knowledge.partition(":")
    try:
        sigma = float(value)
    except ValueError:
        sigma = float("nan")
    if kind != "lognormal" or not 0 <= sigma < 10:
        raise UsageError(
            f"unknown estimate {knowledge!r} (there are none, limit, history, oracle and lognormal:SIGMA, as in "
            "lognormal:0.5)"
        )
    return sigma
