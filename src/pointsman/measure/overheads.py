"""``measure overheads``: what it takes to start a job, to write and read a checkpoint, and to stop on a signal."""

import csv
import io
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import yaml

from pointsman.measure.messages import Prepared, Saved, Setting
from pointsman.measure.process import JobProcess, Slot
from pointsman.measure.rows import cell
from pointsman.speed.measured_rows import ABOUT

COLUMNS: Final = ("model", "gpu_type", "batch", "what", "seconds", "least_s", "most_s", "bytes", *ABOUT)
STAGES: Final = ("process", "imports", "device", "model", "first_step")
"""Parts of a start, in order: the interpreter, PyTorch, CUDA, the model and its data, one step."""
_RUN_S: Final = 0.5


class Cycle(NamedTuple):
    """One life of a job, in seconds."""

    stages: tuple[float, ...]
    saved: Saved
    stop_s: float

    def seconds(self) -> dict[str, float]:
        """Each part by name, and their sums."""
        parts = dict(zip(STAGES, self.stages, strict=True))
        return {
            **parts,
            "start": sum(self.stages),
            "write": self.saved.write_s,
            "read": self.saved.read_s,
            "stop": self.stop_s,
        }


def live_once(setting: Setting, slot: Slot, folder: Path, deadline_s: float) -> Cycle:
    """Start a job, save and load its state, and terminate it: checkpoints are written to `folder`.

    Raises:
        JobFailed: it does not start, save or stop.
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix="checkpoint-") as place:
        job = JobProcess(slot, deadline_s)
        try:
            ready = job.prepare(setting, warm_up_steps=1)
            saved = job.save(Path(place) / "saved.pt")
            stop_s = job.terminate_after(_RUN_S, Path(place) / "stopped.pt")
        finally:
            job.close()
    return Cycle(_stages(job.started_s, ready), saved, stop_s)


def _stages(started_s: float, ready: Prepared) -> tuple[float, ...]:
    return tuple(after - before for before, after in pairwise((started_s, *ready.reached)))


def table(cycles: Sequence[Cycle], known: dict[str, object]) -> list[dict[str, object]]:
    """A row for each part: the median of all cycles, the least and the most."""
    seconds = [cycle.seconds() for cycle in cycles]
    known = {**known, "measured_at": datetime.now(UTC).isoformat(timespec="seconds")}
    sizes = {"write": cycles[0].saved.size_bytes, "read": cycles[0].saved.size_bytes}
    rows = []
    for what in seconds[0]:
        found = [each[what] for each in seconds]
        times = {"seconds": median(found), "least_s": min(found), "most_s": max(found)}
        rows.append({**known, "what": what, **times, "bytes": sizes.get(what), "rounds": len(cycles)})
    return rows


def overheads_yaml(rows: Sequence[dict[str, object]], source: str) -> str:
    """A file for ``--overheads``; what was not measured stands in its comments."""
    seconds = {str(row["what"]): float(f"{row['seconds']:.4g}") for row in rows}
    fields = {"start_s": seconds["start"], "stop_s": seconds["stop"], "restore_s": seconds["read"]}
    head = (
        f"# {source}",
        "# Not measured, and to be added where it applies: scheduling, pulling an image and staging data (start_s);",
        "# the interval between checkpoints (checkpoint_every_s), which is 0 here: a failing node loses nothing.",
    )
    return "\n".join(head) + "\n" + yaml.safe_dump(fields, sort_keys=False)


def table_csv(rows: Sequence[dict[str, object]]) -> str:
    """The table as CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([cell(row.get(column)) for column in COLUMNS] for row in rows)
    return text.getvalue()
