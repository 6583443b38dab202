"""``pointsman compare``: policies side by side, paired on common seeds."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli import screen
from pointsman.cli.options import OUTPUT, AtOnce, On, Options, with_options
from pointsman.types import AS_LOGGED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pointsman.experiment import CellSpec, ExperimentSpec
    from pointsman.report.metrics.divergence import Divergence
    from pointsman.report.metrics.groups import Group
    from pointsman.workload import Workload


@with_options("a grid")
def compare(
    options: Options,
    fail_if: Annotated[
        list[str],
        typer.Option(
            metavar="CONDITION",
            default_factory=list,
            show_default=False,
            help="Exit with code 4 if this condition is true: 'jct_mean_s>+5%'. Repeatable.",
            rich_help_panel=OUTPUT,
        ),
    ],
    baseline: Annotated[
        str | None,
        typer.Option(help="Baseline policy. Default: the first.", rich_help_panel=OUTPUT),
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(
            metavar="INTERVALS",
            help="Also simulate the policies that preempt with --overheads periodic, at these intervals between "
            "checkpoints (0: nothing is lost). Example: --price 0,30m,2h. Default with -o: 0,1h,4h, on the first seed.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    first_divergence: Annotated[
        bool,
        typer.Option(
            "--first-divergence",
            help="Print the first decision in which each policy differs from the baseline.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    at_once: AtOnce = None,
    on: On = "local",
) -> None:
    """Simulate a job log under several policies and compare them."""
    from pointsman.inputs.binary_table import expect_table

    expect_table(None if options.dry_run else options.spec.get("trace"))
    from pointsman.cli.as_logged import check_logged
    from pointsman.cli.comparing import check_grid, comparison_of, grid_of, runs_of_cell, with_price
    from pointsman.cli.experiment import resolve
    from pointsman.cli.replay import read_jobs, replay, say_what_is_kept
    from pointsman.cli.results import printed_first, show_comparison, show_grid
    from pointsman.errors import UsageError
    from pointsman.parallel.pool import workers
    from pointsman.report import fail_if as check
    from pointsman.report import refuse_taken
    from pointsman.report.metrics.groups import simulated
    from pointsman.sweeps.cells import tasks_of
    from pointsman.sweeps.choices import check_baseline
    from pointsman.sweeps.kept import results_for
    from pointsman.sweeps.price import parse_intervals_s

    experiment = resolve(options)
    spec = experiment.spec
    if baseline != AS_LOGGED:
        check_baseline(spec.policies, baseline, imports=not options.dry_run)
    _check_conditions(spec, fail_if, baseline, first_divergence=first_divergence)
    intervals_s = None if price is None else parse_intervals_s(price)
    if price is not None:
        spec.only_cell("--price")
    if options.dry_run:
        typer.echo(experiment.to_yaml(), nl=False)
        return
    if options.output:
        refuse_taken(options.output, force=options.force)
    cells, store = spec.cells(), results_for(options.output)
    if not (options.output or first_divergence):
        cells = [replace(cell, spec=cell.spec.shown_only()) for cell in cells]
    with say_what_is_kept(options.output):
        with workers(on, at_once) as some:
            workloads = read_jobs(cells)
            check_logged(workloads[0][0], baseline)
            tasks = tasks_of(cells, workloads)
            replay(tasks, some, store)
            runs = None if spec.varied() else runs_of_cell(tasks[0], store)
            if runs is not None and (options.output or intervals_s):
                runs = with_price(runs, intervals_s, baseline, some)
        given = options, experiment
        with printed_first() as printing:
            if runs is None:
                grid = grid_of(*given, tasks, store, baseline, printing(show_grid, options.format))
            else:
                comparison = comparison_of(*given, runs, baseline, printing(show_comparison, options.format))
    if spec.varied():
        check_grid(grid, fail_if)
        return
    if first_divergence:
        _tell_divergences(cells[0].spec, tasks[0][0].workload, simulated(comparison.groups), options.format)
    if fail_if and baseline == AS_LOGGED and not comparison.groups[0].is_logged:
        raise UsageError(f"--fail-if was not checked: there is no row {AS_LOGGED}, the baseline that was asked for")
    check(comparison, *fail_if)


def _tell_divergences(spec: "CellSpec", workload: "Workload", groups: "list[Group]", format: screen.Format) -> None:
    for said in _divergences(spec, workload, groups):
        typer.echo(f"\n{said}", err=format is not screen.Format.table)


def _check_conditions(
    spec: "ExperimentSpec", conditions: list[str], baseline: str | None, *, first_divergence: bool
) -> None:
    """Before a long run: conditions can be read, and there is something to compare with."""
    from pointsman.errors import UsageError
    from pointsman.report import parse_threshold

    others = baseline == AS_LOGGED or len({choice.name for choice in spec.policies}) > 1
    for condition in conditions:
        if parse_threshold(condition).kind != "value" and not others:
            raise UsageError(f"--fail-if {condition!r} compares with the baseline and needs a second policy")
    if first_divergence:
        spec.only_cell("--first-divergence")
    if baseline == AS_LOGGED:
        spec.only_cell(f"--baseline {AS_LOGGED}")


def _divergences(spec: "CellSpec", workload: "Workload", groups: "list[Group]") -> "Iterator[str]":
    """Where each policy parts from the baseline, on the lowest seeds that both have."""
    from pointsman.cli.compiled import prepare_code
    from pointsman.report import first_divergence

    first = groups[0].first
    prepare_code([], questions=True)
    for other in groups[1:]:
        mine = next((run for run in other.runs if run.draw == first.draw), None)
        if mine is None:
            continue
        parting = first_divergence(first.result, mine.result)
        names = groups[0].label, other.label
        if parting is None:
            yield f"{names[0]} and {names[1]}: no decision differs"
            continue
        instead = ""
        if parting.silent is not None:
            instead = _instead(spec, workload, (first, mine)[parting.silent].result.info, parting)
        yield f"{names[0]} and {names[1]}: {parting.describe(*names, instead)}"


def _instead(spec: "CellSpec", workload: "Workload", info: "Mapping[str, Any]", parting: "Divergence") -> str:
    """What the policy that decides nothing at the parting says of the job that the other decides on."""
    from pointsman.cli.replay import replayable
    from pointsman.explain.pending import explain

    said = explain(*replayable(spec, workload, info), parting.earlier.row, parting.time_s)
    return f"{said.job_id} is {said.state}{f' ({said.reason})' if said.reason else ''}, {said.said}"
