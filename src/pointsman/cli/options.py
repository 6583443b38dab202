"""The options of ``simulate``, ``compare`` and ``config show``.

Flags that say a field of the experiment are made from it (`pointsman.cli.flags`); what else the commands share is here.
The model of an experiment takes pydantic, and a sixth of a second to import: flags are made when one of the commands
is used, and not for the list of commands.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Concatenate, Literal, ParamSpec, get_type_hints

import typer
import typer.main
from typer.core import TyperCommand

from pointsman.cli.screen import Format
from pointsman.errors import UsageError
from pointsman.parallel.pool import check_place

P = ParamSpec("P")
Command = Callable[..., None]

WHAT, ASSUMED, OUTPUT = "What to replay", "Assumptions", "Output"

On = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="PLACE",
        callback=check_place,
        help="Place to run simulations: local, ray (this machine's Ray cluster) or ray://HOST[:PORT]. "
        "Input is read and output written on this machine.",
        rich_help_panel=OUTPUT,
    ),
]
AtOnce = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        max=1024,
        help="Maximum number of parallel runs. Default: 1, or the number of CPUs of the Ray cluster.",
        rich_help_panel=OUTPUT,
    ),
]
OutputFolder = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="DIR", help="Output directory.", rich_help_panel=OUTPUT)
]
Force = Annotated[bool, typer.Option("--force", help="Replace DIR if it exists.", rich_help_panel=OUTPUT)]
Printed = Annotated[Format, typer.Option("--format", help="Output format.", rich_help_panel=OUTPUT)]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What was asked for."""

    spec: Mapping[str, Any]
    """Fields of the experiment that were given, as they were written; repeated flags are lists."""
    config: Annotated[
        Path | None,
        typer.Option(
            "-c",
            "--config",
            envvar="POINTSMAN_CONFIG",
            help="Experiment file (YAML or TOML). Other options take precedence over it.",
            rich_help_panel=WHAT,
        ),
    ] = None
    settings: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="NAME.PARAM=VALUE",
            default_factory=list,
            show_default=False,
            help="Set a parameter of a policy or of the overheads. Example: --set overheads.start_s=30. Repeatable.",
            rich_help_panel=ASSUMED,
        ),
    ]
    output: OutputFolder = None
    force: Force = False
    format: Printed = Format.table
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the complete experiment without running it.", rich_help_panel=OUTPUT),
    ] = False


Takes = Literal["one run", "policies", "a grid"]
"""What a command takes several values of: nothing, policies and seeds, or every option that a grid varies."""


def with_options(takes: Takes) -> Callable[[Callable[Concatenate[Options, P], None]], Command]:
    """Give a command the shared options before its own parameters. It is registered with ``cls=WithOptions``."""

    def decorated(command: Callable[Concatenate[Options, P], None]) -> Command:
        def listed() -> None:
            """Stand for the command in the list of commands."""

        setattr(listed, FULL, lambda: _full(command, takes))
        return present(listed, command, [])

    return decorated


FULL = "full"
"""Attribute of what `with_options` makes: a function that makes the command with all of its parameters."""


def _full(command: Command, takes: Takes) -> Command:
    from pointsman.cli.flags import GRID, POLICIES, parameters

    common = [parameter for parameter in fields_as_parameters(Options) if parameter.name != "spec"]
    flags = parameters({"one run": (), "policies": POLICIES, "a grid": GRID}[takes])
    own = own_parameters(command)

    def full(**given: Any) -> None:
        spec = {flag.name: given.pop(flag.name) for flag in flags}
        shared = {parameter.name: given.pop(parameter.name) for parameter in common}
        command(Options(spec={name: value for name, value in spec.items() if _is_given(value)}, **shared), **given)

    return present(full, command, [*common[:1], *flags, *common[1:], *own])


def fields_as_parameters(options: type[Any]) -> list[inspect.Parameter]:
    """Parameters of a command from the fields of a dataclass, whose annotations are typer's."""
    hints = get_type_hints(options, include_extras=True)
    return [
        inspect.Parameter(
            f.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if f.default is MISSING else f.default,
            annotation=hints[f.name],
        )
        for f in fields(options)
    ]


def own_parameters(command: Callable[..., None]) -> list[inspect.Parameter]:
    """Those of a command after its first, which are its own options."""
    return [p.replace(kind=p.KEYWORD_ONLY) for p in inspect.signature(command).parameters.values()][1:]


def _is_given(value: Any) -> bool:
    return value is not None and value != []


def present(function: Any, command: Any, parameters: list[inspect.Parameter]) -> Command:
    """The function, to typer, has the name and docstring of `command` and these parameters."""
    function.__name__, function.__doc__ = command.__name__, command.__doc__
    function.__signature__ = inspect.Signature(parameters)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return function


class WithOptions(TyperCommand):
    """A command made by `with_options`: its parameters are made when they are first looked at."""

    @cached_property
    def _full(self) -> Any:
        alone = typer.Typer(add_completion=False)
        alone.command(self.name)(getattr(self.callback, FULL)())
        return typer.main.get_command(alone)

    @property
    def params(self) -> list[Any]:
        """Arguments and options."""
        return self._full.params

    @params.setter
    def params(self, value: list[Any]) -> None:
        """None are known when typer makes the command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses as any command does; an option that takes one value is given once, or the last would win without a
        word.

        Raises:
            UsageError: it is given twice.
        """
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for i, option in enumerate(given):
            if option in given[:i] and not (option.multiple or getattr(option, "is_flag", False)):
                raise UsageError(f"{option.opts[0]} is given twice; it takes one value")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        return self._full.invoke(ctx)
