"""Grids in Python: every combination of clusters, loads, estimates, policies and seeds."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pointsman.cluster.load import check_named, check_order
from pointsman.errors import UsageError
from pointsman.experiment import Experiment, ExperimentSpec, Metadata
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.option_types import as_list
from pointsman.parallel.pool import workers
from pointsman.policies.given import GivenPolicy
from pointsman.progress import shown
from pointsman.report.grids.grid import Grid
from pointsman.report.staging import refuse_taken
from pointsman.sweeps.cells import run_tasks, tasks_of, workloads_of
from pointsman.sweeps.choices import choices_of
from pointsman.sweeps.kept import results_for
from pointsman.sweeps.outcome import assemble_grid
from pointsman.workload.given import GivenWorkload, workload_of


def sweep(
    workload: GivenWorkload,
    cluster: str | Sequence[str],
    policy: GivenPolicy | Sequence[GivenPolicy],
    *,
    load: float | Sequence[float | None] | None = None,
    estimate: str | Sequence[str | None] | None = None,
    seeds: int | Sequence[int] = 0,
    workload_seeds: int | Sequence[int] = (),
    baseline: str | None = None,
    window: tuple[float, float] | None = None,
    directory: str | Path | None = None,
    force: bool = False,
    on: str = "local",
    at_once: int | None = None,
    **options: Any,
) -> Grid:
    """Replay `workload` under each policy in every combination of clusters, loads and estimates.

    Each of `cluster`, `policy`, `load`, `estimate` and `seeds` is one value or a list of them. A terminal and a
    notebook show a bar while it runs.

    Args:
        workload: A `Workload`, a file that `read_workload` reads, or a table that `Workload.of` takes.
        cluster: Names, shorthands or files, as `load_cluster` takes them.
        policy: Names (``my_policy.py:MyPolicy``, too) and policy objects; the first is the baseline. Each run gets a
            copy of an object, and a call that is repeated makes the runs of objects again.
        load: Offered load to which the gaps between submissions are rescaled; None is the log's own.
        estimate: Job durations that policies are given, as in `simulate`.
        seeds: Random seeds of estimates, failures and policies; each policy runs once with each on each workload.
        workload_seeds: Random seeds that draw the jobs of a generated workload anew; each policy runs on each of these
            workloads, and intervals are over them. Default: the jobs of the workload.
        baseline: Policy that the others are compared with. Default: the first.
        window: Count only jobs submitted between these times, in seconds since the first submission.
        directory: Where the grid is written, as by ``pointsman compare -o``; finished runs are kept beside it until
            then, and a call that is repeated goes on with the others. Default: nothing is written.
        force: Replace the directory if it exists.
        on: Where to simulate: local, ray or ray://HOST[:PORT].
        at_once: Maximum number of parallel runs. Default: 1, or the number of CPUs of the Ray cluster.
        options: Further options of `simulate`, the same in every cell.

    Raises:
        InputError: the workload or a cluster file is wrong, or a gang could never start.
        UsageError: an option, a policy or a parameter is wrong, a policy object cannot be pickled, a value is given
            twice, or the directory exists.
    """
    if unknown := [name for name in options if name not in ExperimentSpec.model_fields]:
        raise UsageError(
            f"sweep has no option {unknown[0]!r} ({did_you_mean(unknown[0], ExperimentSpec.model_fields)})"
        )
    check_order(workload)
    check_named(cluster)
    log = workload_of(workload)
    spec = ExperimentSpec.checked(
        {
            **options,
            "trace": log.provenance.source,
            "cluster": cluster,
            "policies": choices_of(as_list(policy)),
            "load": load,
            "estimate": estimate,
            "seeds": as_list(seeds),
            "workload_seeds": as_list(workload_seeds),
            "window": window,
        }
    )
    target = None if directory is None else Path(directory)
    if target is not None:
        refuse_taken(target, force=force)
    cells, store = spec.cells(), results_for(target)
    if target is None and "log" not in options:
        cells = [replace(cell, spec=cell.spec.shown_only()) for cell in cells]
    tasks = tasks_of(cells, workloads_of(log, cells))
    missing = [task for own in tasks for task in own if not store.has(task.digest)]
    with workers(on, at_once) as some, shown("sweep") as tell:
        for _ in run_tasks(missing, some, store, tell):
            pass
    experiment = Experiment(metadata=Metadata(name="sweep"), spec=spec)
    return assemble_grid(experiment, tasks, store, target, baseline=baseline, force=force)
