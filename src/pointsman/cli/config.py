"""``pointsman config``: what an experiment comes to, where each part is from, and the schema of its file."""

from typing import Annotated

import typer

from pointsman.cli import screen
from pointsman.cli.options import Options, WithOptions, with_options

app = typer.Typer(no_args_is_help=True, help="Experiment files: resolve them and print their schema.")


@app.command(cls=WithOptions)
@with_options("a grid")
def show(
    options: Options,
    origin: Annotated[bool, typer.Option("--origin", help="Print the origin of each field.")] = False,
) -> None:
    """Print the experiment that these options of simulate or compare define.

    It takes their whole command lines; -o, --force and --dry-run have no effect.
    """
    from dataclasses import replace

    from pointsman.cli.experiment import origins, resolve

    experiment = resolve(replace(options, dry_run=True))
    if origin:
        spec, sources = experiment.to_dict()["spec"], origins(options)
        rows = [{"field": name, "value": spec[name], "origin": source} for name, source in sources.items()]
        screen.show(rows, options.format, left=("field", "value", "origin"))
    elif options.format is screen.Format.json:
        screen.show_json(experiment.to_dict())
    else:
        typer.echo(experiment.to_yaml(), nl=False)


@app.command()
def schema() -> None:
    """Print the JSON Schema of experiment files, for editors."""
    from pointsman.experiment import Experiment

    screen.show_json(Experiment.model_json_schema(by_alias=True))
