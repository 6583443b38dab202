"""``pointsman policy``: what policies there are, what each needs to know, and a start for your own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer

from pointsman.cli import screen

if TYPE_CHECKING:
    from inspect import Parameter

    from pydantic.fields import FieldInfo

    from pointsman.policies.registry import PolicySpec

app = typer.Typer(no_args_is_help=True, help="Scheduling policies: list, describe and create them.")

NEEDS = {
    "none": "",
    "estimate": "the log's time limits, or true durations unless every job has a limit; --estimate overrides this",
    "oracle": "true durations; --estimate limit or lognormal:SIGMA overrides this",
    "history": "durations learned during the run from completed jobs; none from the log",
}
"""What a policy with this need uses of durations."""

ROUNDS = "rounds(POLICY,EVERY)"
FORMS = {
    ROUNDS: "Any policy, deciding periodically: rounds(srtf,60), rounds(easy,5m).",
    "multifactor:slurm.conf": "multifactor with the weights of a site; or the output of 'scontrol show config'.",
    "file.py:Class": "Your own policy; 'pointsman policy new' creates one.",
}
"""Policies that are made of others, or by you."""

FormatOption = Annotated[screen.Format, typer.Option("--format", help="Output format.")]


INFORMATION = ("durations", "profiles", "progress")
"""What a policy may know: docs/reference/policies.md."""


def _information(spec: "PolicySpec") -> dict[str, str]:
    return {"durations": spec.durations, "profiles": " ".join(spec.profiles) or "none", "progress": spec.progress}


@app.command("list")
def list_policies(format: FormatOption = screen.Format.table) -> None:
    """List the policies and the information that each uses."""
    from pointsman.policies.registry import get_policy, policy_names

    specs = [get_policy(name) for name in policy_names()]
    rows = [{"policy": spec.text, **_information(spec), "what it does": spec.doc} for spec in specs]
    if format is screen.Format.table:
        nothing = dict.fromkeys(INFORMATION, "")
        rows += [{"policy": form, **nothing, "what it does": what} for form, what in FORMS.items()]
    screen.show(rows, format, left=("policy", *INFORMATION, "what it does"))
    if format is screen.Format.table:
        typer.echo(f"\nestimate: the policy uses {NEEDS['estimate']}.\noracle: the policy uses {NEEDS['oracle']}.")
        typer.echo(f"history: the policy uses {NEEDS['history']}.")
        typer.echo("profiles are the true ones unless --profile-error SIGMA says otherwise.")
        typer.echo("service: the policy observes the GPU time that jobs received; work: their progress.")


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the policy, FILE.py:CLASS or 'rounds(POLICY, EVERY)'.")
    ],
    format: FormatOption = screen.Format.table,
) -> None:
    """Describe a policy and its parameters."""
    from pointsman.policies.registry import get_policy

    if name in ("rounds", ROUNDS):
        _show_rounds(format)
        return
    spec = get_policy(name)
    fields = spec.config.model_fields if spec.config else {}
    rows = [_describe_field(key, field) for key, field in fields.items()]
    for row in rows if spec.given else ():
        row["default"], row["source"] = _value_and_source(spec, row)
    if not spec.compiled:
        rows = [_argument(parameter) for parameter in spec.arguments.values()]
    if format is not screen.Format.table:
        screen.show(rows, format)
        return
    told = "; ".join(f"{what}: {value}" for what, value in _information(spec).items())
    typer.echo(f"{spec.text} ({told})\n{spec.doc}")
    if told := NEEDS.get(spec.durations):
        typer.echo(f"It uses {told}.")
    if spec.round_s:
        typer.echo(f"It decides only at multiples of {spec.round_s:g} s since the first submit.")
    if source := getattr(spec.factory, "source", ""):
        typer.echo(f"Source: {source}")
    if rows:
        typer.echo()
        told = [{key: row[key] for key in row if any(row[key] for row in rows)} for row in rows]
        screen.show(told, format, left=("parameter", "unit", "meaning", "source"))
        typer.echo(f"\nSet one with --set {spec.name}.{rows[0]['parameter']}=VALUE.")
    for said in spec.notes:
        screen.note(f"{spec.text}: {said}")


@app.command()
def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the policy, in lower-case letters, digits and hyphens.")
    ],
    folder: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Output directory.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the files without writing them.")] = False,
) -> None:
    """Create a working policy and its test, as a starting point."""
    from pointsman.cli.scaffold import class_name, scaffold
    from pointsman.inputs.output_path import check_output, check_output_file, write_whole

    files = scaffold(name, folder)
    check_output(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        check_output_file(path, force=force)
    for path, text in files.items():
        if not dry_run:
            write_whole(path, text)
        typer.echo(path)
    policy = f"{next(iter(files))}:{class_name(name)}"
    screen.note(f"run it with: pointsman simulate TRACE --cluster CLUSTER --policy {policy}")


def _show_rounds(format: screen.Format) -> None:
    meanings = {
        "POLICY": ("", "the policy that decides periodically: a name or file.py:Class"),
        "EVERY": ("s", "it decides only at multiples of this since the first submit: 60, 5m, 1h30m"),
    }
    rows = [
        {"parameter": name, "default": "", "unit": unit, "meaning": meaning, "source": "ours"}
        for name, (unit, meaning) in meanings.items()
    ]
    if format is screen.Format.table:
        typer.echo(f"{ROUNDS} (needs: what POLICY needs)\n{FORMS[ROUNDS]}\n")
    screen.show(rows, format, left=("parameter", "unit", "meaning", "source"))
    if format is screen.Format.table:
        typer.echo("\nParameters are those of POLICY: --policy 'rounds(srtf,60)' --set srtf.margin_s=30.")


def _argument(parameter: "Parameter") -> dict[str, Any]:
    """A parameter of a policy in Python: its name and its default, and its meaning if its annotation says one,
    ``Annotated[float, "meaning"]``.
    """
    required = parameter.default is parameter.empty
    said = getattr(parameter.annotation, "__metadata__", ())
    return {
        "parameter": parameter.name,
        "default": "(needed)" if required else str(parameter.default),
        "unit": "s" if parameter.name.endswith("_s") else "",
        "meaning": next((word for word in said if isinstance(word, str)), ""),
        "source": "",
    }


def _value_and_source(spec: "PolicySpec", row: dict[str, Any]) -> tuple[str, str]:
    """The value that the policy's text gives a parameter, and where from; else its default."""
    name = row["parameter"]
    return (
        (str(spec.given[name]), spec.text.partition(":")[2]) if name in spec.given else (row["default"], row["source"])
    )


def _describe_field(name: str, field: "FieldInfo") -> dict[str, Any]:
    extra = field.json_schema_extra
    about = extra if isinstance(extra, dict) else {}
    return {
        "parameter": name,
        "default": str(field.get_default(call_default_factory=True)),
        "unit": about.get("unit", ""),
        "meaning": (field.description or "") + _values(field.annotation),
        "source": about.get("source", ""),
    }


def _values(annotation: Any) -> str:
    """The values of a parameter that takes only some words."""
    return f" [{', '.join(map(str, get_args(annotation)))}]" if get_origin(annotation) is Literal else ""
