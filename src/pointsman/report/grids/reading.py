"""A grid, read from its directory and made again."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pointsman.errors import InputError
from pointsman.report.comparison import compare
from pointsman.report.grids.cell import GridCell, cell_of, with_loser
from pointsman.report.grids.grid import Grid
from pointsman.report.manifest import read_manifest
from pointsman.report.run_reading import CONFIG, read_runs, read_window

TABLE = "grid.json"


class _Table(BaseModel):
    cells: list[dict[str, Any]]


def read_grid(directory: str | Path, *, baseline: str | None = None, window: tuple[float, float] | None = None) -> Grid:
    """Compares the runs of each cell again; one cell's runs are held at a time.

    Args:
        directory: what `write_grid` wrote.
        baseline: label of the policy to compare with; by default that of the grid.
        window: jobs to count, as in `summarise`; by default those that the grid counts.

    Raises:
        InputError: it is no grid, its runs are not there, or part of it is missing or damaged.
        UsageError: an unknown baseline, or an empty window.
    """
    place = Path(directory)
    manifest = read_manifest(place, "grid")
    names: list[str] = manifest["cells"]
    if not names:
        fix = "give the directory that 'pointsman compare' wrote"
        raise InputError("the runs of this grid are not in its directory", path=place, fix=fix)
    counted = window or _window(place / CONFIG)
    cells = zip(names, _values(place / TABLE, manifest["varied"], len(names)), strict=True)

    def cell(name: str, values: dict[str, Any]) -> GridCell:
        comparison = compare(read_runs(place / "cells" / name), baseline=baseline, window=counted)
        return with_loser(cell_of(values, comparison), comparison)

    return Grid([cell(name, values) for name, values in cells])


def _values(path: Path, varied: list[str], cells: int) -> list[dict[str, Any]]:
    """The options that vary, and their values in each cell."""
    if path.exists() and not path.is_file():
        raise _damage_error(path, "this is no regular file")
    try:
        table = _Table.model_validate(json.loads(path.read_text(encoding="utf-8")))
        found = [{name: cell[name] for name in varied} for cell in table.cells]
    except OSError as error:
        raise _damage_error(path, f"part of the grid cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError, KeyError, ValidationError):
        raise _damage_error(path, "this is not the table of a grid") from None
    if len(found) != cells or any(isinstance(value, dict | list) for cell in found for value in cell.values()):
        raise _damage_error(path, f"this is not the table of {cells} cells")
    return found


def _window(path: Path) -> tuple[float, float] | None:
    """The jobs that the grid counts."""
    if not path.is_file():
        raise InputError("the settings of this grid are missing", path=path, fix="give --window, or run again")
    return read_window(path.parent)


def _damage_error(path: Path, cause: str) -> InputError:
    return InputError(cause, path=path, fix="the directory is damaged; run again")
