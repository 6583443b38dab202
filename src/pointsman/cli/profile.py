"""``pointsman profile``: the catalogue of models, and profiles fitted to measurements."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli.interference import interference
from pointsman.cli.pairs import pairs
from pointsman.cli.screen import Format
from pointsman.inputs.messages import counted

if TYPE_CHECKING:
    from pointsman.speed.fitting.fit_errors import GroupError
    from pointsman.speed.fitting.measurements import Step
    from pointsman.speed.fitting.step_law import PlatformLaw
    from pointsman.speed.profiles.catalogue import Catalogue

app = typer.Typer(no_args_is_help=True, help="Model profiles: list, show, fit and measure the speed of models.")

Profiles = Annotated[
    list[str],
    typer.Option(
        metavar="FILE",
        default_factory=list,
        show_default=False,
        help="Model profiles that take precedence over the shipped ones. Repeatable.",
    ),
]
PER_CENT = 100.0

app.command()(pairs)
app.command()(interference)


@app.command("list")
def list_models(
    profiles: Profiles, format: Annotated[Format, typer.Option(help="Output format.")] = Format.table
) -> None:
    """List the models that have a profile."""
    from pointsman.cli import screen
    from pointsman.speed import load_catalogue

    models = load_catalogue(*profiles).models
    rows = [
        {
            "model": name,
            "gradient_mb": profile.gradient.bytes / 1e6,
            "batch_per_gpu": profile.batch.per_gpu,
            "delta": profile.overlap.delta,
            "gpu_types": " ".join(profile.compute),
            "title": profile.title,
        }
        for name, profile in sorted(models.items())
    ]
    screen.show(rows, format, left=("model", "gpu_types", "title"))


@app.command()
def show(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Name or alias of the model.")], profiles: Profiles
) -> None:
    """Print the profile of a model as a file, to save and edit."""
    import yaml

    from pointsman.speed import load_catalogue

    catalogue = load_catalogue(*profiles)
    name = catalogue.model_name(model)
    profile = catalogue.models[name].model_dump(mode="json", exclude_none=True)
    document = {
        "apiVersion": "pointsman/v1",
        "kind": "ModelProfiles",
        "metadata": {"name": name},
        "spec": {"models": {name: profile}},
    }
    typer.echo(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110), nl=False)


@app.command()
def fit(
    measurements: Annotated[
        Path, typer.Argument(metavar="FILE", help="Measured step times (CSV), as in docs/formats/measurements.md.")
    ],
    profiles: Profiles,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Output file (YAML) of the profiles.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
    format: Annotated[Format, typer.Option(help="Output format of the errors.")] = Format.table,
) -> None:
    """Fit model profiles and the network model to measured step times."""
    from pointsman.cli import screen
    from pointsman.cli.unsteady import note_unsteady
    from pointsman.inputs.output_path import check_output_file, write_whole
    from pointsman.speed import load_catalogue
    from pointsman.speed.fitting.fit_document import profiles_yaml
    from pointsman.speed.fitting.measurements import read_steps

    if output:
        check_output_file(output, force=force)
    catalogue = load_catalogue(*profiles)
    steps = read_steps(measurements, catalogue)
    note_unsteady(measurements, [step.is_unsteady for step in steps])
    laws, errors, summary = _fit_laws(steps)
    if format is Format.json:
        screen.show_json({"models": _models(laws), "networks": _networks(laws), "errors": _rows(errors + summary)})
    elif format is Format.csv:
        screen.show(_rows(errors + summary), format)
    else:
        _show_tables(laws, errors, summary, format)
    if output:
        write_whole(output, profiles_yaml(laws, steps, catalogue, f"{measurements.name}, {len(steps)} step times"))
        _check(output, profiles, catalogue)


def _fit_laws(steps: "list[Step]") -> "tuple[list[PlatformLaw], list[GroupError], list[GroupError]]":
    """A law for each GPU type, the errors by model and placement, and over all models by how far gangs reach."""
    import numpy as np

    from pointsman.cli import screen
    from pointsman.speed.fitting.fit_errors import errors_left_out, errors_seen, grouped, reach
    from pointsman.speed.fitting.fit_law import fit_platform
    from pointsman.speed.fitting.measurements import placement_text

    laws, errors, summary = [], [], []
    for gpu_type in dict.fromkeys(step.gpu_type for step in steps):
        own = [step for step in steps if step.gpu_type == gpu_type]
        law = fit_platform(own)
        _warn_of_too_few(law, len(own))
        seen = errors_seen(own, law)
        with screen.progress(f"leaving out placements of {gpu_type}") as progress:
            left_out = errors_left_out(own, law, progress.update)
        laws.append(law)
        errors += grouped(own, seen, left_out, lambda s: (s.model, s.gpu_type, placement_text(s.placement)))
        summary += grouped(own, seen, left_out, lambda s: ("all", s.gpu_type, reach(s)))
        summary += grouped(own, np.asarray(seen), left_out, lambda s: ("all", s.gpu_type, "all"))
    return laws, errors, summary


def _warn_of_too_few(law: "PlatformLaw", rows: int) -> None:
    from pointsman.cli import screen

    parameters = 3 * len(law.models) + 2 * sum(link is not None for link in (law.network.node, law.network.rack))
    if rows <= parameters:
        wanted = "a meaningful fit requires more batches and placements"
        screen.note(f"{law.gpu_type}: {counted(rows, 'measurement')} for {counted(parameters, 'parameter')}; {wanted}")


def _models(laws: "list[PlatformLaw]") -> list[dict[str, Any]]:
    return [
        {"model": model, "gpu_type": law.gpu_type, **found._asdict()}
        for law in laws
        for model, found in law.models.items()
    ]


def _networks(laws: "list[PlatformLaw]") -> list[dict[str, Any]]:
    rows = []
    for law in laws:
        for level, link in (("node", law.network.node), ("rack", law.network.rack)):
            if link is not None:
                per = "gpu" if level == "node" else law.network.cards
                rows.append({"gpu_type": law.gpu_type, "level": level, "per": per, **link._asdict()})
    return rows


def _rows(errors: "list[GroupError]") -> list[dict[str, Any]]:
    return [
        {
            "model": e.model,
            "gpu_type": e.gpu_type,
            "placement": e.placement,
            "rows": e.rows,
            "error_pct": PER_CENT * e.seen,
            "left_out_error_pct": None if e.left_out is None else PER_CENT * e.left_out,
            "not_predicted": e.unpredicted,
        }
        for e in errors
    ]


def _show_tables(
    laws: "list[PlatformLaw]", errors: "list[GroupError]", summary: "list[GroupError]", format: Format
) -> None:
    from pointsman.cli import screen

    words = ("model", "gpu_type", "placement", "level", "per")
    for rows in (_models(laws), _networks(laws), _rows(errors), _rows(summary)):
        if rows:
            screen.show(rows, format, left=words)
            typer.echo()


def _check(output: Path, profiles: list[str], before: "Catalogue") -> None:
    """What was written is read back, as ``--profiles`` will read it."""
    from pointsman.cli import screen
    from pointsman.speed import load_catalogue

    after = load_catalogue(*profiles, output)
    new = len(after.models) - len(before.models)
    are = counted(new, "model is", "models are")
    screen.note(f"{output}: use it with --profiles {output}; {are} new to the catalogue")
