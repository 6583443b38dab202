"""``measure overheads``: what it takes to start a job, to write and read a checkpoint, and to stop on a signal."""

import hashlib
import os
import platform
import shutil
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

import yaml

from pointsman.measure.bench import Bench
from pointsman.measure.machine import clock_mhz
from pointsman.measure.messages import Setting
from pointsman.measure.names import Model
from pointsman.measure.plan import Cells, Item
from pointsman.measure.process import JobProcess, Slot
from pointsman.measure.rows import Row
from pointsman.speed.measured_rows import ABOUT

STAGES: Final = ("process_s", "imports_s", "device_s", "model_s", "first_step_s")
"""Parts of a start, in order: the interpreter, PyTorch, CUDA, the model and its data, one step."""
PARTS: Final = (*STAGES, "start_s", "write_s", "read_s", "stop_s")
COLUMNS: Final = ("model", "gpu_type", "batch", "round", *PARTS, "checkpoint_bytes", *ABOUT)
_RUN_S: Final = 0.5


def items(bench: Bench, slot: Slot, model: Model, batch: int, folder: Path, rounds: int) -> list[Item]:
    """Lives of a job, which writes its checkpoints to the directory `folder`."""
    setting = bench.setting(model.definition, batch)
    known = {"model": model.name, "gpu_type": bench.machine.gpu_type, "batch": batch}

    def measured() -> list[Cells]:
        bench.pool.drop()  # a job that is ready would hold memory beside the one that starts
        remove_checkpoints(folder)
        folder.mkdir()
        try:
            times = live_once(bench.pool.start(slot), setting, folder)
        finally:
            bench.pool.drop()
            remove_checkpoints(folder)
        return [{**times, "rounds": 1, "clock_mhz": clock_mhz(bench.machine, slot)}]

    return [
        Item(f"{model.name}, round {number}", [{**known, "round": number}], measured, [setting])
        for number in range(1, rounds + 1)
    ]


def live_once(job: JobProcess, setting: Setting, folder: Path) -> Cells:
    """Start a job, save and load its state in the directory `folder`, and terminate it: the seconds of each part.

    Raises:
        JobFailed: it does not start, save or stop.
        TimeIsOver: before it has stopped.
    """
    ready = job.prepare(setting, warm_up_steps=1)
    saved = job.save(folder / "saved.pt")
    stop_s = job.terminate_after(_RUN_S, folder / "stopped.pt")
    reached = (job.started_s, *ready.reached)
    return {
        **dict(zip(STAGES, (after - before for before, after in pairwise(reached)), strict=True)),
        "start_s": reached[-1] - reached[0],
        "write_s": saved.write_s,
        "read_s": saved.read_s,
        "stop_s": stop_s,
        "checkpoint_bytes": saved.size_bytes,
    }


def checkpoint_folder(folder: Path, output: Path) -> Path:
    """A directory in `folder` for the checkpoints of what writes `output` on this machine: always the same one."""
    name = hashlib.sha256(platform.node().encode() + b":" + os.fsencode(output.resolve())).hexdigest()[:16]
    return folder / f".pointsman-checkpoint-{name}"


def remove_checkpoints(folder: Path) -> None:
    """Remove the directory, which a measurement that was killed has left, or there is none."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def summary(rows: Sequence[Row]) -> list[dict[str, object]]:
    """For each part the median of all rounds, the least and the most, in seconds."""
    sizes = {"write_s": int(rows[0]["checkpoint_bytes"]), "read_s": int(rows[0]["checkpoint_bytes"])}
    found = {part: [float(row[part]) for row in rows] for part in PARTS}
    return [
        {
            "what": part.removesuffix("_s"),
            "seconds": median(times),
            "least_s": min(times),
            "most_s": max(times),
            "bytes": sizes.get(part),
        }
        for part, times in found.items()
    ]


def overheads_yaml(rows: Sequence[Row]) -> str:
    """A file for ``--overheads``; what was not measured stands in its comments."""
    first = rows[0]
    source = _source(first["model"], first["batch"], first["precision"]) + first["device"]
    fields = {
        name: float(f"{median(float(row[part]) for row in rows):.4g}")
        for name, part in (("start_s", "start_s"), ("stop_s", "stop_s"), ("restore_s", "read_s"))
    }
    head = (
        source,
        "# Not measured, and to be added where it applies: scheduling, pulling an image and staging data (start_s);",
        "# the interval between checkpoints (checkpoint_every_s), which is 0 here: a failing node loses nothing.",
    )
    return "\n".join(head) + "\n" + yaml.safe_dump(fields, sort_keys=False)


def is_of(path: Path, model: Model, batch: int, precision: str) -> bool:
    """Whether a file is one that `overheads_yaml` has made of this model, batch and precision."""
    return _read(path).startswith(_source(model.name, batch, precision))


def was_edited(path: Path, rows: Sequence[Row]) -> bool:
    """Whether a file is there and none that `overheads_yaml` has made of these rows, or of the first of them."""
    known = [row for row in rows if not row["reason"]]
    return path.exists() and _read(path) not in {overheads_yaml(known[: i + 1]) for i in range(len(known))}


def _source(model: str, batch: object, precision: str) -> str:
    return f"# measured by pointsman: {model}, batch {batch}, {precision}, on "


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
