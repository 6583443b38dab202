"""``pointsman capacity``: how many nodes a cluster needs to meet a target, under each of several policies."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pointsman.cli.options import WHAT, AtOnce, On, Options, with_options

if TYPE_CHECKING:
    from pointsman.capacity.result import Capacity
    from pointsman.capacity.saved import Savings
    from pointsman.cli.screen import Format

TARGET, INTERVALS = "pending_p90_s<=3600", "0,1h,4h"


@with_options("policies")
def capacity(
    options: Options,
    target: Annotated[
        str,
        typer.Option(
            metavar="CONDITION",
            help="Target to meet: a metric of summary.json, an operator and a value (seconds or a share).",
            rich_help_panel=WHAT,
        ),
    ] = TARGET,
    savings: Annotated[
        bool,
        typer.Option(
            "--savings",
            help="Instead of meeting a target, find how many GPUs each policy saves for the mean and the 99th "
            "percentile of the JCT that the first policy has on the whole cluster.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    price: Annotated[
        str,
        typer.Option(
            metavar="INTERVALS",
            help="With --savings: intervals between checkpoints, for policies that preempt (0: nothing is lost).",
            rich_help_panel=WHAT,
        ),
    ] = INTERVALS,
    at_once: AtOnce = None,
    on: On = "local",
) -> None:
    """Find the smallest cluster that meets a target, with node types in the proportions of the cluster file."""
    from pointsman.capacity.curve import parse_target
    from pointsman.capacity.finding import check_jobs, check_searchable, search
    from pointsman.capacity.savings import check_several, savings_of
    from pointsman.capacity.scaling import scaled
    from pointsman.capacity.trials import Trials
    from pointsman.cli import screen
    from pointsman.cli.compiled import prepare_code
    from pointsman.cli.experiment import resolve
    from pointsman.cli.replay import read_jobs, say_what_is_kept
    from pointsman.cli.results import printed_first
    from pointsman.cluster import load_cluster
    from pointsman.parallel.pool import workers
    from pointsman.report import refuse_taken
    from pointsman.sweeps.kept import forget, values_for
    from pointsman.sweeps.price import parse_intervals_s

    experiment, wanted, intervals_s = resolve(options), parse_target(target), parse_intervals_s(price)
    spec, cells = experiment.spec.only_cell("capacity"), experiment.spec.cells()
    check_searchable(spec)
    _check_together(savings=savings, target=target, price=price)
    if savings:
        check_several(spec)
    elif wanted.metric.startswith("wait_"):
        screen.note("wait_* ends at the first start; pending_* also counts waiting after preemptions")
    if options.dry_run:
        typer.echo(experiment.to_yaml(), nl=False)
        return
    if options.output:
        refuse_taken(options.output, force=options.force)
    scaled(load_cluster(spec.cluster), 1)  # refuses what cannot be scaled before the log is read
    with say_what_is_kept(options.output), workers(on, at_once) as some:
        ((workload,),) = read_jobs(cells)
        check_jobs(spec, workload)
        if not some.far:
            prepare_code((choice.name for choice in spec.policies), dict(spec))
        with screen.progress("capacity") as progress:
            given, tell = (spec, workload, some, values_for(options.output)), progress.update
            result = (
                savings_of(*given, tell, intervals_s)
                if savings
                else search(Trials(*given, [wanted.metric]), tell, wanted)
            )
    with printed_first() as printing:
        printing(_show, options.format)(result)
        if options.output:
            _write(options.output, result, force=options.force)
            forget(options.output)
            drawn = options.output / "capacity.svg"
            screen.note(f"curve: {drawn}" if drawn.exists() else f"table: {options.output / result.file}")


def _check_together(*, savings: bool, target: str, price: str) -> None:
    from pointsman.errors import UsageError

    if savings and target != TARGET:
        raise UsageError("--savings takes its targets from the first policy: leave out --target, or --savings")
    if not savings and price != INTERVALS:
        raise UsageError("--price requires --savings here; compare --price compares policies on one cluster")


def _show(found: "Capacity | Savings", format: "Format") -> None:
    from pointsman.cli import screen

    for told in found.notes():
        screen.note(told)
    if format.is_data:
        screen.show(found.records(), format)
        return
    table = found.table()
    left = [column for column in table.columns if table.is_left(column)]
    screen.show([dict(zip(table.columns, row, strict=True)) for row in table.rows], format, left=left)
    typer.echo(f"\n{found.answer}", err=format is not screen.Format.table)


def _write(directory: Path, found: "Capacity | Savings", *, force: bool) -> None:
    """``capacity.csv`` or ``savings.csv``, the manifest, and last ``capacity.svg``, or ``capacity.txt``, which says why
    it is missing.
    """
    import polars as pl

    from pointsman.cli import screen
    from pointsman.cli.results import command_line
    from pointsman.report.figures.drawing import save_drawing
    from pointsman.report.manifest import write_manifest
    from pointsman.report.staging import whole_directory

    with whole_directory(directory, force=force) as partial:
        pl.DataFrame(found.records(), infer_schema_length=None).write_csv(partial / found.file)
        write_manifest(partial, "capacity", [], command_line(), target=found.wanted)
        if screen.can_draw() and (drawing := found.drawing()) is not None:
            save_drawing(partial, drawing)
