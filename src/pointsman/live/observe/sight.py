"""What is seen of a cluster on which another scheduler decides. Times are milliseconds since 1970 by its clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from pointsman.live.world.kind import Kind
from pointsman.types import JobState, NodeState


class Run(NamedTuple):
    """One start of a job."""

    begin_unix_ms: int
    gpus: tuple[tuple[str, int], ...]
    """(node, how many of its GPUs)."""
    end_unix_ms: int | None = None
    """None: it runs."""
    restarts: int = 0
    """How often its job had been started before."""


@dataclass(frozen=True)
class SeenJob:
    """A job, as its scheduler shows it."""

    key: str
    """No other job ever has the same."""
    shown: str
    """What its scheduler calls it."""
    submit_unix_ms: int
    kind: Kind = field(default_factory=Kind)
    nodes: int | None = None
    """That it asks for."""
    uid: int = -1
    name: str = ""
    limit_ms: int | None = None
    priority: int = 0
    """That its scheduler has worked out; policies have their own order."""
    nice: int = 0
    unit: str = ""
    """What has this priority: it, or all tasks of its array that wait and have none of their own."""
    target: str = ""
    """By which that is changed."""
    requeues: bool = False
    names_nodes: bool = False
    """Whether it says on which nodes it must run."""
    held: str = ""
    """Why it could not start now, whoever decided."""
    run: Run | None = None
    """The last one."""
    ended: JobState | None = None
    """How it ended; None: it waits or runs."""
    end_unix_ms: int | None = None
    is_gone: bool = False
    """Whether it is not listed any more: how and when it ended is not known from that."""

    @property
    def waits(self) -> bool:
        """Whether it could start now."""
        return self.ended is None and not self.held and (self.run is None or self.run.end_unix_ms is not None)


@dataclass(frozen=True)
class Sight:
    """All jobs that have not ended, those that have ended since the last look, and all nodes."""

    jobs: Mapping[str, SeenJob]
    nodes: Mapping[str, NodeState]
    unix_ms: int
    gpus: Mapping[str, int] = field(default_factory=dict)
    """Those that these nodes have."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why these nodes take no jobs."""
    odd: tuple[str, ...] = ()
    """What a person should know of the scheduler, a sentence each."""


class Looks(Protocol):
    """What looks at a cluster on which another scheduler decides."""

    title: str
    """What that is called."""

    def latest(self) -> Sight | None:
        """What was seen since the last time; None: nothing."""
        ...


class Present(NamedTuple):
    """The nice value that a job has now, or tasks of an array have, be it that they wait or run."""

    unit: str
    target: str
    nice: int
    ends: bool = False
    """Whether it ends just now, be it that it waits again then."""


class Cost(NamedTuple):
    """What one kind of question costs."""

    requests: int
    """Those to the other scheduler, in the last minute."""
    last_s: float
    """How long the last answer took."""
