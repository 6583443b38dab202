"""What passes between a daemon and the backend that runs its jobs. Facts are levels, not edges: one heard twice, late
or out of order means the same each time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from pointsman.types import JobState, NodeState


class AttemptId(NamedTuple):
    """One start of a job; no two have the same."""

    job: int
    attempt: int


class Phase(IntEnum):
    """How far a backend has come with an attempt."""

    ABSENT = 0
    """It is not known there: never accepted, or forgotten."""
    ACCEPTED = 1
    RUNNING = 2
    ENDED = 3
    """No process of it lives, and its GPUs are free."""


@dataclass(frozen=True)
class Exit:
    """How an attempt ended."""

    code: int | None = None
    """None: nobody saw it."""
    signal: int | None = None
    ran: bool = True
    """False: it was kept from beginning by something that is no fault of its own."""
    asked: bool = False
    """Whether it had been asked to stop before."""
    state: JobState | None = None
    """What it is to its job, if whoever ran it says so."""
    detail: str = field(default="", compare=False)
    """What a person should know of it."""

    @property
    def succeeded(self) -> bool:
        """Whether its command did what it was to do."""
        return self.ran and self.code == 0


Parts = tuple[tuple[str, int], ...]
"""(node, mask of its GPUs)."""


def gpus_in(mask: int) -> list[int]:
    """The indexes of the GPUs of a mask."""
    found = []
    while mask:
        found.append((mask & -mask).bit_length() - 1)
        mask &= mask - 1
    return found


def gpus_of(parts: Parts) -> Iterator[tuple[str, int]]:
    """(node, GPU) of each."""
    for node, mask in parts:
        yield from ((node, gpu) for gpu in gpus_in(mask))


def output_name(output: str, id_: AttemptId) -> str:
    """The file of an attempt, as its user named it with %j for the job and %a for the attempt."""
    return output.replace("%j", str(id_.job)).replace("%a", str(id_.attempt))


@dataclass(frozen=True)
class Launch:
    """An attempt that is to run on these GPUs."""

    id: AttemptId
    parts: Parts
    command: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    folder: str = ""
    output: str = ""
    """File to which the command writes, as it sees the name; %j is its job, %a the attempt."""
    uid: int = -1
    error: str = ""
    """File for standard error, named alike; none: the same."""


@dataclass(frozen=True)
class Stop:
    """How an attempt is to be ended: asked, then told, then killed."""

    checkpoint_s: float = 0.0
    """Between the signal that asks for a checkpoint and SIGTERM."""
    grace_s: float = 30.0
    """Between SIGTERM and SIGKILL."""


@dataclass(frozen=True)
class AttemptFact:
    """What a backend knows of an attempt that bears our mark."""

    id: AttemptId
    phase: Phase
    parts: Parts = ()
    exit: Exit | None = None
    """Once it has ENDED."""
    began_unix_ms: int | None = None
    """When its command was begun, by the backend's clock, if that is known better than by looking."""
    ended_unix_ms: int | None = None


@dataclass(frozen=True)
class NodeFact:
    """What a backend knows of a node."""

    name: str
    state: NodeState
    reason: str = ""


@dataclass(frozen=True)
class Observation:
    """Everything that a backend knows, at once."""

    attempts: tuple[AttemptFact, ...] = ()
    nodes: tuple[NodeFact, ...] = ()
    complete: bool = True
    """False: somebody did not answer, and nothing follows from what is absent."""
    unix_ms: int | None = None
    """What the backend's clock showed, if its facts have times."""


class Refused(Exception):
    """The backend will not launch this, and surely does not run it."""


class Denied(Refused):
    """This process's user may not do so: a person must mend that."""


class Unsure(Exception):
    """It may have been done, or not: it is to be looked at."""
