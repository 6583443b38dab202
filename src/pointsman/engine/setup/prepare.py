"""From a job table and a cluster to the arrays of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.congestion import UNCONGESTED
from pointsman.cluster.layout import Layout
from pointsman.engine.estimates.keys import NOTHING, History, history_of
from pointsman.engine.rate_models.named_models import named_models
from pointsman.engine.rate_models.profile_error import with_error
from pointsman.engine.rate_models.speeds import Speeds
from pointsman.engine.setup.asked import asked_of
from pointsman.engine.setup.demand import (
    KEYS,
    WITH_MODELS,
    Demand,
    Pools,
)
from pointsman.engine.setup.schedulers import divide
from pointsman.engine.setup.terms import Terms
from pointsman.engine.state.records import TRACE
from pointsman.errors import InputError, UsageError
from pointsman.types import LOCALITIES, SCATTERED
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
    terms: Terms = field(default_factory=Terms)
    history: History = NOTHING
    quality: Quality = field(default_factory=partial(Quality, 0, 0))
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
    terms: Terms,
    *,
    oversized: str = "refuse",
    seed: int = 0,
    profiles: Sequence[str | Path] = (),
    congestion: Mapping[str, float] = UNCONGESTED,
    profile_error: float = 0.0,
) -> Prepared:
    """Check the jobs against the cluster and lay them out.

    `oversized`: what to do with gangs that never fit; `profiles`: files of model profiles, which go before the shipped
    ones; `congestion` divides the bandwidth of levels; `profile_error`: σ of the error of what policies are told of
    model profiles.

    Raises:
        InputError: a gang that never fits (``oversized="refuse"``), an unknown GPU type or partition, limits missing.
        UsageError: there are fewer racks than schedulers.
    """
    path = workload.provenance.source
    base_model, factors, placement = terms.base_model, terms.factors, terms.placement
    by = WITH_MODELS if terms.jobs_per_gpu > 1 or base_model.adapts_gangs else KEYS
    asked = asked_of(
        workload, layout, placement=placement, oversized=oversized, schedulers=terms.schedulers,
        jobs_per_gpu=terms.jobs_per_gpu, by=by,
    )  # fmt: skip
    pools, cls, demands, jobs = asked.pools, asked.cls, asked.demands, asked.workload.jobs
    contention = terms.link_sharing.contention
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
    trace["estimate"] = _estimates(jobs, trace["work"], terms.knowledge, seed, path)
    trace["cls"], trace["queue"], trace["speed"] = cls, jobs["limited"].to_numpy(), named.rows
    trace["pinned"] = ~jobs["preemptible"].to_numpy()
    trace["neg_priority"] = -jobs["priority"].fill_null(0).to_numpy()
    return Prepared(
        jobs.drop("limited", "milli", "per_node"),
        trace,
        layout,
        pools,
        demands,
        asked.queue_limits,
        speeds,
        terms,
        history_of(jobs) if terms.knowledge == "history" else NOTHING,
        asked.workload.quality,
        not named.nameless,
        [*asked.assumptions, *named.assumptions],
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


def _elastic(
    demands: list[Demand], cls: NDArray[np.int64], speeds: Speeds, speed: NDArray[np.int64] | int
) -> list[Demand]:
    """Lets jobs that tune their batches have any number of GPUs that their rates are known for. Those
    with a shape keep it.
    """
    adapts = np.any(speeds.goodputs.reshape(len(speeds.models), -1) > 0.0, axis=1)
    known = np.zeros(len(demands), bool)
    known[cls] = np.asarray(adapts)[speed]
    most = speeds.goodputs.shape[1] // LOCALITIES - 1
    return [replace(d, elastic=(1, most)) if known[c] and not d.per_node else d for c, d in enumerate(demands)]


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
