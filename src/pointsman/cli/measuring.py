"""What the commands of ``pointsman measure`` do alike: measure rows of a file, and say what has become of them."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from math import ceil, inf
from typing import TYPE_CHECKING, Any, Final

from pointsman.cli import screen
from pointsman.cli.measure_options import Again, Settings
from pointsman.errors import RunError, UsageError
from pointsman.inputs.messages import counted

if TYPE_CHECKING:
    from pointsman.measure.bench import Bench
    from pointsman.measure.names import Model
    from pointsman.measure.plan import Item, Outcome
    from pointsman.measure.pool import Pool
    from pointsman.measure.process import Slot
    from pointsman.measure.rows import Row, RowFile

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
WORDS: Final = ("model", "model_a", "model_b", "gpu_type", "others", "reason")


def measure_rows(
    kind: str,
    columns: tuple[str, ...],
    how: Settings,
    models: "Sequence[Model]",
    slot: "Slot",
    plan: "Callable[[Bench], list[Item]]",
) -> None:
    """Measure a plan, and show its rows."""
    outcome = measure(columns, how, models, slot, plan, how.rounds * how.round_s)
    shown = (*SHOWN[kind], "spread", "disturbed", *(["reason"] if any(row["reason"] for row in outcome.rows) else []))
    screen.show([{name: _number(row[name]) for name in shown} for row in outcome.rows], how.format, left=WORDS)
    check_outcome(outcome, how.minutes)
    unsteady = sum(_is_unsteady(row, how) for row in outcome.rows)
    if unsteady:
        rows = counted(unsteady, "row has", "rows have")
        screen.note(f"{rows} a spread above {how.spread_limit:g}; --again unsteady measures what is unsteady again")
    use = USE[kind].format(how.output) + (_profiles_of(models) if kind == "node" else "")
    screen.note(f"{how.output}: {count_rows(outcome)}; use it with 'pointsman {use}'")


def measure(
    columns: tuple[str, ...],
    how: Settings,
    models: "Sequence[Model]",
    slot: "Slot",
    plan: "Callable[[Bench], list[Item]]",
    run_s: float,
) -> "Outcome":
    """Measure a plan, of which a run takes at least `run_s` seconds, and add its rows to the file."""
    from pointsman.inputs.output_path import check_output_file
    from pointsman.measure.plan import Budget, work_off
    from pointsman.measure.pool import Pool
    from pointsman.measure.rows import RowFile
    from pointsman.speed.profiles.catalogue import load_catalogue

    begin_s = time.monotonic()
    until_s = inf if how.minutes is None else begin_s + 60 * how.minutes
    check_output_file(how.output, force=True)
    _need_torch(models, slot)
    with Pool(how.deadline_s) as pool:
        bench = _bench(pool, slot, how)
        if not load_catalogue().knows_gpu(bench.machine.gpu_type):
            name = bench.machine.gpu_type
            screen.note(f"no GPU type of the catalogue is named {name!r:.60}; readers need --profiles FILE with it")
        pool.stop_at(until_s)
        items = plan(bench)
        with RowFile(how.output, columns, force=how.force) as file, _interruptions_noted(file):
            file.check_environment(bench.machine.gpu_type, bench.about())
            with screen.progress("measuring") as bar:
                return work_off(
                    items,
                    file,
                    bench.about(),
                    Budget(until_s, run_s, begin_s),
                    bar.update,
                    again=lambda row: _is_wanted_again(row, how),
                    check=lambda settings: bench.check(settings, slot),
                )


@contextmanager
def _interruptions_noted(file: "RowFile") -> Generator[None]:
    """Who interrupts a measurement reads what is kept."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if file.rows:
            rows = counted(len(file.rows), "row is", "rows are")
            screen.note(f"{file.path}: {rows} kept, and the same command goes on")
        raise


def check_outcome(outcome: "Outcome", minutes: float | None) -> None:
    """Say what has failed and what was left out; RunError if nothing was measured."""
    for failure in outcome.failures:
        screen.note(f"failed: {failure}")
    if outcome.left_out:
        _note_what_is_left_out(outcome, minutes)
    if failed_before := sum(bool(row["reason"]) for row in outcome.kept):
        rows = counted(failed_before, "row")
        screen.note(f"{rows} failed in an earlier run; --again failed measures again what has failed")
    if all(row["reason"] for row in outcome.rows):
        reason = outcome.rows[0]["reason"] if outcome.rows else "there was no time for any"
        raise RunError(f"nothing was measured: {reason}")


def _profiles_of(models: "Sequence[Model]") -> str:
    """An option for the profiles that the catalogue lacks, if any, which are a result of ``measure step``."""
    from pointsman.speed.profiles.catalogue import load_catalogue

    unknown = [model.name for model in models if not load_catalogue().knows(model.name)]
    if unknown:
        screen.note(f"not in the catalogue: {', '.join(unknown)}; 'measure step' and 'profile fit' make profiles.yaml")
    return " --profiles profiles.yaml" if unknown else ""


def count_rows(outcome: "Outcome") -> str:
    """How many rows are new, kept and failed."""
    return f"rows: {outcome.measured} measured, {len(outcome.kept)} kept, {outcome.failed} failed"


def _note_what_is_left_out(outcome: "Outcome", minutes: float | None) -> None:
    """Say what, about how long it takes, and in which time the same command gets on."""
    takes_s = sum(outcome.left_out.values())
    about = f", about {max(0.1, (outcome.start_s + takes_s) / 60):.1f} min" if takes_s else ""
    titles = "; ".join(outcome.left_out)
    screen.note(f"{counted(len(outcome.left_out), 'measurement')} left out for lack of time{about}: {titles}")
    for title, had_s in outcome.ended.items():
        screen.note(f"{title} did not end within {had_s:.0f} s")
    if outcome.ended or (minutes is not None and 60 * minutes < outcome.least_s()):
        least = max(0.1, ceil(outcome.least_s() / 6) / 10)
        screen.note(f"give the same command at least --minutes {least:g}; what is in the file is kept")
    else:
        screen.note("the same command measures them, too; what is in the file is kept")


def _is_wanted_again(row: "Row", how: Settings) -> bool:
    return (Again.failed in how.again and bool(row["reason"])) or (
        Again.unsteady in how.again and _is_unsteady(row, how)
    )


def _is_unsteady(row: "Row", how: Settings) -> bool:
    """Whether rounds differ by more than the limit, or a cell that was edited does not say."""
    from pointsman.speed.measured_rows import spread_of

    return spread_of(row["spread"]) > how.spread_limit


def _bench(pool: "Pool", slot: "Slot", how: Settings) -> "Bench":
    from pointsman.measure.bench import Bench
    from pointsman.measure.machine import machine_of
    from pointsman.measure.process import JobFailed
    from pointsman.measure.rounds import Limits

    try:
        device = pool.describe(slot)
    except JobFailed as failure:
        raise RunError(f"--device {slot.device}: {failure}") from None
    limits = Limits(how.rounds, how.round_s, how.spread_limit, 3 * how.rounds)
    return Bench(pool, machine_of(device, slot, how.gpu_type), limits, how.precision.value)


def _number(text: str) -> Any:
    """The cell as a number, if it is one; None where it is empty."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


def _need_torch(models: "Sequence[Model]", slot: "Slot") -> None:
    """UsageError where PyTorch is needed and not installed; functions of the user's need none on a CPU."""
    from importlib.util import find_spec

    if find_spec("torch") is None and (slot.device != "cpu" or any(":" not in model.definition for model in models)):
        raise UsageError("training needs PyTorch: pip install 'pointsman[learn]'")
