"""``pointsman policy``: what policies there are, what each needs to know, and a start for your own."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli import screen

if TYPE_CHECKING:
    from pointsman.policies.registry import PolicySpec

app = typer.Typer(no_args_is_help=True, help="Scheduling policies: the built-in ones, and your own.")

FormatOption = Annotated[screen.Format, typer.Option("--format", help="How to print.")]


@app.command("list")
def list_policies(format: FormatOption = screen.Format.table) -> None:
    """List the policies, and what each must be told of durations."""
    from pointsman.policies.registry import POLICIES

    rows = [{"policy": spec.name, "needs": spec.needs, "what it does": _first_line(spec)} for spec in POLICIES.values()]
    screen.show(rows, format, left=("policy", "needs", "what it does"))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A policy's name, file.py:Class, or rounds(POLICY, EVERY_S).")],
    format: FormatOption = screen.Format.table,
) -> None:
    """Say what a policy does, and describe its parameters."""
    from pointsman.policies.registry import get_policy

    spec = get_policy(name)
    rows = [_described(key, field) for key, field in spec.config.model_fields.items()]
    if format is not screen.Format.table:
        screen.show(rows, format)
        return
    typer.echo(f"{spec.name} (needs: {spec.needs})\n\n{spec.doc.strip()}\n")
    screen.show(rows, format, left=("parameter", "meaning", "source"))
    if rows:
        typer.echo(f"Set one with --set {spec.name}.{rows[0]['parameter']}=VALUE.")


def _first_line(spec: "PolicySpec") -> str:
    return spec.doc.strip().splitlines()[0] if spec.doc.strip() else ""


def _described(name: str, field: Any) -> dict[str, Any]:
    extra = field.json_schema_extra or {}
    return {
        "parameter": name,
        "default": str(field.get_default(call_default_factory=True)),
        "unit": extra.get("unit", ""),
        "meaning": field.description or "",
        "source": extra.get("source", ""),
    }
