"""``pointsman simulate``: one policy, one seed."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pointsman.cli.options import OUTPUT, On, Options, with_options


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
    from pointsman.cli import screen
    from pointsman.cli.as_logged import tell_logged
    from pointsman.cli.experiment import resolve
    from pointsman.cli.replay import read_jobs, read_with_remarks, replay
    from pointsman.cli.results import command_line, printed_first, show_summary, tell_page
    from pointsman.errors import UsageError
    from pointsman.experiment import located
    from pointsman.parallel.pool import workers
    from pointsman.report import measure, refuse_taken, write_run
    from pointsman.sweeps.cells import tasks_of
    from pointsman.sweeps.kept import InMemory
    from pointsman.workload import scheduled, write_workload
    from pointsman.workload.writers.write import check_target

    experiment = resolve(options)
    spec, cells = experiment.spec.only_cell("simulate"), experiment.spec.cells()
    if len(spec.policies) * len(spec.seeds) > 1 or len(spec.workload_seeds) > 1:
        raise UsageError("simulate runs one policy with one seed; for several use 'pointsman compare'")
    if options.dry_run:
        typer.echo(experiment.to_yaml(), nl=False)
        return
    if options.output:
        refuse_taken(options.output, force=options.force)
    if schedule is not None:
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
        write_workload(scheduled(workload, result), schedule)
        screen.note(f"schedule: {schedule}")
    run = measure(result, spec.window)
    with printed_first() as printing:
        printing(show_summary, options.format)(run.summary)
        if options.output:
            screen.note("writing the report")
            write_run(
                options.output,
                run,
                force=options.force,
                command=command_line(),
                config=located(experiment, Path.cwd()).to_dict(),
                figures=screen.can_draw(),
            )
            tell_page(options.output)
        tell_logged(workload, result, spec.window)
