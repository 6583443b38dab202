"""``pointsman policy``: what policies there are, what each needs to know, and a start for your own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli import screen

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

app = typer.Typer(no_args_is_help=True, help="Scheduling policies: the built-in ones, and your own.")

FormatOption = Annotated[screen.Format, typer.Option("--format", help="How to print.")]


@app.command("list")
def list_policies(format: FormatOption = screen.Format.table) -> None:
    """List the policies, and what each must be told of durations."""
    from pointsman.policies.registry import get_policy, policy_names

    specs = [get_policy(name) for name in policy_names()]
    rows = [{"policy": spec.text, "needs": spec.needs, "what it does": spec.doc} for spec in specs]
    screen.show(rows, format, left=("policy", "needs", "what it does"))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A policy's name, file.py:Class, or 'rounds(POLICY, EVERY)'.")],
    format: FormatOption = screen.Format.table,
) -> None:
    """Say what a policy does, and describe its parameters."""
    from pointsman.policies.registry import get_policy

    spec = get_policy(name)
    fields = spec.config.model_fields if spec.config else {}
    rows = [_described(key, field) for key, field in fields.items()]
    if format is not screen.Format.table:
        screen.show(rows, format)
        return
    typer.echo(f"{spec.text} (needs: {spec.needs})\n{spec.doc}")
    if source := getattr(spec.factory, "source", ""):
        typer.echo(f"Source: {source}")
    if rows:
        typer.echo()
        screen.show(rows, format, left=("parameter", "unit", "meaning", "source"))
        typer.echo(f"\nSet one with --set {spec.name}.{rows[0]['parameter']}=VALUE.")


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="What to call it: small letters, digits, hyphens.")],
    folder: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where to put the files.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be written.")] = False,
) -> None:
    """Write a policy of your own that runs, and its test, to start from."""
    from pointsman.cli.scaffold import class_name, scaffold
    from pointsman.errors import UsageError

    files = scaffold(name, folder)
    for path in files:
        if path.exists() and not force:
            raise UsageError(f"{path}: exists already (choose another name, or --force)")
    for path, text in files.items():
        if not dry_run:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        typer.echo(path)
    policy = f"{next(iter(files))}:{class_name(name)}"
    screen.note(f"run it with: pointsman simulate TRACE --cluster CLUSTER --policy {policy}")


def _described(name: str, field: "FieldInfo") -> dict[str, Any]:
    extra = field.json_schema_extra
    about = extra if isinstance(extra, dict) else {}
    return {
        "parameter": name,
        "default": str(field.get_default(call_default_factory=True)),
        "unit": about.get("unit", ""),
        "meaning": field.description or "",
        "source": about.get("source", ""),
    }
