"""The cells of an experiment with their jobs, and the runs that each of them is made of."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pointsman.cluster import load_cluster
from pointsman.engine.run.assembly import check_fits, check_run
from pointsman.experiment import Cell, CellSpec
from pointsman.parallel.file_bundle import FileBundle, pack
from pointsman.parallel.pool import OneByOne
from pointsman.parallel.workers import Workers
from pointsman.policies.given import policy_of
from pointsman.progress import Tell
from pointsman.report.result import Result
from pointsman.sweeps.choices import call_of, told_apart
from pointsman.sweeps.digests import run_digest, workload_digest
from pointsman.sweeps.kept import Store, finish
from pointsman.sweeps.runs import Run, runs_of, simulated
from pointsman.workload import Workload
from pointsman.workload.transforms.rescale import at_load


@dataclass(frozen=True)
class Task:
    """A run of a cell, with all that it is made from."""

    digest: str
    spec: CellSpec
    workload: Workload
    run: Run


def workloads_of(log: Workload, cells: Sequence[Cell]) -> list[list[Workload]]:
    """The workloads of each cell: the log, or one for each workload seed, at the load of the cell.

    Raises:
        UsageError: the log cannot be brought to a load, or was not generated and cannot be drawn anew.
    """
    seeds = sorted(cells[0].spec.workload_seeds)
    drawn = _redrawn(log, seeds, cells[0].spec.ignore) if seeds else [log]
    return [list(found) for found in zip(*(_at_their_loads(each, cells) for each in drawn), strict=True)]


def _redrawn(log: Workload, seeds: Sequence[int], ignored: Sequence[str]) -> list[Workload]:
    from pointsman.workload.generator.redraw import redrawn

    found = redrawn(log, seeds)
    return [each.without(ignored) for each in found] if ignored else found


def _at_their_loads(log: Workload, cells: Sequence[Cell]) -> list[Workload]:
    """The jobs of each cell: those of the log, at its load on its cluster. Equal ones are one object."""
    made: dict[tuple[int, float | None], Workload] = {}
    found = []
    for cell in cells:
        key = load_cluster(cell.spec.cluster).gpus if cell.spec.load is not None else 0, cell.spec.load
        if key not in made:
            made[key] = log if cell.spec.load is None else at_load(log, key[0], cell.spec.load)
        found.append(made[key])
    return found


def check_cell(spec: CellSpec, workload: Workload) -> None:
    """Before the first run: that each policy goes with the options and the jobs of a cell.

    Raises:
        UsageError: one does not.
    """
    options = spec.run_options(spec.seeds[0])
    for choice in spec.policies:
        policy, made = policy_of(*call_of(choice))
        check_run(workload, policy, made, dict(options))


def check_cluster(spec: CellSpec, workload: Workload, **more: str) -> None:
    """Before the first run: that the cluster of a cell can take its jobs, under each policy; `more` are options that go
    before the cell's.

    Raises:
        InputError: a job could never start.
    """
    cluster, options = load_cluster(spec.cluster), spec.run_options(spec.seeds[0], **more)
    for choice in spec.policies:
        check_fits(workload, cluster, policy_of(*call_of(choice))[1], dict(options))


def tasks_of(cells: Sequence[Cell], workloads: Sequence[Sequence[Workload]]) -> list[list[Task]]:
    """The runs of each cell, all of which are checked before one begins: workload by workload.

    Raises:
        InputError: a job can never start in a cell.
        UsageError: a policy does not go with the options or the jobs of a cell.
    """
    pairs = [(cell.spec, own) for cell, some in zip(cells, workloads, strict=True) for own in some]
    for spec, workload in pairs:
        check_cell(spec, workload)
    if len(pairs) > 1 or len(cells[0].spec.policies) > 1:  # the only run says so by itself
        for spec, workload in pairs:
            check_cluster(spec, workload)
    digests = {id(workload): workload_digest(workload) for _, workload in pairs}
    cluster_of = cache(load_cluster)

    def task(spec: CellSpec, workload: Workload, run: Run) -> Task:
        digest = run_digest(digests[id(workload)], cluster_of(spec.cluster), spec, run, *told_apart(run.choice))
        return Task(digest, spec, workload, run)

    return [
        [task(cell.spec, workload, run) for workload in some for run in runs_of(cell.spec)]
        for cell, some in zip(cells, workloads, strict=True)
    ]


def run_tasks(tasks: Sequence[Task], workers: Workers, store: Store, tell: Callable[..., None]) -> Iterator[Result]:
    """Simulate tasks that `store` lacks, and add their results; yields each as it ends.

    `tell` is told the share that is done, and a label.
    """
    bundle = pack([task.spec.model_dump(exclude={"trace"}) for task in tasks]) if workers.far else FileBundle()
    alone = isinstance(workers, OneByOne)
    calls = [(*_there(bundle, task), _teller(tell, tasks, k) if alone else None) for k, task in enumerate(tasks)]

    def received(result: Result) -> Result:
        return replace(result, info=bundle.back(result.info))

    digests = [task.digest for task in tasks]
    for done, result in enumerate(finish(digests, simulated, calls, workers, store, bundle, received), 1):
        if not alone:
            tell(done / len(tasks), f"{done} of {len(tasks)}")
        yield result


def _teller(tell: Callable[..., None], tasks: Sequence[Task], k: int) -> Tell:
    """What the `k`-th task tells of itself, so that `tell` hears of all."""
    return lambda share: tell((k + share) / len(tasks), f"{tasks[k].run.label}, {k + 1} of {len(tasks)}")


def _there(bundle: FileBundle, task: Task) -> tuple[CellSpec, Workload, Run]:
    """The task with the names that files have where it runs."""
    if not bundle.relative:
        return task.spec, task.workload, task.run
    choice = task.run.choice.model_copy(update=bundle.there(task.run.choice.model_dump()))
    spec = CellSpec.model_validate(bundle.there(task.spec.model_dump()))
    return spec, task.workload, replace(task.run, choice=choice)
