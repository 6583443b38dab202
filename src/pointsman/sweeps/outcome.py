"""From the finished runs of a grid to the grid, in memory or in a directory."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pointsman.experiment import Experiment, located
from pointsman.report.result import Result
from pointsman.sweeps.cells import Task
from pointsman.sweeps.kept import Store, forget

if TYPE_CHECKING:
    from pointsman.report.grids.directory import CellRuns
    from pointsman.report.grids.grid import Grid

ReadResults = Callable[[Sequence[Task], Store], Sequence[Result]]


def read_results(tasks: Sequence[Task], store: Store) -> list[Result]:
    """Reads the results of runs, in order."""
    return [store.take(task.digest) for task in tasks]


def places(tasks: Sequence[Task], store: Store) -> list[Path]:
    """The directories of results that are on disk."""
    return [place for task in tasks if (place := store.place(task.digest)) is not None]


def config_of(experiment: Experiment) -> dict:
    """``config.resolved.yaml``, with paths that hold from anywhere."""
    return located(experiment, Path.cwd()).to_dict()


def assemble_grid(
    experiment: Experiment,
    tasks: Sequence[Sequence[Task]],
    store: Store,
    directory: Path | None,
    *,
    baseline: str | None = None,
    force: bool = False,
    command: str | None = None,
    figures: bool = True,
    read: ReadResults = read_results,
    tell: "Callable[[Grid], None] | None" = None,
) -> "Grid":
    """The grid of all cells, in the directory if there is one; the runs of one cell are held at a time.

    Args:
        experiment: what was run.
        tasks: the runs of each cell, all in `store`.
        store: where they are.
        directory: what is written.
        baseline: policy that the others are compared with.
        force: replace the directory.
        command: what made it.
        figures: also draw the page.
        read: how results are read from the store.
        tell: called with the grid before its figures are drawn.
    """
    from pointsman.report.comparison import compare
    from pointsman.report.grids.cell import cell_of
    from pointsman.report.grids.directory import write_grid
    from pointsman.report.grids.grid import Grid

    runs, window = _runs(experiment, tasks, store, read), experiment.spec.window
    if directory is None:
        grid = Grid([cell_of(cell.values, compare(cell.results, baseline=baseline, window=window)) for cell in runs])
        if tell is not None:
            tell(grid)
        return grid
    grid = write_grid(
        directory, runs, baseline=baseline, force=force, command=command, config=config_of(experiment), window=window,
        figures=figures, tell=tell,
    )  # fmt: skip
    forget(directory)
    return grid


def _runs(
    experiment: Experiment, tasks: Sequence[Sequence[Task]], store: Store, read: ReadResults
) -> "Iterator[CellRuns]":
    from pointsman.report.grids.directory import CellRuns

    for cell, own in zip(experiment.spec.cells(), tasks, strict=True):
        yield CellRuns(cell.values, config_of(experiment.alone(cell)), read(own, store), places(own, store))
