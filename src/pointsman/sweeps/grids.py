"""Grids in Python: every combination of clusters, loads, estimates, policies and seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pointsman.experiment import Experiment, ExperimentSpec, Metadata
from pointsman.inputs.option_types import as_list
from pointsman.parallel.pool import workers
from pointsman.progress import shown
from pointsman.report.grids.grid import Grid
from pointsman.report.staging import refuse_taken
from pointsman.sweeps.cells import at_their_loads, run_tasks, tasks_of
from pointsman.sweeps.kept import results_for
from pointsman.sweeps.outcome import grid_of
from pointsman.workload import Workload, read_workload


def sweep(
    workload: Workload | str | Path,
    cluster: str | Sequence[str],
    policy: str | Sequence[str],
    *,
    load: float | Sequence[float | None] | None = None,
    estimate: str | Sequence[str | None] | None = None,
    seed: int | Sequence[int] = 0,
    baseline: str | None = None,
    window: tuple[float, float] | None = None,
    directory: str | Path | None = None,
    force: bool = False,
    on: str = "local",
    at_once: int | None = None,
    **options: Any,
) -> Grid:
    """Replay `workload` under each policy in every combination of clusters, loads and estimates.

    Each of `cluster`, `policy`, `load`, `estimate` and `seed` is one value or a list of them. A terminal and a notebook
    show a bar while it runs.

    Args:
        workload: A `Workload`, or a file that `read_workload` reads.
        cluster: Names, shorthands or files, as `load_cluster` takes them.
        policy: Names; the first is the baseline. Python files count as names: ``my_policy.py:MyPolicy``.
        load: Offered load to which the gaps between submissions are rescaled; None is the log's own.
        estimate: Job durations that policies are given, as in `simulate`.
        seed: Random seeds; each policy runs once with each in every cell.
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
        UsageError: an option, a policy or a parameter is wrong, a value is given twice, or the directory exists.
    """
    log = workload if isinstance(workload, Workload) else read_workload(workload)
    spec = ExperimentSpec.checked(
        {
            **options,
            "trace": log.provenance.source,
            "cluster": cluster,
            "policies": as_list(policy),
            "load": load,
            "estimate": estimate,
            "seeds": as_list(seed),
            "window": window,
        }
    )
    target = None if directory is None else Path(directory)
    if target is not None:
        refuse_taken(target, force=force)
    cells, store = spec.cells(), results_for(target)
    tasks = tasks_of(cells, at_their_loads(log, cells))
    missing = [task for own in tasks for task in own if not store.has(task.digest)]
    with workers(on, at_once) as some, shown("sweep") as tell:
        for _ in run_tasks(missing, some, store, tell):
            pass
    experiment = Experiment(metadata=Metadata(name="sweep"), spec=spec)
    return grid_of(experiment, tasks, store, target, baseline=baseline, force=force)
