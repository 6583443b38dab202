"""The smallest cluster that meets a target: the runs that find it, and the call from Python."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

from pointsman.api import simulate
from pointsman.capacity.curve import Target, parse_target, sentence
from pointsman.capacity.nodes import nodes_of
from pointsman.capacity.result import Capacity
from pointsman.capacity.scaling import scaled, size_of
from pointsman.capacity.side_by_side import curves
from pointsman.cluster import Cluster, load_cluster, parts
from pointsman.cluster.load import check_named, check_order
from pointsman.engine.setup.refusal import check_node_sizes
from pointsman.errors import TooWideError, UsageError
from pointsman.experiment import CellSpec, ExperimentSpec
from pointsman.inputs.messages import described
from pointsman.inputs.option_types import as_list
from pointsman.parallel.pool import workers
from pointsman.parallel.workers import Workers
from pointsman.policies.given import GivenPolicy
from pointsman.progress import shown
from pointsman.report import summarise
from pointsman.report.result import Result
from pointsman.sweeps.cells import check_cell, check_cluster, workloads_of
from pointsman.sweeps.choices import call_of, choices_of
from pointsman.sweeps.digests import run_digest, workload_digest
from pointsman.sweeps.kept import InMemory, Store, finish
from pointsman.sweeps.runs import Run, runs_of
from pointsman.workload import Workload
from pointsman.workload.given import GivenWorkload, workload_of

MOST_TIMES = 64
"""So many times as many nodes as the cluster file has are tried at most (ours)."""


def find_capacity(
    workload: GivenWorkload,
    cluster: str,
    policy: GivenPolicy | Sequence[GivenPolicy],
    target: str = "pending_p90_s<=1h",
    *,
    seeds: int | Sequence[int] = 0,
    window: tuple[float, float] | None = None,
    on: str = "local",
    at_once: int | None = None,
    **options: Any,
) -> Capacity:
    """Find the smallest cluster that meets a target under each policy, as ``pointsman capacity`` does.

    Args:
        workload: A `Workload`, a file that `read_workload` reads, or a table that `Workload.of` takes.
        cluster: A name, a shorthand or a file, as `load_cluster` takes it. Node types keep its proportions.
        policy: Names and policy objects, as `sweep` takes them.
        target: A metric of `summarise`, an operator and a value: seconds, a share or a duration such as ``1h``.
        seeds: Random seeds; the metric is the mean over them.
        window: Count only jobs submitted between these times, in seconds since the first submission.
        on: Where to simulate: local, ray or ray://HOST[:PORT].
        at_once: Maximum number of parallel runs. Default: 1, or the number of CPUs of the Ray cluster.
        options: Further options of `simulate`.

    Raises:
        InputError: the workload or the cluster file is wrong.
        UsageError: the target, an option, a policy or a parameter is wrong, or the cluster cannot be scaled.
    """
    if not isinstance(target, str):
        raise UsageError(f"target takes a condition such as 'pending_p90_s<=1h', not {described(target)}")
    wanted = parse_target(target)
    check_order(workload)
    check_named(cluster)
    log, policies = workload_of(workload), choices_of(as_list(policy))
    given = {"trace": log.provenance.source, "cluster": cluster, "policies": policies, "seeds": as_list(seeds)}
    experiment = ExperimentSpec.checked({**options, **given, "window": window})
    spec = experiment.only_cell("capacity")
    check_searchable(spec)
    scaled(load_cluster(spec.cluster), 1)  # refuses what cannot be scaled
    ((jobs,),) = workloads_of(log, experiment.cells())
    check_jobs(spec, jobs)
    with workers(on, at_once) as some, shown("capacity") as tell:
        return search(spec, jobs, some, InMemory(), tell, wanted)


def check_searchable(spec: CellSpec) -> None:
    """That jobs which are too wide are refused, and that there is one workload.

    Raises:
        UsageError: they are dropped or clamped, or there are several.
    """
    if spec.oversized != "refuse":
        raise UsageError(f"--oversized {spec.oversized}: capacity requires that every job fits; leave the option out")
    if len(spec.workload_seeds) > 1:
        raise UsageError("capacity takes one of --workload-seeds; it searches on the jobs of one workload")


def check_jobs(spec: CellSpec, workload: Workload) -> None:
    """Before the first run: that policies, jobs and cluster go together.

    Raises:
        InputError, UsageError: they do not.
    """
    check_cell(spec, workload)
    check_cluster(spec, workload, oversized="clamp")  # a larger one may have room
    check_node_sizes(workload, load_cluster(spec.cluster).layout())


def search(
    spec: CellSpec, workload: Workload, workers: Workers, store: Store, tell: Callable[..., None], target: Target
) -> Capacity:
    """Simulate clusters of one size after another until the answer of every policy is known; skips what `store` has.

    `tell` is told the share that is done, which is a guess, and a label.
    """
    cluster = load_cluster(spec.cluster)
    runs: dict[str, list[Run]] = {}
    for run in runs_of(spec):
        runs.setdefault(run.label, []).append(run)

    of = cache(partial(scaled, cluster))
    jobs, rounds = workload_digest(workload), 0

    def digest(run: Run, nodes: int) -> str:
        return run_digest(jobs, of(nodes), spec, run, target.metric, spec.window)

    def measure(asked: list[tuple[str, int]]) -> list[float | None]:
        nonlocal rounds
        sizes = sorted({n for _, n in asked})
        said = " to ".join(f"{n:,}" for n in sorted({sizes[0], sizes[-1]}))
        wanted = [(run, n) for label, n in asked for run in runs[label]]
        missing = [each for each in wanted if not store.has(digest(*each))]
        calls = [(spec, workload, run, of(n), target.metric) for run, n in missing]
        for done, _ in enumerate(finish([digest(*each) for each in missing], figure_of, calls, workers, store), 1):
            tell(1 - 2.0 ** -(rounds / 4 + done / len(calls) / 4), f"{said} nodes")
        rounds += 1
        each = iter([store.take(digest(*one)) for one in wanted])
        return [mean_of([next(each) for _ in runs[label]]) for label, _ in asked]

    first = size_of(cluster)
    most = min(MOST_TIMES * first, parts.MAX_NODES)
    all_curves = curves(list(runs), first, most, lambda n: of(n).gpus, target, measure)
    return Capacity(target, all_curves, first, sentence(all_curves, target, lambda nodes: nodes_of(of(nodes))))


def mean_of(values: Sequence[float | None]) -> float | None:
    """Over the seeds; None: it is unknown for one of them."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def figure_of(spec: CellSpec, workload: Workload, run: Run, cluster: Cluster, metric: str) -> float | None:
    """One metric of one run; None: a job is too wide for this cluster, or the policy left jobs waiting."""
    try:
        return metrics_of(result_of(spec, workload, run, cluster), spec, [metric])[metric]
    except TooWideError:
        return None


def result_of(spec: CellSpec, workload: Workload, run: Run, cluster: Cluster) -> Result:
    """One run, without its events."""
    policy, params = call_of(run.choice)
    return simulate(workload, cluster, policy, params=params, **dict(spec.run_options(run.seed, log=False)))


def metrics_of(result: Result, spec: CellSpec, metrics: Iterable[str]) -> dict[str, float | None]:
    """Some metrics of it; None: the policy left jobs waiting."""
    if (result.jobs["state"] == "PENDING").any():
        return dict.fromkeys(metrics)
    summary = summarise(result, window=spec.window)
    return {metric: summary[metric] for metric in metrics}
