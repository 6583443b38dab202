"""The directory of a grid: a comparison for each cell, and one table and page of all."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pointsman.engine.run.result import RunData
from pointsman.report.grids.cell import GridCell, cell_of, with_loser
from pointsman.report.grids.grid import Grid
from pointsman.report.grids.page import make_grid_page
from pointsman.report.manifest import write_manifest
from pointsman.report.rundir import write_comparison, write_config, write_page
from pointsman.report.staging import whole_directory

LONGEST = 80
"""Characters of the name of a cell's directory."""


@dataclass(frozen=True)
class CellRuns:
    """The runs of one cell."""

    values: Mapping[str, Any]
    config: Mapping[str, Any]
    """Settings of this cell, for its ``config.resolved.yaml``."""
    results: Sequence[RunData]
    kept: Sequence[Path]
    """Directories of the results."""


def write_grid(
    directory: str | Path,
    cells: Iterable[CellRuns],
    *,
    baseline: str | None = None,
    force: bool = False,
    command: str | None = None,
    config: Mapping[str, Any] | None = None,
    window: tuple[float, float] | None = None,
    figures: bool = True,
    tell: Callable[[Grid], None] | None = None,
) -> Grid:
    """Writes ``cells/``, ``grid.csv``, ``grid.json`` and with `figures` the page; one cell's runs are held at a time.

    Arguments and errors as of `write_comparison`; `tell` is called with the grid before its figures are drawn.
    """
    with whole_directory(Path(directory), force=force) as partial:
        names: list[str] = []
        grid = Grid(list(_write_cells(partial / "cells", cells, names, baseline, command, window)))
        if tell is not None:
            tell(grid)
        if config is not None:
            write_config(partial, config)
        _write_tables(partial, grid, names, command, figures=figures)
    return grid


def write_grid_report(
    directory: str | Path, grid: Grid, *, force: bool = False, command: str | None = None, figures: bool = True
) -> None:
    """Writes the same without ``cells/`` and the settings."""
    with whole_directory(Path(directory), force=force) as partial:
        _write_tables(partial, grid, [], command, figures=figures)


def _write_tables(partial: Path, grid: Grid, names: Sequence[str], command: str | None, *, figures: bool) -> None:
    write_manifest(partial, "grid", [], command, varied=list(grid.varied), cells=list(names))
    (partial / "grid.json").write_text(grid.to_json(), encoding="utf-8")
    (partial / "grid.csv").write_text(grid.to_csv(), encoding="utf-8")
    if figures:
        write_page(partial, make_grid_page(grid, command=command))


def _write_cells(
    place: Path,
    cells: Iterable[CellRuns],
    names: list[str],
    baseline: str | None,
    command: str | None,
    window: tuple[float, float] | None,
) -> Iterator[GridCell]:
    for number, cell in enumerate(cells, 1):
        names.append(_name(number, cell.values))
        comparison = write_comparison(
            place / names[-1],
            cell.results,
            baseline=baseline,
            command=command,
            config=cell.config,
            window=window,
            figures=False,
            kept=list(zip(cell.results, cell.kept, strict=False)),
        )
        yield with_loser(cell_of(cell.values, comparison), comparison)


def _name(number: int, values: Mapping[str, Any]) -> str:
    """``02-cluster=4x4,load=0.9``."""
    told = ",".join(f"{name}={'' if value is None else value}" for name, value in values.items())
    return re.sub(r"[^A-Za-z0-9._+,=-]+", "-", f"{number:02d}-{told}").strip("-")[:LONGEST]
