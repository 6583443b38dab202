"""From the finished runs of an experiment to a comparison or a grid, in the output directory if there is one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pointsman.cli import screen
from pointsman.cli.as_logged import logged_runs
from pointsman.cli.options import Options
from pointsman.cli.replay import read_with_remarks, remarks_on, replay
from pointsman.cli.results import command_line, tell_page
from pointsman.errors import ThresholdError
from pointsman.parallel.workers import Workers
from pointsman.report.comparison import Comparison, compare
from pointsman.report.grids.table import by_cell
from pointsman.report.metrics.threshold import check_rows
from pointsman.report.rundir import write_comparison
from pointsman.sweeps import outcome
from pointsman.sweeps.kept import Store, forget
from pointsman.sweeps.price import tasks_again
from pointsman.types import AS_LOGGED

if TYPE_CHECKING:
    from pointsman.experiment import Experiment
    from pointsman.report.grids.grid import Grid
    from pointsman.report.pages.advice import Advice
    from pointsman.report.result import Result
    from pointsman.sweeps.cells import Task


@dataclass(frozen=True)
class Finished:
    """The runs of the only cell, those made again for the price of preemption, and where they are on disk."""

    tasks: "Sequence[Task]"
    results: "list[Result]"
    store: Store
    again: "dict[float, list[Task]]" = field(default_factory=dict)
    repeated: "dict[float, list[Result]]" = field(default_factory=dict)

    def beside(self, others: "Finished") -> "Finished":
        """These runs, and then others of the cell."""
        return replace(self, tasks=[*self.tasks, *others.tasks], results=[*self.results, *others.results])

    @property
    def results_on_disk(self) -> "list[tuple[Result, Path]]":
        """Each result with its directory, if it has one."""
        tasks = [*self.tasks, *(task for some in self.again.values() for task in some)]
        results = [*self.results, *(result for some in self.repeated.values() for result in some)]
        places = (self.store.place(task.digest) for task in tasks)
        return [(result, place) for result, place in zip(results, places, strict=True) if place is not None]


def runs_of_cell(tasks: "Sequence[Task]", store: Store) -> Finished:
    """The finished runs; says what should be known of them."""
    return Finished(tasks, read_with_remarks(tasks, store), store)


def with_price(
    runs: Finished, intervals_s: "Sequence[float] | None", baseline: str | None, workers: Workers
) -> Finished:
    """Simulates the policies that preempt again, at each interval between checkpoints, and adds these runs."""
    again = tasks_again(runs.tasks, runs.results, intervals_s, baseline)
    replay(list(again.values()), workers, runs.store)
    repeated = {interval_s: outcome.read_results(tasks, runs.store) for interval_s, tasks in again.items()}
    return replace(runs, again=again, repeated=repeated)


def comparison_of(
    options: Options, experiment: "Experiment", runs: Finished, baseline: str | None,
    show: "Callable[[Comparison], None]", advise: "Callable[[Comparison], Advice] | None" = None,
) -> Comparison:  # fmt: skip
    """The runs of the only cell side by side, shown before the report is written; `advise` as of `write_comparison`."""
    window = experiment.spec.window
    logged = logged_runs(runs.tasks[0].workload, runs.results)
    results = [*logged, *runs.results]
    if baseline == AS_LOGGED and not logged:
        baseline = None
        screen.note("the baseline is the first policy instead")
    if not options.output:
        comparison = compare(results, baseline=baseline, window=window, repeated=runs.repeated)
        show(comparison)
        return comparison

    def tell(comparison: Comparison) -> None:
        show(comparison)
        screen.note("writing the report")

    comparison = write_comparison(
        options.output, results, baseline=baseline, force=options.force, command=command_line(),
        config=outcome.config_of(experiment), window=window, figures=screen.can_draw(),
        repeated=runs.repeated, kept=runs.results_on_disk, advise=advise, tell=tell,
    )  # fmt: skip
    forget(options.output)
    tell_page(options.output)
    return comparison


def grid_of(
    options: Options, experiment: "Experiment", tasks: "Sequence[Sequence[Task]]", store: Store, baseline: str | None,
    show: "Callable[[Grid], None]",
) -> "Grid":  # fmt: skip
    """All cells, shown before their figures are drawn; says what should be known of the results of each."""
    if any(own[0].workload.is_logged for own in tasks):
        screen.note("grids have no row as-logged: compare in one cell shows what really happened")
    remarks: list[list[str]] = []

    def read_cell(own: "Sequence[Task]", store: Store) -> "list[Result]":
        found = outcome.read_results(own, store)
        remarks.append(list(remarks_on(own, found)))
        return found

    def tell(grid: "Grid") -> None:
        for said in by_cell(grid.cells, remarks):
            screen.note(said)
        show(grid)
        if options.output:
            screen.note("writing the report")

    grid = outcome.assemble_grid(
        experiment, tasks, store, options.output, baseline=baseline, force=options.force, command=command_line(),
        figures=screen.can_draw(), read=read_cell, tell=tell,
    )  # fmt: skip
    if options.output:
        tell_page(options.output)
    return grid


def check_grid(grid: "Grid", conditions: Sequence[str]) -> None:
    """Checks conditions in every cell.

    Raises:
        ThresholdError: one came true, or is on a figure that is unknown; it says in which cell.
    """
    broken = []
    for cell in grid.cells:
        try:
            check_rows(cell.rows, cell.rows[0], conditions)
        except ThresholdError as error:
            broken.append(f"{cell.label}: {error}")
    if broken:
        raise ThresholdError("; ".join(broken))
