"""The runs of an experiment, one after another or side by side; those that are finished already are not run again."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pointsman.cli import screen
from pointsman.experiment import Cell, CellSpec
from pointsman.parallel.workers import Workers

if TYPE_CHECKING:
    from pointsman.engine.run.simulation import Simulation
    from pointsman.engine.setup.prepare import Prepared
    from pointsman.report.result import Result
    from pointsman.sweeps.cells import Task
    from pointsman.sweeps.kept import Store
    from pointsman.workload import Workload


def read_jobs(cells: Sequence[Cell]) -> "list[list[Workload]]":
    """The workloads of each cell, one for each workload seed: the job log, filtered and at the load of the cell; says
    what was read.

    Raises:
        InputError: the log is wrong. UsageError: a filter or the load is.
    """
    from pointsman.cli.hints import tell_of_units
    from pointsman.cli.results import command_line
    from pointsman.sweeps.cells import workloads_of
    from pointsman.workload import read_workload

    spec = cells[0].spec
    only = {column: list(values) for column, values in spec.only.items()}
    told = {"time_unit": spec.time_unit, "date_order": spec.date_order, "steps": spec.steps, "runaways": spec.runaways}
    options: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
    log = read_workload(
        spec.trace, format=spec.trace_format, only=only, columns=spec.columns, keep_columns=spec.keep_columns,
        ignore=() if spec.workload_seeds else spec.ignore, command=command_line(), **options,
    )  # fmt: skip
    workloads = workloads_of(log, cells)
    told = workloads[0][0] if len(cells) == 1 else log
    if spec.workload_seeds:
        screen.note(f"jobs drawn anew with workload seeds {', '.join(map(str, sorted(spec.workload_seeds)))}")
    screen.note(f"{told.provenance}: " + told.quality.render().replace("\n", "\n  "))
    tell_of_units(told)
    return workloads


def replay(cells: "Sequence[Sequence[Task]]", workers: Workers, store: "Store") -> None:
    """Simulate the runs of all cells that `store` lacks."""
    from pointsman.cli.compiled import prepare_code
    from pointsman.sweeps.cells import run_tasks

    tasks = [task for cell in cells for task in cell]
    missing = [task for task in tasks if not store.has(task.digest)]
    if len(missing) < len(tasks):
        screen.note(f"{len(tasks) - len(missing)} of {len(tasks)} runs are finished and kept; they are not run again")
    if not workers.far and missing:
        prepare_code((choice.name for choice in missing[0].spec.policies), dict(missing[0].spec))
    with screen.progress("replay") as progress:
        for result in run_tasks(missing, workers, store, progress.update):
            decisions, engine_s, seed = (result.info[name] for name in ("decisions", "engine_s", "seed"))
            screen.detail(
                f"{result.info['policy_name']}, seed {seed}: {decisions:,} decisions in {engine_s:.3g} s of computing"
            )


@contextmanager
def say_what_is_kept(directory: Path | None) -> Generator[None]:
    """If the command ends early, say how it can be continued."""
    from pointsman.sweeps.kept import folder_of

    try:
        yield
    except BaseException:
        if directory is not None and (there := folder_of(directory)).is_dir():
            screen.note(f"finished runs are kept in {there}; the same command goes on with the others")
        raise


def read_with_remarks(tasks: "Sequence[Task]", store: "Store") -> "list[Result]":
    """The results of a cell's runs, in order; says what should be known of them."""
    from pointsman.sweeps import outcome

    found = outcome.read_results(tasks, store)
    for said in remarks_on(tasks, found):
        screen.note(said)
    return found


def remarks_on(tasks: "Sequence[Task]", results: "Sequence[Result]") -> Iterator[str]:
    """What should be known of the results of a cell's runs, in sentences."""
    from pointsman.cli.hints import remarks

    labels, first = [task.run.label for task in tasks], tasks[0]
    yield from remarks(first.workload, first.spec.estimate, labels, results)
    for task, result in zip(tasks, results, strict=True):
        if task.spec.log is None and result.events is None:
            which = f"{task.run.label}, seed {task.run.seed}"
            yield f"{which}: too many events to keep; means over the window are of samples"


def replayable(spec: CellSpec, workload: "Workload", info: Mapping[str, Any]) -> "tuple[Simulation, Prepared]":
    """A finished run again, before its first event: `info` says which policy, parameters and seed it had."""
    from pointsman.api import open_simulation
    from pointsman.cluster import load_cluster
    from pointsman.policies.registry import get_policy

    policy = get_policy(info["policy"])
    options = spec.run_options(info["seed"], audit=False, log=False)
    return open_simulation(workload, load_cluster(spec.cluster), policy, policy.make(info["params"]), options)
