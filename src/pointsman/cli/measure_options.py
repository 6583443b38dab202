"""The options that the commands of ``pointsman measure`` share."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Concatenate, Final, ParamSpec

import typer

from pointsman.cli.options import Command, fields_as_parameters, own_parameters, present
from pointsman.cli.screen import Format

P = ParamSpec("P")
WHAT, HOW, OUTPUT = "What to measure", "How to measure", "Output"


class Precision(StrEnum):
    """Names of `pointsman.measure.training.PRECISIONS`, whose module imports PyTorch."""

    fp32 = "fp32"
    bf16 = "bf16"


class Again(StrEnum):
    """Rows of the file that are measured again."""

    failed = "failed"
    unsteady = "unsteady"


Device = Annotated[
    str,
    typer.Option("--device", metavar="DEVICE", help="Device to train on: cuda:1, or cpu.", rich_help_panel=WHAT),
]
Devices = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="DEVICE,...",
        help="Devices of the node, a job each: cuda:0,cuda:1, or cpu for its cores.",
        rich_help_panel=WHAT,
    ),
]
Cores = Annotated[
    int | None,
    typer.Option("--cores", min=1, help="With --device cpu: cores of a job. Default: 1.", rich_help_panel=WHAT),
]
Batch = Annotated[
    list[str],
    typer.Option(
        "--batch",
        metavar="N,...",
        default_factory=list,
        show_default=False,
        help="Samples of a step, for all models (8,16,32) or for one (bert=8,16). Repeatable. Default: usual ones.",
        rich_help_panel=WHAT,
    ),
]
OneBatch = Annotated[
    list[str],
    typer.Option(
        "--batch",
        metavar="N",
        default_factory=list,
        show_default=False,
        help="Samples of a step, for all models (16) or for one (bert=16). Repeatable. Default: the usual one.",
        rich_help_panel=WHAT,
    ),
]
Accumulate = Annotated[
    str | None,
    typer.Option(
        "--accumulate",
        metavar="N,...",
        help="Numbers of parts into which batches are cut, besides 1. Example: --accumulate 2,4.",
        rich_help_panel=WHAT,
    ),
]
OfPrecision = Annotated[
    Precision, typer.Option("--precision", help="What forward passes compute in.", rich_help_panel=WHAT)
]
GpuType = Annotated[
    str | None,
    typer.Option(
        "--gpu-type",
        metavar="NAME",
        help="Name of the device in the rows. Default: by its product name.",
        rich_help_panel=WHAT,
    ),
]
Minutes = Annotated[
    float | None,
    typer.Option(
        "--minutes",
        min=0.0,
        help="Time for all measurements; what is not over by then is left out. Default: no limit.",
        rich_help_panel=HOW,
    ),
]
Rounds = Annotated[int, typer.Option("--rounds", min=1, max=100, help="Rounds of a row.", rich_help_panel=HOW)]
DeadlineS = Annotated[
    float,
    typer.Option(
        "--deadline-s", min=1, max=86400, help="Seconds without an answer after which a job hangs.", rich_help_panel=HOW
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.", rich_help_panel=OUTPUT)]
Printed = Annotated[Format, typer.Option("--format", help="Output format.", rich_help_panel=OUTPUT)]
FIRST: Final = "cuda:0"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What was asked for."""

    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Models to train: names of 'pointsman measure models', or FILE.py:FUNCTION.",
            show_default=False,
        ),
    ]
    batch: Batch
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Output file (CSV). Rows that it has are kept.",
            rich_help_panel=OUTPUT,
        ),
    ]
    device: Device = FIRST
    cores: Cores = None
    precision: OfPrecision = Precision.fp32
    gpu_type: GpuType = None
    minutes: Minutes = None
    rounds: Rounds = 5
    round_s: Annotated[
        float, typer.Option("--round-s", min=0.01, max=3600, help="Seconds of a round.", rich_help_panel=HOW)
    ] = 1.0
    spread_limit: Annotated[
        float,
        typer.Option(
            "--spread-limit",
            min=0.001,
            max=1.0,
            help="Distance from the median, as a share, beyond which a round is repeated.",
            rich_help_panel=HOW,
        ),
    ] = 0.05  # `pointsman.speed.measured_rows.SPREAD_LIMIT`, whose module takes long to import
    deadline_s: DeadlineS = 120.0
    again: Annotated[
        list[Again],
        typer.Option(
            "--again",
            default_factory=list,
            show_default=False,
            help="Measure again, and replace, rows of FILE: those that failed, or whose rounds differ by more than "
            "--spread-limit. Repeatable.",
            rich_help_panel=HOW,
        ),
    ]
    force: Force = False
    format: Printed = Format.table


def with_settings(**other: Any) -> Callable[[Callable[Concatenate[Settings, P], None]], Command]:
    """Give a command the shared options before its own parameters, with other annotations of those that are named."""
    shared = [p.replace(annotation=other.get(p.name, p.annotation)) for p in fields_as_parameters(Settings)]

    def decorated(command: Callable[Concatenate[Settings, P], None]) -> Command:
        def full(**given: Any) -> None:
            settings = Settings(**{parameter.name: given.pop(parameter.name) for parameter in shared})
            command(settings, **given)

        return present(full, command, [*shared, *own_parameters(command)])

    return decorated
