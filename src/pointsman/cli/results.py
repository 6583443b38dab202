"""Results on the screen: the table of policies, and where the page is."""

import json
import shlex
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pointsman.cli import screen

if TYPE_CHECKING:
    from pointsman.report import Comparison
    from pointsman.report.grids.grid import Grid
    from pointsman.report.metrics.calibration.fits import Calibration
    from pointsman.report.tables.tables import Table


Show = Callable[..., None]
"""Prints something in a format."""


@contextmanager
def printed_first() -> Generator[Callable[[Show, screen.Format], Show]]:
    """Prints results before files are written and figures drawn.

    Yields what makes of a `Show` and its format one that prints now; where stdout cannot be written to, that is raised
    when the block ends, for its reader may stop reading and the files are wanted all the same.
    """
    lost: list[OSError] = []

    def printing(show: Show, format: screen.Format) -> Show:
        def print_now(result: Any) -> None:
            try:
                show(result, format)
                sys.stdout.flush()
            except OSError as error:
                lost.append(error)

        return print_now

    yield printing
    if lost:
        raise lost[0]


def show_comparison(comparison: "Comparison", format: screen.Format) -> None:
    """Print policies side by side on stdout."""
    from pointsman.report.tables.equal_columns import laid_out
    from pointsman.report.tables.price import price_table

    if format is screen.Format.json:
        typer.echo(comparison.to_json(), nl=False)
    elif format is screen.Format.csv:
        typer.echo(comparison.to_csv(), nl=False)
    else:
        show_table(laid_out(comparison), format)
        if comparison.price is not None:
            typer.echo()
            show_table(price_table(comparison.price), format)
        if comparison.calibration is not None:
            _show_calibration(comparison.calibration, format)


def _show_calibration(calibration: "Calibration", format: screen.Format) -> None:
    from pointsman.report.tables.calibration import calibration_tables

    for table in calibration_tables(calibration):
        typer.echo()
        show_table(table, format)
    if calibration.explanations:
        typer.echo("\nWhat may explain the differences:")
    for explanation in calibration.explanations:
        typer.echo(f"- {explanation}")


def show_grid(grid: "Grid", format: screen.Format) -> None:
    """Print the policies in every cell on stdout."""
    from pointsman.report.grids.table import grid_table

    if format is screen.Format.json:
        typer.echo(grid.to_json(), nl=False)
    elif format is screen.Format.csv:
        typer.echo(grid.to_csv(), nl=False)
    else:
        show_table(grid_table(grid.cells), format)


def show_summary(summary: dict[str, Any], format: screen.Format) -> None:
    """Print one run on stdout: what ``summary.json`` holds, or a table of its main figures."""
    from pointsman.report import summary_table

    if format is screen.Format.json:
        screen.show_json(summary)
    elif format is screen.Format.csv:
        screen.show([{k: v if _is_plain(v) else json.dumps(v) for k, v in summary.items()}], format)
    else:
        show_table(summary_table(summary), format)


def tell_page(directory: Path) -> None:
    """Say where the report is."""
    page = directory / "report.html"
    screen.note(f"report: {page}" if page.exists() else f"run: {directory} (no page: matplotlib is not installed)")


def command_line() -> str:
    """The command that is running, as it can be typed again."""
    return shlex.join(["pointsman", *sys.argv[1:]])


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def show_table(table: "Table", format: screen.Format) -> None:
    """Print a table on stdout, with its title and note."""
    if format in (screen.Format.markdown, screen.Format.latex):
        typer.echo(table.to_markdown() if format is screen.Format.markdown else table.to_latex(), nl=False)
        return
    if table.title:
        typer.echo(f"{table.title}\n")
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    screen.show(rows, format, left=[column for column in table.columns if table.is_left(column)])
    if table.note:
        typer.echo(f"\n{table.note}")
