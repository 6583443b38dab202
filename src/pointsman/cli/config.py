"""``pointsman config``: what an experiment comes to, where each part is from, and the schema of its file."""

from typing import Annotated

import typer

from pointsman.cli import screen
from pointsman.cli.options import WHAT, Options, with_options

app = typer.Typer(no_args_is_help=True, help="Experiment files: what they come to, and their schema.")


@app.command()
@with_options
def show(
    options: Options,
    policy: Annotated[
        list[str],
        typer.Option(metavar="NAME", default_factory=list, show_default=False, help="Policies.", rich_help_panel=WHAT),
    ],
    seeds: Annotated[
        str | None, typer.Option("--seeds", "--seed", metavar="LIST", help="Seeds: 0-4.", rich_help_panel=WHAT)
    ] = None,
    origin: Annotated[bool, typer.Option("--origin", help="Say of each field where it is from.")] = False,
) -> None:
    """Print the experiment these options of 'simulate' or 'compare' make: flag before file before default."""
    from pointsman.cli.compare import parse_seeds
    from pointsman.cli.experiment import origins, resolve

    asked = {"policies": policy, "seeds": parse_seeds(seeds) if seeds else []}
    experiment = resolve(options, **asked)
    if origin:
        spec, sources = experiment.to_dict()["spec"], origins(options, **asked)
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
