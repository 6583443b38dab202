"""The options that ``simulate`` and ``compare`` share: each says a field of the experiment, or what to do with it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Concatenate, ParamSpec, get_type_hints

import typer

from pointsman.cli.screen import Format
from pointsman.parallel.pool import check_place

P = ParamSpec("P")

LISTS = ("only", "profiles", "congestion", "settings")
WHAT, ASSUMED, OUTPUT = "What to replay", "Assumptions", "Output"

On = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="PLACE",
        callback=check_place,
        help="Where to simulate: local, ray (the Ray cluster that this machine is in) or ray://HOST[:PORT]. "
        "Inputs are read and results written here.",
        rich_help_panel=OUTPUT,
    ),
]
AtOnce = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="Run so many at a time: by default 1, or as many as the Ray cluster has CPUs.",
        rich_help_panel=OUTPUT,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What was asked for; None and the empty list mean that the experiment file or the default decides."""

    trace: Annotated[
        str | None,
        typer.Argument(
            metavar="TRACE", help="Job log in any known format; '-' is stdin. Required without -c.", show_default=False
        ),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            "-c",
            "--config",
            envvar="POINTSMAN_CONFIG",
            help="Experiment file (YAML, TOML); other options go before it.",
            rich_help_panel=WHAT,
        ),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Ready name, shorthand (16x4/rack=4,gpu=v100) or file. Required without -c.", rich_help_panel=WHAT
        ),
    ] = None
    trace_format: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Format of the log, if not to be found out.", rich_help_panel=WHAT),
    ] = None
    only: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN=VALUE",
            default_factory=list,
            show_default=False,
            help="Keep only such jobs: vc=cluster04, completed.",
            rich_help_panel=WHAT,
        ),
    ]
    window: Annotated[
        str | None,
        typer.Option(metavar="FROM:TO", help="Count jobs submitted then: 1d:8d, 12h:.", rich_help_panel=WHAT),
    ] = None
    load: Annotated[
        float | None, typer.Option(help="Rescale the gaps between submits to this load.", rich_help_panel=ASSUMED)
    ] = None
    estimate: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="What policies know of durations: none, limit, oracle, lognormal:SIGMA.",
            rich_help_panel=ASSUMED,
        ),
    ] = None
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="consolidated (default), first-fit, spread, tightest.", rich_help_panel=ASSUMED
        ),
    ] = None
    overheads: Annotated[
        str | None, typer.Option(metavar="KIND", help="none (default), realistic, or a file.", rich_help_panel=ASSUMED)
    ] = None
    oversized: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="Jobs that never fit: refuse (default), drop, clamp.", rich_help_panel=ASSUMED
        ),
    ] = None
    assign_models: Annotated[
        int | None, typer.Option(metavar="SEED", help="Give jobs without a model one.", rich_help_panel=ASSUMED)
    ] = None
    profiles: Annotated[
        list[str],
        typer.Option(
            metavar="FILE",
            default_factory=list,
            show_default=False,
            help="Model profiles of your own, before the shipped ones.",
            rich_help_panel=ASSUMED,
        ),
    ]
    congestion: Annotated[
        list[str],
        typer.Option(
            metavar="LEVEL=FACTOR",
            default_factory=list,
            show_default=False,
            help="Divide a level's bandwidth: rack=4, pod=4, cluster=4, network=16 (all). Repeat it.",
            rich_help_panel=ASSUMED,
        ),
    ]
    contention: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Who shares links: none (default), level, max-min, duty-cycle, node-link.",
            rich_help_panel=ASSUMED,
        ),
    ] = None
    settings: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="NAME.PARAM=VALUE",
            default_factory=list,
            show_default=False,
            help="Set a parameter of a policy, or of 'overheads'.",
            rich_help_panel=ASSUMED,
        ),
    ]
    rate_model: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="rates, iterations (tasks and transfers), goodput (tuned batches) or tree (racks and nodes cost). "
            "Default: the policy's own.",
            rich_help_panel=ASSUMED,
        ),
    ] = None
    gpu_sharing: Annotated[
        int | None,
        typer.Option(
            metavar="JOBS", help="Jobs that a GPU may have, 1 to 8. Default: the policy's own.", rich_help_panel=ASSUMED
        ),
    ] = None
    interference: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="How jobs on one GPU slow each other: table (default), law, a number, FILE; table:MAPPING.",
            rich_help_panel=ASSUMED,
        ),
    ] = None
    enforce_limits: Annotated[
        bool,
        typer.Option("--enforce-limits", help="Kill jobs at their time limit.", rich_help_panel=ASSUMED),
    ] = False
    audit: Annotated[bool, typer.Option("--audit", help="Check every invariant (slow).", rich_help_panel=ASSUMED)] = (
        False
    )
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Keep everything here.", rich_help_panel=OUTPUT)
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace DIR if it exists.", rich_help_panel=OUTPUT)] = False
    format: Annotated[Format, typer.Option(help="How to print the summary.", rich_help_panel=OUTPUT)] = Format.table
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print the experiment, complete.", rich_help_panel=OUTPUT)
    ] = False


def with_options(command: Callable[Concatenate[Options, P], None]) -> Callable[..., None]:
    """`command` as typer sees it: the shared options, then its own parameters."""
    hints = get_type_hints(Options, include_extras=True)
    shared = [
        inspect.Parameter(
            f.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if f.name in LISTS else f.default,
            annotation=hints[f.name],
        )
        for f in fields(Options)
    ]
    own = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in inspect.signature(command).parameters.values()][1:]
    names = {parameter.name for parameter in shared}

    @wraps(command)
    def wrapped(**given: Any) -> None:
        common = {name: given.pop(name) for name in names}
        command(Options(**common), **given)

    wrapped.__signature__ = inspect.Signature(shared + own)  # ty: ignore
    wrapped.__annotations__ = {p.name: p.annotation for p in shared + own}
    return wrapped
