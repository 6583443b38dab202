"""``pointsman simulate``: one policy, one seed."""

import typer

from pointsman.cli.options import On, Options, with_options


@with_options(several=False)
def simulate(options: Options, on: On = "local") -> None:
    """Replay a job log on a cluster under one policy."""
    from pathlib import Path

    from pointsman.cli import screen
    from pointsman.cli.experiment import resolve
    from pointsman.cli.replay import read_jobs, replay
    from pointsman.cli.results import command_line, show_summary, tell_page
    from pointsman.errors import UsageError
    from pointsman.experiment import located
    from pointsman.parallel.pool import workers
    from pointsman.report import measure, refuse_taken, write_run

    experiment = resolve(options)
    if len(experiment.spec.policies) * len(experiment.spec.seeds) > 1:
        raise UsageError("simulate makes one run; give one --policy and one --seed, or use 'pointsman compare'")
    if options.dry_run:
        typer.echo(experiment.to_yaml(), nl=False)
        return
    if options.output:
        refuse_taken(options.output, force=options.force)
    spec = experiment.spec if options.output else experiment.spec.shown_only()
    with workers(on) as one:
        (result,) = replay(spec, read_jobs(spec), one)
    run = measure(result, spec.window)
    if options.output:  # before anything is printed: its reader may stop reading
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
    show_summary(run.summary, options.format)
