"""How many GPUs a policy saves: the least cluster on which jobs fare no worse under it than under the first policy on
the whole cluster, also where preemption loses work.
"""

from collections.abc import Callable, Sequence

from pointsman.capacity.curve import Target
from pointsman.capacity.finding import mean_of, metrics_of, result_of, search
from pointsman.capacity.saved import EQUAL, Saving, Savings
from pointsman.cluster import load_cluster
from pointsman.engine.setup.overheads import load_overheads
from pointsman.errors import RunError, UsageError
from pointsman.experiment import CellSpec
from pointsman.parallel.workers import Workers
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
    costs, whole = load_overheads(spec.overheads), _on_whole(spec, workload, workers, store)
    preempting = {run.choice.name for run, told in whole if told["preempts"]}
    first, *others = spec.policies
    found: list[Saving] = []
    for interval_s in sorted({costs.interval_s, *intervals_s}):
        is_own = interval_s == costs.interval_s
        some = tuple(choice for choice in others if is_own or {first.name, choice.name} & preempting)
        at = spec.model_copy(update={"overheads": costs.at_interval(interval_s).stated(), "policies": some})
        if some:
            again = first.name in preempting and not is_own  # else it is the same at every interval
            alone = at.model_copy(update={"policies": (first,)})
            limits = _limits(_on_whole(alone, workload, workers, store) if again else whole)
            found += _at(interval_s, at, workload, limits, workers, store, tell)
    return Savings(whole[0][0].label, found, costs.lost_s)


Figures = dict[str, float | None]


def _on_whole(spec: CellSpec, workload: Workload, workers: Workers, store: Store) -> list[tuple[Run, Figures]]:
    """Each run of `spec` with `figures_on_whole`."""
    jobs, cluster, runs = workload_digest(workload), load_cluster(spec.cluster), runs_of(spec)
    digests = [run_digest(jobs, cluster, spec, run, "savings", spec.window) for run in runs]
    calls = {digest: (spec, workload, run) for digest, run in zip(digests, runs, strict=True) if not store.has(digest)}
    for _ in finish(list(calls), figures_on_whole, list(calls.values()), workers, store):
        pass
    return [(run, store.take(digest)) for run, digest in zip(runs, digests, strict=True)]


def figures_on_whole(spec: CellSpec, workload: Workload, run: Run) -> Figures:
    """The figures of `EQUAL` of a run on the whole cluster, and ``preempts``: 1 if it does, else 0."""
    result = result_of(spec, workload, run, load_cluster(spec.cluster))
    return {"preempts": float(preempts(result)), **metrics_of(result, spec, EQUAL)}


def _limits(whole: Sequence[tuple[Run, Figures]]) -> dict[str, float]:
    """The figures of the first policy, means over its seeds.

    Raises:
        RunError: one is unknown.
    """
    label = whole[0][0].label
    own = [told for run, told in whole if run.label == label]
    known = {metric: value for metric in EQUAL if (value := mean_of([told[metric] for told in own])) is not None}
    if len(known) < len(EQUAL):
        raise RunError(f"{label} leaves jobs waiting on this cluster, so nothing can be as good; choose another")
    return known


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
