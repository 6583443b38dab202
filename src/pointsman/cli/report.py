"""``pointsman report``: runs made before, side by side, in one page."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pointsman.cli import screen
from pointsman.inputs.messages import counted
from pointsman.types import AS_LOGGED

if TYPE_CHECKING:
    from collections.abc import Callable

    from pointsman.report.grids.grid import Grid
    from pointsman.report.result import Result
    from pointsman.report.tables.tables import Table


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Directories of runs or comparisons, and of capacity --savings, or of one grid."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Output directory of the page and the tables.")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="Baseline policy. Default: the first.")] = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="FROM:TO",
            help="Count only jobs submitted between these times, since the first submission. Example: --window 1d:8d. "
            "Default: as they do, if all have the same; else all jobs.",
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="DIR", help="Output directory of figures for a paper.")
    ] = None,
    width: Annotated[
        str, typer.Option("--width", metavar="WIDTH", help="Width of these figures, such as 84mm or 3.3in.")
    ] = "3.3in",
    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline",
            metavar="FILE",
            help="Output file (.json or .json.gz) of the timeline of one run, for Perfetto or chrome://tracing.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace DIR or FILE if it exists.")] = False,
    format: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="Output format: table, json, csv, markdown or latex. With --figures: file formats, as in pdf,svg,png.",
        ),
    ] = "table",
) -> None:
    """Print one table of earlier runs; with -o also write a page."""
    from pointsman.cli.results import command_line, printed_first, show_comparison, show_grid, tell_page
    from pointsman.errors import UsageError
    from pointsman.inputs.option_types import parse_window_s
    from pointsman.inputs.output_path import check_output
    from pointsman.report import compare, read_repeated, read_runs, refuse_taken, write_comparison
    from pointsman.report.figures.files import parse_width_in, save_figures, save_paintings
    from pointsman.report.grids.figures import paintings
    from pointsman.report.manifest import read_manifest
    from pointsman.report.run_reading import read_window
    from pointsman.report.staging import MARK
    from pointsman.report.timeline.spells import check_events

    try:
        counted = parse_window_s(window) if window else None
    except ValueError as error:
        raise UsageError(f"--window: {error}") from None
    if output is not None:
        refuse_taken(output, force=force)
        within = [place for place in runs if output.resolve() in (place.resolve(), *place.resolve().parents)]
        if within:
            raise UsageError(f"-o {output} contains {within[0]}, one of the reported runs: choose another directory")
    if figures is not None:
        check_output(figures / "figures")
        if any((place / MARK).exists() for place in (figures, *figures.absolute().parents)):
            raise UsageError(
                f"--figures {figures}: that is a results directory; choose a separate directory for figures"
            )
    shown, formats = _formats(format, has_figures=figures is not None)
    width_in = parse_width_in(width)
    if timeline is not None:
        _check_timeline(timeline, runs, force=force)
    runs, savings = _without_savings(runs)
    if "grid" in {read_manifest(place, "run", "comparison", "grid")["kind"] for place in runs}:
        if len(runs) > 1:
            raise UsageError("report a grid alone, or give runs and comparisons: DIR/cells/NAME")
        with printed_first() as printing:
            grid = _report_grid(runs[0], output, baseline, counted, printing(show_grid, shown), force=force)
            if figures is not None:
                _tell_figures(figures, save_paintings(_make_directory(figures), paintings(grid), formats, width_in))
        return
    if window is None:
        kept = {read_window(place) for place in runs}
        counted = kept.pop() if len(kept) == 1 else None
    results = [result for place in runs for result in read_runs(place)]
    repeated = read_repeated(runs[0]) if len(runs) == 1 else None
    if timeline is not None:
        check_events(results[0])
    with printed_first() as printing:
        show = printing(show_comparison, shown)
        if savings is not None and output is None:
            raise UsageError("savings are shown on a page: add -o DIR")
        if output is None:
            comparison = compare(results, baseline=baseline, window=counted, repeated=repeated)
            show(comparison)
        else:
            comparison = write_comparison(
                output, results, baseline=baseline, force=force, command=command_line(), window=counted, runs=False,
                repeated=repeated, savings=savings, figures=screen.can_draw(), tell=show,
            )  # fmt: skip
            tell_page(output)
        if figures is not None:
            _tell_figures(figures, save_figures(_make_directory(figures), comparison.groups, formats, width_in))
        if timeline is not None:
            _write_timeline(timeline, results[0], force=force)


def _without_savings(places: list[Path]) -> "tuple[list[Path], Table | None]":
    """The directories of runs, and what the one among the others says that `capacity --savings` wrote."""
    from pointsman.capacity.saved import read_savings
    from pointsman.errors import UsageError
    from pointsman.report.manifest import read_manifest

    kinds = {place: read_manifest(place, "run", "comparison", "grid", "capacity")["kind"] for place in places}
    searches = [place for place, kind in kinds.items() if kind == "capacity"]
    if not searches:
        return places, None
    if len(searches) > 1 or len(searches) == len(places):
        raise UsageError("report runs, and at most one directory of capacity --savings beside them")
    found = read_savings(searches[0])
    return [place for place in places if place not in searches], replace(found.table(), note=found.answer)


def _check_timeline(timeline: Path, runs: list[Path], *, force: bool) -> None:
    """UsageError unless one run is given, and a timeline can be written."""
    from pointsman.errors import UsageError
    from pointsman.report.timeline.file import check_timeline

    check_timeline(timeline, force=force)
    if len(runs) > 1:
        raise UsageError(f"--timeline draws one run: give one of these {len(runs)}, such as {runs[0]}")
    first = _first_run(runs[0])
    if first is None:
        raise UsageError(f"--timeline: {runs[0]} is a comparison without its runs; name the directory of a run")
    if first != runs[0]:
        raise UsageError(f"--timeline draws one run: name one in {runs[0]}, such as {first}")


def _first_run(place: Path) -> Path | None:
    """The directory of a run, or of the first of a comparison or grid, if it is kept."""
    from pointsman.report.manifest import read_manifest

    manifest = read_manifest(place, "run", "comparison", "grid")
    if manifest["kind"] == "run":
        return place
    folder = "cells" if manifest["kind"] == "grid" else "runs"
    runs = (_first_run(place / folder / name) for name in manifest[folder] if not name.startswith(AS_LOGGED))
    return next(runs, None)


def _write_timeline(timeline: Path, result: "Result", *, force: bool) -> None:
    from pointsman.report.timeline.file import write_timeline

    write_timeline(timeline, result, force=force)
    screen.note(f"timeline: {timeline} (open it with https://ui.perfetto.dev or chrome://tracing)")


def _make_directory(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _tell_figures(directory: Path, files: "list[Path]") -> None:
    screen.note(f"figures: {counted(len(files), 'file')} in {directory}")


def _formats(text: str, *, has_figures: bool) -> tuple[screen.Format, list[str]]:
    """How the table is shown, and the formats of figures.

    Raises:
        UsageError: it is neither.
    """
    from pointsman.errors import UsageError
    from pointsman.report.figures.files import FORMATS, parse_formats

    if text in [known.value for known in screen.Format]:
        return screen.Format(text), list(FORMATS)
    if has_figures:
        return screen.Format.table, parse_formats(text)
    known = ", ".join(known.value for known in screen.Format)
    raise UsageError(f"--format {text!r:.60}: it is one of {known}, or with --figures of {', '.join(FORMATS)}")


def _report_grid(
    place: Path,
    output: Path | None,
    baseline: str | None,
    window: tuple[float, float] | None,
    show: "Callable[[Grid], None]",
    *,
    force: bool,
) -> "Grid":
    from pointsman.cli.results import command_line, tell_page
    from pointsman.report.grids.directory import write_grid_report
    from pointsman.report.grids.reading import read_grid

    grid = read_grid(place, baseline=baseline, window=window)
    show(grid)
    if output is not None:
        write_grid_report(output, grid, force=force, command=command_line(), figures=screen.can_draw())
        tell_page(output)
    return grid
