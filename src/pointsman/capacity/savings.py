"""How many GPUs a policy saves: the least cluster on which jobs fare no worse under it than under the first policy on
the whole cluster, also where preemption loses work.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pointsman.api import simulate
from pointsman.capacity.curve import Target
from pointsman.capacity.finding import mean_of, search
from pointsman.capacity.saved import EQUAL, Saving, Savings
from pointsman.cluster import load_cluster
from pointsman.engine.setup.overheads import load_overheads
from pointsman.errors import RunError, UsageError
from pointsman.experiment import CellSpec
from pointsman.parallel.workers import Workers
from pointsman.report import summarise
from pointsman.report.metrics.price import preempts
from pointsman.sweeps.digests import run_digest, workload_digest
from pointsman.sweeps.kept import Store, finish
from pointsman.sweeps.runs import Run, runs_of
from pointsman.workload import Workload


def check_several(spec: CellSpec) -> None:
    """That there is a policy to compare with, and another.

    Raises:
        UsageError: there is one.
    """
    if len(spec.policies) < 2:
        raise UsageError("--savings compares with the first policy and needs a second: add --policy NAME")


def savings_of(
    spec: CellSpec, workload: Workload, workers: Workers, store: Store, tell: Callable[..., None],
    intervals_s: Sequence[float],
) -> Savings:  # fmt: skip
    """What each policy but the first saves in each of the figures of `EQUAL`; skips simulations that `store` has.

    A policy that preempts, or is compared with one that does, is tried at each interval, others at that of `spec`.

    Args:
        spec: the policies, the one to compare with first, and the whole cluster.
        workload: the jobs.
        workers: what simulates.
        store: where figures are kept.
        tell: told a share that is done, and a label.
        intervals_s: seconds between checkpoints, as in ``compare --price``.

    Raises:
        RunError: a figure of the first policy is unknown, because jobs are left over.
    """
    costs, preempting = load_overheads(spec.overheads), _preempting(spec, workload, workers, store)
    first, *others = spec.policies
    found: list[Saving] = []
    for interval_s in sorted({costs.interval_s, *intervals_s}):
        tried = interval_s == costs.interval_s or first.name in preempting
        some = tuple(choice for choice in others if tried or choice.name in preempting)
        at = spec.model_copy(update={"overheads": costs.at_interval(interval_s).stated()})
        if some:
            limits = _figures(at.model_copy(update={"policies": (first,)}), workload, workers, store)
            at = at.model_copy(update={"policies": some})
            found += _at(interval_s, at, workload, limits, workers, store, tell)
    return Savings(runs_of(spec)[0].label, found, costs.lost_s)


def _preempting(spec: CellSpec, workload: Workload, workers: Workers, store: Store) -> set[str]:
    """Names of the policies that preempt jobs on the whole cluster."""
    runs = [run for run in runs_of(spec) if run.seed == spec.seeds[0]]
    told = _each(spec, workload, runs, workers, store, "preempts")
    return {run.choice.name for run, preempts in zip(runs, told, strict=True) if preempts}


def _figures(spec: CellSpec, workload: Workload, workers: Workers, store: Store) -> dict[str, float]:
    """Those of the only policy of `spec`, means over its seeds."""
    runs = runs_of(spec)
    values = {metric: mean_of(_each(spec, workload, runs, workers, store, metric)) for metric in EQUAL}
    known = {metric: value for metric, value in values.items() if value is not None}
    if len(known) < len(values):
        raise RunError(
            f"{runs[0].label} leaves jobs waiting on this cluster, so nothing can be as good; choose another"
        )
    return known


def _each(
    spec: CellSpec, workload: Workload, runs: Sequence[Run], workers: Workers, store: Store, what: str
) -> list[float | None]:
    jobs, cluster = workload_digest(workload), load_cluster(spec.cluster)
    digests = [run_digest(jobs, cluster, spec, run, "savings", what, spec.window) for run in runs]
    missing = [(digest, (spec, workload, run, what)) for digest, run in zip(digests, runs, strict=True)
               if not store.has(digest)]  # fmt: skip
    for _ in finish([digest for digest, _ in missing], on_whole, [call for _, call in missing], workers, store):
        pass
    return [store.take(digest) for digest in digests]


def on_whole(spec: CellSpec, workload: Workload, run: Run, what: str) -> float | None:
    """A figure of a run on the whole cluster, or whether it preempts; None: it leaves jobs waiting."""
    options: dict[str, Any] = dict(spec.run_options(run.seed, log=False))
    result = simulate(workload, spec.cluster, run.choice.name, params=run.choice.params, **options)
    if what == "preempts":
        return float(preempts(result))
    waits = (result.jobs["state"] == "PENDING").any()
    return None if waits else summarise(result, window=spec.window)[what]


def _at(
    interval_s: float, spec: CellSpec, workload: Workload, limits: dict[str, float], workers: Workers, store: Store,
    tell: Callable[..., None],
) -> list[Saving]:  # fmt: skip
    whole = load_cluster(spec.cluster).gpus
    found = []
    for metric, limit_s in limits.items():
        target = Target(f"{metric}<={limit_s!r}", metric, "<=", limit_s)
        for curve in search(spec, workload, workers, store, tell, target).curves:
            found.append(Saving(curve.policy, interval_s, metric, limit_s, whole, curve.answer))
    return found
