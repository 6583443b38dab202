"""For trainings that Pointsman runs: which GPUs, where to keep checkpoints, and whether to stop. Standard library only.

A training loop asks `stopping` between steps, saves a checkpoint in `checkpoint_folder`, and leaves with `PREEMPTED`::

    for step in range(first, steps):
        train(step)
        job.report((step + 1) / steps)
        if job.stopping():
            save(job.checkpoint_folder() / "last.npz", step)
            sys.exit(job.PREEMPTED)
    job.finish()
"""

import os
import signal
from pathlib import Path
from typing import Final

PREEMPTED: Final = 75
"""Exit code of a training that has saved its state and is to run again (EX_TEMPFAIL)."""

PROGRESS: Final = ".progress"
"""File in the checkpoint folder: how much of the work is done."""

_asked = False


def number() -> int | None:
    """The job's id; None outside of Pointsman."""
    return int(text) if (text := os.environ.get("POINTSMAN_JOB_ID")) else None


def attempt() -> int:
    """Which start of the job this is, from 1."""
    return int(os.environ.get("POINTSMAN_ATTEMPT", "1"))


def gpus() -> list[int]:
    """The indexes of the GPUs on this node."""
    return [int(gpu) for gpu in os.environ.get("POINTSMAN_GPUS", "").split(",") if gpu]


def checkpoint_folder() -> Path:
    """A folder that every attempt of the job finds as the one before has left it; the present one outside."""
    return Path(os.environ.get("POINTSMAN_CHECKPOINT_DIR", "."))


def report(share: float) -> None:
    """Say how much of the work is done, from 0 to 1, as `pointsman show` and `explain` tell; of no effect elsewhere."""
    if "POINTSMAN_CHECKPOINT_DIR" in os.environ:
        path = checkpoint_folder() / PROGRESS
        draft = path.with_name(f"{PROGRESS}.{os.getpid()}")
        draft.write_text(f"{share:.6f}\n")
        draft.replace(path)


def listen() -> None:
    """Let `stopping` hear SIGUSR1, which asks for a checkpoint, and SIGTERM. In the main thread; `stopping` does it
    where that is not too late.
    """
    for one in (signal.SIGUSR1, signal.SIGTERM):
        signal.signal(one, _note)


def stopping() -> bool:
    """Whether the job was asked to stop: it is to save its state and leave with `PREEMPTED`."""
    if signal.getsignal(signal.SIGTERM) is not _note:
        listen()
    return _asked


def finish() -> None:
    """Ignore requests to stop from now on: the work is done, and the process is about to end."""
    for one in (signal.SIGUSR1, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)


def _note(number: int, frame: object) -> None:
    global _asked
    _asked = True
