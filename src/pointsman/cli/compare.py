"""``pointsman compare``: policies side by side, paired on common seeds."""

from typing import TYPE_CHECKING, Annotated

import typer

from pointsman.cli.options import OUTPUT, AtOnce, On, Options, with_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pointsman.engine.run.result import Result
    from pointsman.experiment import ExperimentSpec
    from pointsman.report.metrics.divergence import Divergence
    from pointsman.report.metrics.groups import Group
    from pointsman.workload import Workload


@with_options(several=True)
def compare(
    options: Options,
    fail_if: Annotated[
        list[str],
        typer.Option(
            metavar="CONDITION",
            default_factory=list,
            show_default=False,
            help="Exit with code 4 if this condition is true: 'jct_mean_s>+5%'. Repeat it.",
            rich_help_panel=OUTPUT,
        ),
    ],
    baseline: Annotated[
        str | None,
        typer.Option(help="Policy that the others are compared with. Default: the first.", rich_help_panel=OUTPUT),
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
    """Replay a job log under several policies, and put them side by side."""
    from pathlib import Path

    from pointsman.cli import screen
    from pointsman.cli.experiment import resolve
    from pointsman.cli.replay import read_jobs, replay
    from pointsman.cli.results import command_line, show_comparison, tell_page
    from pointsman.errors import UsageError
    from pointsman.experiment import located
    from pointsman.parallel.pool import workers
    from pointsman.report import compare as put_side_by_side
    from pointsman.report import fail_if as check
    from pointsman.report import parse_threshold, refuse_taken, write_comparison

    experiment = resolve(options)
    spec = experiment.spec
    _check_baseline(spec, baseline, imports=not options.dry_run)
    for condition in fail_if:
        if parse_threshold(condition).kind != "value" and len({choice.name for choice in spec.policies}) < 2:
            raise UsageError(f"--fail-if {condition!r} is a change to the baseline; it needs a second policy")
    if options.dry_run:
        typer.echo(experiment.to_yaml(), nl=False)
        return
    if options.output:
        refuse_taken(options.output, force=options.force)
    with workers(on, at_once) as some:
        workload = read_jobs(spec)
        results = replay(spec if options.output or first_divergence else spec.shown_only(), workload, some)
    if options.output:
        screen.note("writing the report")
        comparison = write_comparison(
            options.output,
            results,
            baseline=baseline,
            force=options.force,
            command=command_line(),
            config=located(experiment, Path.cwd()).to_dict(),
            window=spec.window,
            figures=screen.can_draw(),
        )
        tell_page(options.output)
    else:
        comparison = put_side_by_side(results, baseline=baseline, window=spec.window)
    show_comparison(comparison, options.format)
    if first_divergence:
        for said in _divergences(spec, workload, comparison.groups):
            typer.echo(f"\n{said}", err=options.format is not screen.Format.table)
    check(comparison, *fail_if)


def _check_baseline(spec: "ExperimentSpec", baseline: str | None, *, imports: bool) -> None:
    """Before a long run: the baseline is among the policies (or one of them with its parameters, as tables name it)."""
    from pointsman.errors import UsageError
    from pointsman.policies.registry import get_policy
    from pointsman.report.units import class_name

    names = [choice.name for choice in spec.policies]
    shown = [get_policy(name, imports=imports).title for name in names]
    known = {*names, *shown, *map(class_name, names)}
    if baseline is not None and not any(baseline == n or baseline.startswith(f"{n} (") for n in known):
        raise UsageError(f"--baseline {baseline!r} is not among the policies compared ({', '.join(shown)})")


def _divergences(spec: "ExperimentSpec", workload: "Workload", groups: "list[Group]") -> "Iterator[str]":
    """Where each policy parts from the baseline, on the lowest seed that both have."""
    from pointsman.cli.compiled import prepare_code
    from pointsman.report import first_divergence

    first = groups[0].first
    prepare_code([], questions=True)
    for other in groups[1:]:
        mine = next((run for run in other.runs if run.seed == first.seed), None)
        if mine is None:
            continue
        parting = first_divergence(first.result, mine.result)
        names = groups[0].label, other.label
        if parting is None:
            yield f"{names[0]} and {names[1]}: no decision differs"
            continue
        instead = ""
        if parting.silent is not None:
            instead = _instead(spec, workload, (first, mine)[parting.silent].result, parting)
        yield f"{names[0]} and {names[1]}: {parting.describe(*names, instead)}"


def _instead(spec: "ExperimentSpec", workload: "Workload", result: "Result", parting: "Divergence") -> str:
    """What the policy that decides nothing at the parting says of the job that the other decides on."""
    from pointsman.cli.replay import replayable
    from pointsman.explain.pending import explain

    said = explain(*replayable(spec, workload, result.info), parting.earlier.row, parting.time_s)
    return f"{said.job_id} is {said.state}{f' ({said.reason})' if said.reason else ''}, {said.said}"
