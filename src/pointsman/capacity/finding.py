"""The smallest cluster that meets a target: the runs that find it, and the call from Python."""

from collections.abc import Callable, Sequence
from typing import Any

from pointsman.capacity.curve import Target, parse_target, sentence
from pointsman.capacity.nodes import nodes_of
from pointsman.capacity.result import Capacity
from pointsman.capacity.scaling import scaled, size_of
from pointsman.capacity.side_by_side import curves
from pointsman.capacity.trials import Trials
from pointsman.cluster import load_cluster, parts
from pointsman.cluster.load import check_named, check_order
from pointsman.engine.setup.refusal import check_node_sizes
from pointsman.errors import UsageError
from pointsman.experiment import CellSpec, ExperimentSpec
from pointsman.inputs.messages import described
from pointsman.inputs.option_types import as_list
from pointsman.parallel.pool import workers
from pointsman.policies.given import GivenPolicy
from pointsman.progress import shown
from pointsman.sweeps.cells import check_cell, check_cluster, workloads_of
from pointsman.sweeps.choices import choices_of
from pointsman.sweeps.kept import InMemory
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
        return search(Trials(spec, jobs, some, InMemory(), [wanted.metric]), tell, wanted)


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
    trials: Trials, tell: Callable[..., None], target: Target, policies: Sequence[str] | None = None
) -> Capacity:
    """Simulate clusters of one size after another until the answer of every policy is known.

    Args:
        trials: what is simulated.
        tell: told the share that is done, which is a guess, and a label.
        target: what is to be met, by one of the metrics of `trials`.
        policies: labels; by default all.
    """
    rounds = 0

    def measure(asked: list[tuple[str, int]]) -> list[float | None]:
        nonlocal rounds
        sizes = sorted({n for _, n in asked})
        said = " to ".join(f"{n:,}" for n in sorted({sizes[0], sizes[-1]}))
        trials.simulate(asked, lambda share: tell(1 - 2.0 ** -(rounds / 4 + share / 4), f"{said} nodes"))
        rounds += 1
        return [mean_of([one[target.metric] for one in trials.figures(label, n)]) for label, n in asked]

    of, first = trials.cluster_of, size_of(trials.whole)
    most = min(MOST_TIMES * first, parts.MAX_NODES)
    found = curves(policies or list(trials.runs), first, most, lambda n: of(n).gpus, target, measure)
    return Capacity(target, found, first, sentence(found, target, lambda nodes: nodes_of(of(nodes))))


def mean_of(values: Sequence[float | None]) -> float | None:
    """Over the seeds; None: it is unknown for one of them."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None
