"""Grids in Python: every combination of clusters, loads, estimates, policies and seeds."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pointsman.inputs.option_types import as_list
from pointsman.policies.given import GivenPolicy
from pointsman.report.grids.grid import Grid
from pointsman.report.staging import refuse_taken
from pointsman.sweeps.asked import asked_of, run_cells
from pointsman.sweeps.kept import results_for
from pointsman.sweeps.outcome import assemble_grid
from pointsman.workload.given import GivenWorkload


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
    varying = {"load": load, "estimate": estimate, "seeds": as_list(seeds), "workload_seeds": as_list(workload_seeds)}
    log, experiment = asked_of("sweep", workload, cluster, policy, {**options, **varying, "window": window}, baseline)
    target = None if directory is None else Path(directory)
    if target is not None:
        refuse_taken(target, force=force)
    cells, store = experiment.spec.cells(), results_for(target)
    if target is None and "log" not in options:
        cells = [replace(cell, spec=cell.spec.shown_only()) for cell in cells]
    tasks = run_cells("sweep", log, cells, store, on, at_once)
    return assemble_grid(experiment, tasks, store, target, baseline=baseline, force=force)
