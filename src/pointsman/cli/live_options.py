"""What commands of ``pointsman live`` have in common: options, and how their texts are read."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

ABSENT: Final = "{} is not installed: pip install 'pointsman[live]'"

Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="CLUSTER", help="Cluster file or shorthand, like 2x4. Default: the GPUs of this machine."
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="POLICY.PARAM=VALUE", help="Parameter of the policy. Repeatable."),
]
State = Annotated[
    Path | None, typer.Option("--state", metavar="DIR", help="Directory of the daemon's database and job records.")
]


class Backend(StrEnum):
    """What runs the jobs of a live cluster."""

    local = "local"
    slurm = "slurm"


OnBackend = Annotated[
    Backend, typer.Option("--backend", help="What runs the jobs: this machine, or its Slurm cluster.")
]
Gate = Annotated[
    str, typer.Option("--gate", metavar="PARTITION", help="With --act, partition where jobs wait; its State is DOWN.")
]
Target = Annotated[str, typer.Option("--target", metavar="PARTITION", help="With --act, partition where jobs run.")]
Socket = Annotated[Path | None, typer.Option("--socket", metavar="FILE", help="Socket of the daemon.")]


def this_machine() -> str:
    """Describes the cluster that this machine is."""
    try:
        from pointsman.live.backends.local.gpus import this_machine
    except ModuleNotFoundError as error:
        from pointsman.errors import UsageError

        raise UsageError(ABSENT.format(error.name)) from None
    return this_machine()


def seconds_of(option: str, text: str) -> float:
    """The duration that an option gives."""
    from pointsman.errors import UsageError
    from pointsman.inputs.durations import parse_duration_s

    try:
        return parse_duration_s(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def params_of(policy: str, texts: list[str]) -> dict[str, Any]:
    """The parameters of one policy."""
    from pointsman.cli.experiment import parse_settings
    from pointsman.errors import UsageError
    from pointsman.policies.registry import get_policy

    spec = get_policy(policy)
    settings = parse_settings([text if "." in text.partition("=")[0] else f"{spec.name}.{text}" for text in texts])
    known = {policy, spec.name, spec.title}
    if alien := sorted(set(settings) - known):
        raise UsageError(f"--set {alien[0]}.…: only parameters of {spec.title} can be set here")
    return {key: value for params in settings.values() for key, value in params.items()}
