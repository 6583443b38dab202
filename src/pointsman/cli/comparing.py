"""From the finished runs of an experiment to a comparison or a grid, in the output directory if there is one."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pointsman.cli import screen
from pointsman.cli.as_logged import logged_runs
from pointsman.cli.options import Options
from pointsman.cli.replay import remarks_on, take
from pointsman.cli.results import command_line, tell_page
from pointsman.errors import ThresholdError
from pointsman.report.grids.table import by_cell
from pointsman.report.metrics.comparison import Comparison, compare
from pointsman.report.metrics.threshold import check_rows
from pointsman.report.rundir import write_comparison
from pointsman.sweeps import outcome
from pointsman.sweeps.kept import Store, forget
from pointsman.types import AS_LOGGED

if TYPE_CHECKING:
    from pointsman.engine.run.result import Result
    from pointsman.experiment import Experiment
    from pointsman.report.grids.grid import Grid
    from pointsman.sweeps.cells import Task


def comparison_of(
    options: Options, experiment: "Experiment", tasks: "Sequence[Task]", store: Store, baseline: str | None,
    show: "Callable[[Comparison], None]",
) -> Comparison:  # fmt: skip
    """The runs of the only cell side by side, shown before the report is written."""
    results, window = take(tasks, store), experiment.spec.window
    logged = logged_runs(tasks[0].workload, results)
    results = [*logged, *results]
    if baseline == AS_LOGGED and not logged:
        baseline = None
        screen.note("the baseline is the first policy instead")
    if not options.output:
        comparison = compare(results, baseline=baseline, window=window)
        show(comparison)
        return comparison

    def tell(comparison: Comparison) -> None:
        show(comparison)
        screen.note("writing the report")

    comparison = write_comparison(
        options.output, results, baseline=baseline, force=options.force, command=command_line(),
        config=outcome.config_of(experiment), window=window, figures=screen.can_draw(),
        kept=[*[None] * len(logged), *outcome.places(tasks, store)], tell=tell,
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

    def taken(own: "Sequence[Task]", store: Store) -> "list[Result]":
        found = outcome.take(own, store)
        remarks.append(list(remarks_on(own, found)))
        return found

    def tell(grid: "Grid") -> None:
        for said in by_cell(grid, remarks):
            screen.note(said)
        show(grid)
        if options.output:
            screen.note("writing the report")

    grid = outcome.grid_of(
        experiment, tasks, store, options.output, baseline=baseline, force=options.force, command=command_line(),
        figures=screen.can_draw(), take=taken, tell=tell,
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
