"""What a daemon keeps of a job that was submitted."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pointsman.live.backends.facts import Stop
from pointsman.live.world.kind import Kind
from pointsman.live.world.live_world import Ask


@dataclass(frozen=True)
class Job:
    """As its user asked for it."""

    ask: Ask
    kind: Kind = field(default_factory=Kind)
    """What it is alike in with other jobs."""
    number: int = 0
    """The number of its kind, among those that the world knew when it was submitted (`pointsman.live.world.roster`)."""
    name: str = ""
    limit_ms: int | None = None
    """How long one attempt of it may run."""
    slack_ms: int = 0
    """For so much longer it is left alone, because another ends it at its limit."""
    held: bool = False
    """Its user holds it from the beginning."""
    requeues: bool = False
    """It waits again if an attempt is lost through no fault of its own; else it has failed."""
    zero_is_done: bool = False
    """Its exit code is 0 only if its work is done, even if it was asked to stop. Without that promise a job that is
    preempted and exits with 0 runs again: it may have written a checkpoint and gone."""
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    """Where its command runs."""
    output: str = ""
    """File to which its command writes; none: it is kept for as long as the attempt is."""
    error: str = ""
    """File for what it writes to standard error; none: the same."""
    stop: Stop = field(default_factory=Stop)
    uid: int = -1
    """Who submitted it; -1: whoever owns the daemon."""
    request_key: str | None = None
    """A submission by the same user with the same key is the same job."""
    shown: str = ""
    """What another scheduler, which runs it, calls it."""
