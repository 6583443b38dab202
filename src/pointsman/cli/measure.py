"""``pointsman measure``: real training jobs on this machine, measured."""

from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pointsman.cli.measure_options import (
    FIRST,
    OUTPUT,
    WHAT,
    Accumulate,
    Batch,
    Cores,
    DeadlineS,
    Device,
    Force,
    GpuType,
    OfPrecision,
    Precision,
    Printed,
    Rounds,
    Settings,
    with_settings,
)
from pointsman.cli.screen import Format
from pointsman.inputs.messages import counted

if TYPE_CHECKING:
    from pointsman.measure.names import Batches, Model
    from pointsman.measure.plan import Bench, Item, Outcome
    from pointsman.measure.pool import Pool
    from pointsman.measure.process import Slot

app = typer.Typer(no_args_is_help=True, help="Measure real training jobs: their speed, slowdowns and overheads.")

PARTS_MOST: Final = 1024
SHOWN: Final = {
    "step": ("model", "gpu_type", "batch_per_gpu", "parts", "step_s", "samples_per_s", "memory_bytes"),
    "pairs": ("model_a", "model_b", "parts_a", "parts_b", "alone_s_a", "step_s_a", "alone_s_b", "step_s_b"),
    "node": ("model", "others", "alone_s", "step_s"),
}
"""Columns of the table on the screen, before those of how it was measured."""
USE: Final = {
    "step": "profile fit {} -o profiles.yaml",
    "pairs": "profile pairs {} -o sharing.yaml",
    "node": "profile interference {} -o nodes.yaml",
}
"""What reads the rows."""
WORDS: Final = ("model", "model_a", "model_b", "gpu_type", "others", "reason", "what")
TITLES_SHOWN: Final = 4


@app.command()
@with_settings
def step(how: Settings, accumulate: Accumulate = None) -> None:
    """Measure the time of a training step and its memory, for profile fit."""
    from pointsman.measure.step import COLUMNS, items

    _measure_on_one("step", COLUMNS, items, how, accumulate)


@app.command()
@with_settings
def pairs(how: Settings, accumulate: Accumulate = None) -> None:
    """Measure how much two jobs on one device slow each other, for profile pairs."""
    from pointsman.measure.pairs import COLUMNS, items

    _measure_on_one("pairs", COLUMNS, items, how, accumulate)


@app.command()
@with_settings
def node(how: Settings) -> None:
    """Measure how much jobs on several devices of a node slow each other, for profile interference."""
    from pointsman.errors import UsageError
    from pointsman.measure.names import Batches, find_models
    from pointsman.measure.node import COLUMNS, items
    from pointsman.measure.slots import slots_of

    models = find_models(how.models)
    batches = Batches(how.batch, models)
    slots = slots_of(how.device, how.cores)
    if len(slots) < 2:
        raise UsageError(f"--device {how.device}: one job fits, and a node needs two (cuda:0,cuda:1, or more cores)")
    _measure("node", COLUMNS, how, models, slots[0], lambda bench: items(bench, slots, models, batches))


@app.command()
def overheads(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model to train, as for the other commands.")],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Output file (YAML), for --overheads.", rich_help_panel=OUTPUT
        ),
    ],
    batch: Batch,
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
    rounds: Rounds = 3,
    deadline_s: DeadlineS = 120.0,
    force: Force = False,
    format: Printed = Format.table,
) -> None:
    """Measure what starting, saving and stopping a job takes, for --overheads."""
    from pointsman.cli import screen
    from pointsman.errors import RunError, UsageError
    from pointsman.inputs.output_path import check_output_file, replace_files
    from pointsman.measure.machine import machine_of
    from pointsman.measure.messages import Setting
    from pointsman.measure.names import Batches, find_models
    from pointsman.measure.overheads import live_once, overheads_yaml, table, table_csv
    from pointsman.measure.pool import Pool
    from pointsman.measure.process import JobFailed
    from pointsman.measure.slots import one_slot

    if (beside := output.with_suffix(".csv")) == output:
        raise UsageError(f"{output}: name a YAML file; the table of sizes and times is the CSV file beside it")
    for path in (output, beside):
        check_output_file(path, force=force)
    if not (folder := checkpoint_dir or output.parent).is_dir():
        raise UsageError(f"--checkpoint-dir {folder}: there is no such directory; make it first")
    (found,) = find_models([model])
    setting = Setting(found.place, Batches(batch, [found]).only(found), 1, precision.value)
    slot = one_slot(device, cores)
    _need_torch([found], slot)
    cycles = []
    try:
        with Pool(deadline_s) as pool:
            machine = machine_of(pool.describe(slot), slot, gpu_type)
        with screen.progress(f"measuring overheads of {found.name}") as bar:
            for i in range(rounds):
                bar.update(i / rounds)
                cycles.append(live_once(setting, slot, folder, deadline_s))
    except JobFailed as failure:
        raise RunError(f"{found.name} cannot be measured: {failure}") from None
    known = {"model": found.name, "gpu_type": machine.gpu_type, "batch": setting.batch, "precision": precision.value}
    rows = table(cycles, {**known, **machine.about()})
    source = f"measured by pointsman: {found.name}, batch {setting.batch}, {precision.value}, on {machine.device}"
    replace_files({output: overheads_yaml(rows, source).encode(), beside: table_csv(rows).encode()})
    shown = ("what", "seconds", "least_s", "most_s", "bytes")
    screen.show([{column: row[column] for column in shown} for row in rows], format, left=("what",))
    screen.note(f"{output}: use it with --overheads {output}; sizes and times: {beside}")


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
    from pointsman.measure.names import Batches, find_models
    from pointsman.measure.slots import one_slot

    models, parts = find_models(how.models), _parts(accumulate)
    batches, slot = Batches(how.batch, models), one_slot(how.device, how.cores)
    _measure(kind, columns, how, models, slot, lambda bench: items(bench, slot, models, batches, parts))


def _measure(
    kind: str,
    columns: tuple[str, ...],
    how: Settings,
    models: "Sequence[Model]",
    slot: "Slot",
    plan: "Callable[[Bench], list[Item]]",
) -> None:
    from pointsman.cli import screen
    from pointsman.inputs.output_path import check_output_file
    from pointsman.measure.plan import Budget, work_off
    from pointsman.measure.pool import Pool
    from pointsman.measure.rows import RowFile

    check_output_file(how.output, force=True)
    _need_torch(models, slot)
    with Pool(how.deadline_s) as pool:
        bench = _bench(pool, slot, how)
        items = plan(bench)
        with RowFile(how.output, columns, force=how.force) as file, screen.progress("measuring") as bar:
            file.check_alike(bench.about())
            budget = Budget(inf if how.minutes is None else 60 * how.minutes, how.rounds * how.round_s)
            outcome = work_off(items, file, bench.about(), budget, bar.update, retry_failed=how.retry_failed)
    _report(kind, outcome, how)


def _bench(pool: "Pool", slot: "Slot", how: Settings) -> "Bench":
    from pointsman.errors import RunError
    from pointsman.measure.machine import machine_of
    from pointsman.measure.plan import Bench
    from pointsman.measure.process import JobFailed
    from pointsman.measure.rounds import Limits

    try:
        device = pool.describe(slot)
    except JobFailed as failure:
        raise RunError(f"--device {slot.device}: {failure}") from None
    limits = Limits(how.rounds, how.round_s, how.spread_limit, 3 * how.rounds)
    return Bench(pool, machine_of(device, slot, how.gpu_type), limits, how.precision.value)


def _report(kind: str, outcome: "Outcome", how: Settings) -> None:
    from pointsman.cli import screen
    from pointsman.errors import RunError

    failed = any(row["reason"] for row in outcome.rows)
    shown = (*SHOWN[kind], "spread", "disturbed", *(["reason"] if failed else []))
    screen.show([{name: _number(row[name]) for name in shown} for row in outcome.rows], how.format, left=WORDS)
    for failure in outcome.failed:
        screen.note(f"failed: {failure}")
    if outcome.left_out:
        titles = "; ".join(outcome.left_out[:TITLES_SHOWN]) + ("; …" if len(outcome.left_out) > TITLES_SHOWN else "")
        screen.note(f"{counted(len(outcome.left_out), 'measurement')} left out for lack of time: {titles}")
        screen.note("the same command measures them, too; what is in the file is kept")
    unsteady = sum(float(row["spread"] or 0) > how.spread_limit for row in outcome.rows)
    if unsteady:
        screen.note(
            f"{counted(unsteady, 'row has', 'rows have')} a spread above {how.spread_limit:g}: something else ran"
        )
    if outcome.failed_before:
        rows = counted(outcome.failed_before, "row")
        screen.note(f"{rows} failed in an earlier run; --retry-failed measures again what has failed")
    if all(row["reason"] for row in outcome.rows):
        reason = outcome.rows[0]["reason"] if outcome.rows else "there was no time for any"
        raise RunError(f"nothing was measured: {reason}")
    told = f"{outcome.measured} measured, {outcome.kept} kept, {len(outcome.failed)} failed"
    screen.note(f"{how.output}: {told}; use it with 'pointsman {USE[kind].format(how.output)}'")


def _number(text: str) -> Any:
    """The cell as a number, if it is one; None where it is empty."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


def _parts(text: str | None) -> tuple[int, ...]:
    from pointsman.measure.names import whole_numbers

    return whole_numbers("--accumulate", text, PARTS_MOST) if text else ()


def _need_torch(models: "Sequence[Model]", slot: "Slot") -> None:
    """UsageError where PyTorch is needed and not installed; functions of the user's need none on a CPU."""
    from importlib.util import find_spec

    from pointsman.errors import UsageError

    if find_spec("torch") is None and (slot.device != "cpu" or any(":" not in model.place for model in models)):
        raise UsageError("training needs PyTorch: pip install 'pointsman[learn]'")
