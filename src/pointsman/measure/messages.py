"""What a measurement and the process of a job say to each other."""

import os
from typing import Final, Literal, NamedTuple

RELEASE: Final = "release"
STOP: Final = "stop"
ENOUGH: Final = "enough"
"""A job has run for as long as it was asked to, and runs on until `STOP`."""

Cause = Literal["out of memory", "crash", "usage"]


class Setting(NamedTuple):
    """A training, and how it is run."""

    model: str
    """The name of one that ships, or ``/path/file.py:function``."""
    batch: int
    """Samples of a step."""
    parts: int = 1
    """Into which the batch is cut."""
    precision: str = "fp32"


class Describe(NamedTuple):
    """Say what this device is."""

    device: str


class Prepare(NamedTuple):
    """Build the training on this device and run some steps."""

    setting: Setting
    device: str
    warm_up_steps: int


class Prepared(NamedTuple):
    """It is ready."""

    reached: tuple[float, ...]
    """When it began, and when PyTorch was imported, the device and the model were ready, and each step of the warm-up
    was over: on the monotonic clock of the machine, in seconds."""
    gradient_bytes: int
    """Size of all gradients; 0 if the step does not tell its parameters."""


class Released(NamedTuple):
    """It holds no training."""

    has_workers: bool
    """Whether processes that the training has started run on."""


class Run(NamedTuple):
    """Step for that many seconds, and at least that many steps."""

    seconds: float
    steps: int


class Steps(NamedTuple):
    """What a run was like."""

    times_s: list[float]
    """When it began and when each step ended, on the monotonic clock, in seconds."""
    cpu_s: float
    """Processor time of the job and its workers meanwhile."""
    memory_bytes: int
    """The most that it held: of the GPU what PyTorch allocated, on a CPU what was resident."""


class Save(NamedTuple):
    """Write a checkpoint and read it back."""

    path: str


class Saved(NamedTuple):
    """How that went."""

    size_bytes: int
    write_s: float
    read_s: float


class RunUntilTerminated(NamedTuple):
    """Step until SIGTERM, then write a checkpoint and exit."""

    path: str


class Device(NamedTuple):
    """What a job sees of its device."""

    name: str
    uuid: str
    """Empty on a CPU."""
    versions: str


class Failed(NamedTuple):
    """The last words of a job."""

    cause: Cause
    text: str
    at: str = ""
    """The innermost line of the user's files that was reached, as ``mine.py:12``; empty if there is none."""


def folder_of(setting: Setting) -> str:
    """The folder of the user's file; empty for a model that ships."""
    return os.path.dirname(setting.model.rpartition(":")[0])


def one_line(text: str) -> str:
    """A text without what a line of a file or of a terminal cannot hold."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
