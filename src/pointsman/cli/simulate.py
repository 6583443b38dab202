"""``pointsman simulate``: one policy, one seed."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pointsman.cli.options import OUTPUT, On, Options, with_options

if TYPE_CHECKING:
    from pointsman.experiment import Experiment
    from pointsman.report import Run
    from pointsman.report.result import Result
    from pointsman.workload import Workload


@with_options("one run")
def simulate(
    options: Options,
    schedule: Annotated[
        Path | None,
        typer.Option(
            "--schedule",
            metavar="FILE",
            help="Output file of the job log with this run's start and end times: .csv, .parquet or .swf.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    on: On = "local",
) -> None:
    """Simulate a job log on a cluster under one policy."""
    from pointsman.inputs.binary_table import expect_table

    expect_table(None if options.dry_run else options.spec.get("trace"))
    from pointsman.cli.as_logged import tell_logged
    from pointsman.cli.experiment import resolve
    from pointsman.cli.replay import read_jobs, read_with_remarks, replay
    from pointsman.cli.results import printed_first, show_summary
    from pointsman.errors import UsageError
    from pointsman.parallel.pool import workers
    from pointsman.report import measure
    from pointsman.sweeps.cells import tasks_of
    from pointsman.sweeps.kept import InMemory

    experiment = resolve(options)
    spec, cells = experiment.spec.only_cell("simulate"), experiment.spec.cells()
    if len(spec.policies) * len(spec.seeds) > 1 or len(spec.workload_seeds) > 1:
        raise UsageError("simulate runs one policy with one seed; for several use 'pointsman compare'")
    if options.dry_run:
        typer.echo(experiment.to_yaml(), nl=False)
        return
    if options.output:
        from pointsman.report import refuse_taken

        refuse_taken(options.output, force=options.force)
    if schedule is not None:
        from pointsman.workload.writers.write import check_target

        check_target(schedule, force=options.force)
    if not options.output:
        cells = [replace(cells[0], spec=spec.shown_only())]
    store = InMemory()
    with workers(on) as one:
        ((workload,),) = read_jobs(cells)
        (tasks,) = tasks_of(cells, [[workload]])
        replay([tasks], one, store)
    (result,) = read_with_remarks(tasks, store)
    if schedule is not None:
        _write_schedule(workload, result, schedule)
    run = measure(result, spec.window)
    with printed_first() as printing:
        printing(show_summary, options.format)(run.summary)
        if options.output:
            _write_report(run, experiment, options.output, force=options.force)
        tell_logged(workload, result, spec.window)


def _write_schedule(workload: "Workload", result: "Result", schedule: Path) -> None:
    from pointsman.cli import screen
    from pointsman.workload import scheduled, write_workload

    write_workload(scheduled(workload, result), schedule)
    screen.note(f"schedule: {schedule}")


def _write_report(run: "Run", experiment: "Experiment", directory: Path, *, force: bool) -> None:
    from pointsman.cli import screen
    from pointsman.cli.results import command_line, tell_page
    from pointsman.experiment import located
    from pointsman.report import write_run

    screen.note("writing the report")
    config = located(experiment, Path.cwd()).to_dict()
    write_run(directory, run, force=force, command=command_line(), config=config, figures=screen.can_draw())
    tell_page(directory)
