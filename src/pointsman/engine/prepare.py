"""From a job table and a cluster to the arrays of a run."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.build import UNIT_RATES
from pointsman.engine.demand import Demand, Pools, alternatives, can_ever_fit, classify, make_pools, too_wide
from pointsman.engine.records import TRACE
from pointsman.errors import InputError, UsageError
from pointsman.types import Placement

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
    rates: NDArray[np.float64]
    knowledge: str
    assumptions: list[str] = field(default_factory=list)


def milliseconds(seconds: pl.Expr) -> pl.Expr:
    """Whole milliseconds, half to even."""
    return (seconds * 1000).round(0, mode="half_to_even")


def prepare(
    jobs: pl.DataFrame, layout: Layout, *, knowledge: str, placement: Placement, oversized: str, seed: int, path: str
) -> Prepared:
    """Check the jobs against the cluster and lay them out.

    `knowledge`: ``none``, ``limit``, ``oracle`` or ``lognormal:SIGMA``; `oversized`: what to do with gangs that never
    fit.

    Raises:
        InputError: a gang that never fits (``oversized="refuse"``), an unknown GPU type or partition, limits missing.
    """
    if jobs.is_empty():
        raise InputError("there are no jobs to run", path=path)
    pools = make_pools(layout)
    assumptions: list[str] = []
    jobs = _without_partitions(jobs.sort("submit_s", maintain_order=True), pools, assumptions)
    queues, limits = _limited_queues(jobs, layout)
    jobs = jobs.with_columns(limited=queues)
    cls, demands, jobs = _demands(jobs, layout, pools, limits, placement, oversized, path, assumptions)
    rates, speed = _speeds(jobs, layout, assumptions)
    trace = np.zeros(len(jobs), TRACE)
    trace["submit"], trace["work"] = _times(jobs, path)
    trace["estimate"] = _estimates(jobs, trace["work"], knowledge, seed, path)
    trace["cls"], trace["queue"], trace["speed"] = cls, jobs["limited"].to_numpy(), speed
    trace["unprio"] = -jobs["priority"].fill_null(0).to_numpy()
    return Prepared(jobs.drop("limited"), trace, layout, pools, demands, limits, rates, knowledge, assumptions)


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


def _without_partitions(jobs: pl.DataFrame, pools: Pools, assumptions: list[str]) -> pl.DataFrame:
    """A cluster that names no partitions takes the jobs of all of them."""
    if any(pools.partitions) or jobs["partition"].null_count() == len(jobs):
        return jobs
    assumptions.append("the cluster names no partitions, so those of the log are not kept apart")
    return jobs.with_columns(partition=pl.lit(None, pl.String))


def _limited_queues(jobs: pl.DataFrame, layout: Layout) -> tuple[pl.Series, list[int]]:
    """Queue 0 holds every job without a limit; queues with one follow in the order of the cluster file."""
    names = list(layout.queue_limits)
    limits = [-1, *layout.queue_limits.values()]
    index = {name: i + 1 for i, name in enumerate(names)}
    if not index:
        return pl.zeros(len(jobs), pl.Int64, eager=True), limits
    return jobs["queue"].replace_strict(index, default=0, return_dtype=pl.Int64), limits


def _demands(
    jobs: pl.DataFrame,
    layout: Layout,
    pools: Pools,
    limits: list[int],
    placement: Placement,
    oversized: str,
    path: str,
    assumptions: list[str],
) -> tuple[NDArray[np.int64], list[Demand], pl.DataFrame]:
    """The class of each job and what each class asks for; what never fits is refused, dropped or clamped."""
    cls, classes = classify(jobs)
    demands: list[Demand | None] = []
    clamped: dict[int, int] = {}
    for c, (gpus, kind, partition, queue) in enumerate(
        classes.select("gpus", "gpu_type", "partition", "limited").rows()
    ):
        sets = alternatives(layout, pools, kind, partition)
        first = int(np.flatnonzero(cls == c)[0]) if not sets else 0
        if not sets:
            raise _nowhere(f"job {jobs['job_id'][first]!r} (row {first + 1})", kind, partition, layout, pools, path)
        widest = _widest(pools, sets, limits[queue], placement)
        if gpus > widest or not can_ever_fit(pools, gpus, sets, placement == Placement.SPREAD):
            if oversized == "refuse":
                row = int(np.flatnonzero(cls == c)[0])
                raise too_wide(row, jobs["job_id"][row], gpus, f"and can never have more than {widest} at once here")
            clamped[c] = min(gpus, widest)
        demands.append(Demand(clamped.get(c, gpus), sets, queue if limits[queue] >= 0 else -1))
    if not clamped:
        return cls, [d for d in demands if d is not None], jobs
    wide = np.isin(cls, list(clamped))
    assumptions.append(
        f"{int(wide.sum())} jobs wider than the cluster were {'dropped' if oversized == 'drop' else 'clamped to it'}"
    )
    if oversized == "drop":
        jobs = jobs.filter(pl.Series(~wide))
    else:
        widths = np.array([d.gpus for d in demands if d is not None])
        jobs = jobs.with_columns(gpus=pl.Series(widths[cls]))
    if jobs.is_empty():
        raise InputError("no job of the workload fits the cluster", path=path)
    return _demands(jobs, layout, pools, limits, placement, "refuse", path, assumptions)


def _nowhere(job: str, kind: str | None, partition: str | None, layout: Layout, pools: Pools, path: str) -> InputError:
    """The error for a job that asks for what the cluster, or the partition, does not have."""
    names = sorted({name for names in pools.partitions for name in names})
    if partition and partition not in names:
        fix = f"its partitions are {', '.join(names)}" if names else "it has no named partitions"
        return InputError(
            f"{job} asks for partition {partition!r}, which the cluster does not have", path=path, fix=fix
        )
    here = [p for p, names in enumerate(pools.partitions) if not partition or partition in names]
    kinds = ", ".join(dict.fromkeys(layout.gpu_types[pools.gpu_types[p]] for p in here))
    where = f"partition {partition!r}" if partition else "the cluster"
    return InputError(
        f"{job} asks for GPU type {kind!r}, which {where} does not have", path=path, fix=f"it has {kinds}"
    )


def _widest(pools: Pools, sets: tuple[tuple[int, ...], ...], limit: int, placement: Placement) -> int:
    """The widest gang that fits the empty cluster under some alternative, and the queue's limit."""
    widest = 0
    for members in sets:
        nodes = np.sort(np.concatenate([np.full(len(pools.members[p]), pools.sizes[p]) for p in members]))[::-1]
        whole = int((nodes == nodes[0]).sum())
        beyond = nodes[nodes < nodes[0]]
        rest = int(beyond[0]) if len(beyond) else 0
        total = int(nodes.sum()) if placement == Placement.SPREAD else whole * int(nodes[0]) + rest
        widest = max(widest, total)
    return widest if limit < 0 else min(widest, limit)


def _estimates(
    jobs: pl.DataFrame, work: NDArray[np.float64], knowledge: str, seed: int, path: str
) -> NDArray[np.float64] | float:
    """What policies are told of each job's work, in ms."""
    if knowledge == "none":
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
            f"unknown estimate {knowledge!r} (there are none, limit, oracle and lognormal:SIGMA, as in lognormal:0.5)"
        )
    return sigma


def _speeds(jobs: pl.DataFrame, layout: Layout, assumptions: list[str]) -> tuple[NDArray[np.float64], Any]:
    """The table of rates, and each job's first row in it."""
    if jobs["model"].null_count() == len(jobs):
        return UNIT_RATES.repeat(len(layout.gpu_types), axis=0), 0
    from pointsman.speed.catalogue import load_catalogue
    from pointsman.speed.tables import tabulate

    catalogue = load_catalogue()
    known = [m for m in jobs["model"].drop_nulls().unique(maintain_order=True) if _is_known(catalogue, m)]
    named = jobs.select(
        model=pl.when(pl.col("model").is_in(known)).then(pl.col("model")),
        gpus="gpus",
        batch=(pl.col("batch_size") // pl.col("gpus")).clip(lower_bound=1),
    )
    unknown = named["model"].null_count()
    if unknown:
        assumptions.append(f"{unknown} jobs without a known model run at the same speed everywhere")
    distinct = named.unique(maintain_order=True).with_row_index("profile")
    profile = named.join(distinct, on=["model", "gpus", "batch"], how="left", nulls_equal=True, maintain_order="left")[
        "profile"
    ]
    tables = tabulate(layout, distinct.select("model", "gpus", "batch").rows(), catalogue=catalogue)
    assumptions.extend(tables.assumptions)
    return tables.rate, profile.cast(pl.Int64).to_numpy() * len(layout.gpu_types)


def _is_known(catalogue: Any, model: str) -> bool:
    try:
        catalogue.model_name(model)
    except UsageError:
        return False
    return True
