"""``pointsman measure``: real training jobs on this machine, measured."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pointsman.cli.measure_options import (
    FIRST,
    OUTPUT,
    WHAT,
    Accumulate,
    Again,
    Cores,
    DeadlineS,
    Device,
    Devices,
    Force,
    GpuType,
    Minutes,
    OfPrecision,
    OneBatch,
    Precision,
    Printed,
    Rounds,
    Settings,
    with_settings,
)
from pointsman.cli.screen import Format

if TYPE_CHECKING:
    from pointsman.measure.bench import Bench
    from pointsman.measure.names import Batches, Model
    from pointsman.measure.plan import Item
    from pointsman.measure.process import Slot

app = typer.Typer(no_args_is_help=True, help="Measure real training jobs: their speed, slowdowns and overheads.")

PARTS_MOST: Final = 1024


@app.command()
@with_settings()
def step(how: Settings, accumulate: Accumulate = None) -> None:
    """Measure the time of a training step and its memory, for profile fit."""
    from pointsman.measure.step import COLUMNS, items

    _measure_on_one("step", COLUMNS, items, how, accumulate)


@app.command()
@with_settings(batch=OneBatch)
def pairs(how: Settings, accumulate: Accumulate = None) -> None:
    """Measure how much two jobs on one device slow each other, for profile pairs."""
    from pointsman.measure.pairs import COLUMNS, items

    _measure_on_one("pairs", COLUMNS, items, how, accumulate)


@app.command()
@with_settings(batch=OneBatch, device=Devices)
def node(how: Settings) -> None:
    """Measure how much jobs on several devices of a node slow each other, for profile interference."""
    from pointsman.cli.measuring import measure_rows
    from pointsman.errors import UsageError
    from pointsman.measure.names import Batches, find_models
    from pointsman.measure.node import COLUMNS, items
    from pointsman.measure.slots import slots_of

    models = find_models(how.models)
    batches = Batches(how.batch, models)
    slots = slots_of(how.device, how.cores)
    if len(slots) < 2:
        raise UsageError(f"--device {how.device}: one job fits, and a node needs two (cuda:0,cuda:1, or more cores)")
    measure_rows("node", COLUMNS, how, models, slots[0], lambda bench: items(bench, slots, models, batches))


@app.command()
def overheads(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model to train, as for the other commands.")],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Output file (YAML), for --overheads.", rich_help_panel=OUTPUT
        ),
    ],
    batch: OneBatch,
    device: Device = FIRST,
    cores: Cores = None,
    precision: OfPrecision = Precision.fp32,
    gpu_type: GpuType = None,
    checkpoint_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Directory to write checkpoints to. Default: that of FILE.", rich_help_panel=WHAT
        ),
    ] = None,
    minutes: Minutes = None,
    rounds: Rounds = 3,
    deadline_s: DeadlineS = 120.0,
    force: Force = False,
    format: Printed = Format.table,
) -> None:
    """Measure what starting, saving and stopping a job takes, for --overheads."""
    from pointsman.cli import screen
    from pointsman.cli.measuring import check_outcome, count_rows, measure
    from pointsman.errors import RunError, UsageError
    from pointsman.inputs.output_path import check_folder, check_output_file, write_whole
    from pointsman.measure.names import Batches, find_models
    from pointsman.measure.overheads import (
        COLUMNS,
        checkpoint_folder,
        is_of,
        items,
        overheads_yaml,
        summary,
        was_edited,
    )
    from pointsman.measure.slots import one_slot

    if (beside := output.with_suffix(".csv")) == output:
        raise UsageError(f"{output}: name a YAML file; the table of sizes and times is the CSV file beside it")
    if not (folder := checkpoint_dir or output.parent).is_dir():
        raise UsageError(f"--checkpoint-dir {folder}: there is no such directory; make it first")
    check_folder(folder)
    (found,) = models = find_models([model])
    size, slot = Batches(batch, models).only(found), one_slot(device, cores)
    checkpoints = checkpoint_folder(folder, output)
    goes_on = beside.exists() and is_of(output, found, size, precision.value)
    check_output_file(output, force=force or goes_on)
    how = Settings(
        models=[model], batch=batch, output=beside, precision=precision, gpu_type=gpu_type, minutes=minutes,
        rounds=rounds, deadline_s=deadline_s, again=[Again.failed], force=force, format=format,
    )  # fmt: skip

    outcome = measure(
        COLUMNS, how, models, slot, lambda bench: items(bench, slot, found, size, checkpoints, rounds), run_s=0.0
    )
    check_outcome(outcome, minutes)
    if outcome.left_out:
        raise RunError(f"{output}: not written before all rounds are measured")
    rows = [row for row in outcome.rows if not row["reason"]]
    screen.show(summary(rows), format, left=("what",))
    if force or not was_edited(output, outcome.kept):
        write_whole(output, overheads_yaml(rows))
    elif outcome.measured:
        screen.note(f"{output}: was edited and is kept; remove it, and the same command writes it from all rows")
    screen.note(f"{output}: {count_rows(outcome)}; use it with --overheads {output}; sizes and times: {beside}")


@app.command("models")
def list_models(format: Printed = Format.table) -> None:
    """List the models that ship."""
    from pointsman.cli import screen
    from pointsman.measure.models.catalogue import MODELS

    rows = [
        {"model": name, "batch": model.batch, "parameters": model.parameters, "title": model.title}
        for name, model in MODELS.items()
    ]
    screen.show(rows, format, left=("model", "title"))


def _measure_on_one(
    kind: str,
    columns: tuple[str, ...],
    items: "Callable[[Bench, Slot, Sequence[Model], Batches, Sequence[int]], list[Item]]",
    how: Settings,
    accumulate: str | None,
) -> None:
    """Measure what has one device and batches in parts."""
    from pointsman.cli.measuring import measure_rows
    from pointsman.errors import UsageError
    from pointsman.inputs.messages import counted
    from pointsman.measure.names import Batches, find_models
    from pointsman.measure.slots import one_slot

    models, parts = find_models(how.models), _parts(accumulate)
    batches, slot = Batches(how.batch, models), one_slot(how.device, how.cores)
    largest = max(max(batches.of(model)) for model in models)
    if max(parts, default=0) > largest:
        raise UsageError(f"--accumulate {accumulate}: the largest batch has {counted(largest, 'sample')}; cut it less")
    measure_rows(kind, columns, how, models, slot, lambda bench: items(bench, slot, models, batches, parts))


def _parts(text: str | None) -> tuple[int, ...]:
    from pointsman.measure.names import whole_numbers

    return whole_numbers("--accumulate", text, PARTS_MOST) if text else ()
