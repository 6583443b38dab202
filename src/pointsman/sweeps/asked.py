"""What a call in Python asks to be run, and running it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pointsman.cluster.load import check_named, check_order
from pointsman.errors import UsageError
from pointsman.experiment import Cell, Experiment, ExperimentSpec, Metadata
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.option_types import as_list
from pointsman.parallel.pool import workers
from pointsman.policies.given import GivenPolicy
from pointsman.progress import shown
from pointsman.report.result import Result
from pointsman.sweeps.cells import Task, run_tasks, tasks_of, workloads_of
from pointsman.sweeps.choices import check_baseline, choices_of
from pointsman.sweeps.kept import InMemory, Store
from pointsman.sweeps.outcome import read_results
from pointsman.workload import Workload
from pointsman.workload.given import GivenWorkload, workload_of


def asked_of(
    call: str, workload: GivenWorkload, cluster: str | Sequence[str], policy: GivenPolicy | Sequence[GivenPolicy],
    options: Mapping[str, Any], baseline: str | None,
) -> tuple[Workload, Experiment]:  # fmt: skip
    """Check what the function `call` was given: the workload, and the experiment on it.

    Raises:
        InputError: the workload is wrong. UsageError: something else is.
    """
    if unknown := [name for name in options if name not in ExperimentSpec.model_fields]:
        raise UsageError(
            f"{call} has no option {unknown[0]!r} ({did_you_mean(unknown[0], ExperimentSpec.model_fields)})"
        )
    check_order(workload)
    check_named(cluster)
    log = workload_of(workload)
    policies = choices_of(as_list(policy))
    spec = ExperimentSpec.checked({**options, "trace": log.provenance.source, "cluster": cluster, "policies": policies})
    check_baseline(spec.policies, baseline)
    return log, Experiment(metadata=Metadata(name=call), spec=spec)


def run_cells(
    call: str, log: Workload, cells: Sequence[Cell], store: Store, on: str, at_once: int | None
) -> list[list[Task]]:
    """Simulate what `store` lacks of all runs; returns those of each cell. A bar is shown while it runs.

    Raises:
        InputError, UsageError: as of `tasks_of` and `workloads_of`, before the first run.
    """
    tasks = tasks_of(cells, workloads_of(log, cells))
    missing = [task for own in tasks for task in own if not store.has(task.digest)]
    with workers(on, at_once) as some, shown(call) as tell:
        for _ in run_tasks(missing, some, store, tell):
            pass
    return tasks


def results_of(
    workload: Any, cluster: Any, policy: Any, baseline: str | None, window: tuple[float, float] | None, *,
    seeds: int | Sequence[int] = 0, workload_seeds: int | Sequence[int] = (), on: str = "local",
    at_once: int | None = None, **options: Any,
) -> list[Result]:  # fmt: skip
    """Simulate what `pointsman.compare` was given: each policy with every seed on every workload.

    Arguments and errors are those of `compare`.
    """
    drawn = {"seeds": as_list(seeds), "workload_seeds": as_list(workload_seeds)}
    log, experiment = asked_of("compare", workload, cluster, policy, {**options, **drawn, "window": window}, baseline)
    if varied := experiment.spec.varied():
        raise UsageError(f"compare takes one value of {' and '.join(varied)}; pointsman.sweep takes several")
    store = InMemory()
    (tasks,) = run_cells("compare", log, experiment.spec.cells(), store, on, at_once)
    return read_results(tasks, store)
