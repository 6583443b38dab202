"""From the finished runs of an experiment to a comparison or a grid, in memory or in a directory."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pointsman.cli import screen
from pointsman.cli.options import Options
from pointsman.cli.replay import take
from pointsman.cli.results import command_line, tell_page
from pointsman.errors import ThresholdError
from pointsman.experiment import Experiment, located
from pointsman.report.grids.directory import CellRuns, write_grid
from pointsman.report.grids.grid import Grid, cell_of
from pointsman.report.metrics.comparison import Comparison, compare
from pointsman.report.metrics.threshold import fail_if
from pointsman.report.rundir import write_comparison
from pointsman.sweeps.cells import Task
from pointsman.sweeps.kept import Store, forget


def comparison_of(
    options: Options, experiment: Experiment, tasks: Sequence[Task], store: Store, baseline: str | None
) -> Comparison:
    """The runs of the only cell side by side, in the output directory if there is one."""
    results = take(tasks, store)
    if not options.output:
        return compare(results, baseline=baseline, window=experiment.spec.window)
    screen.note("writing the report")
    written = _written(options, experiment, baseline)
    comparison = write_comparison(options.output, results, kept=_places(tasks, store), **written)
    forget(options.output)
    tell_page(options.output)
    return comparison


def grid_of(
    options: Options, experiment: Experiment, tasks: Sequence[Sequence[Task]], store: Store, baseline: str | None
) -> Grid:
    """The grid of all cells, in the output directory if there is one; one cell's runs are held at a time."""
    cells = _cells(experiment, tasks, store)
    if not options.output:
        window = experiment.spec.window
        return Grid([cell_of(c.values, compare(c.results, baseline=baseline, window=window)) for c in cells])
    screen.note("writing the report")
    grid = write_grid(options.output, cells, **_written(options, experiment, baseline))
    forget(options.output)
    tell_page(options.output)
    return grid


def check_grid(grid: Grid, conditions: Sequence[str]) -> None:
    """Checks conditions in every cell.

    Raises:
        ThresholdError: one came true, or is on a figure that is unknown; it says in which cell.
    """
    broken = []
    for cell in grid.cells:
        try:
            fail_if(Comparison([], cell.rows), *conditions)
        except ThresholdError as error:
            broken.append(f"{cell.label}: {error}")
    if broken:
        raise ThresholdError("; ".join(broken))


def _cells(experiment: Experiment, tasks: Sequence[Sequence[Task]], store: Store) -> Iterator[CellRuns]:
    for cell, own in zip(experiment.spec.cells(), tasks, strict=True):
        changes = {name: (getattr(cell.spec, name),) for name in cell.values}
        alone = experiment.model_copy(update={"spec": experiment.spec.model_copy(update=changes)})
        yield CellRuns(cell.values, _config(alone), take(own, store), _places(own, store))


def _places(tasks: Sequence[Task], store: Store) -> list[Path]:
    return [place for task in tasks if (place := store.place(task.digest)) is not None]


def _config(experiment: Experiment) -> dict[str, Any]:
    return located(experiment, Path.cwd()).to_dict()


def _written(options: Options, experiment: Experiment, baseline: str | None) -> dict[str, Any]:
    """How a directory is written."""
    return {
        "baseline": baseline,
        "force": options.force,
        "command": command_line(),
        "config": _config(experiment),
        "window": experiment.spec.window,
        "figures": screen.can_draw(),
    }
