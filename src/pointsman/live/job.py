"""What a daemon keeps of a job that was submitted."""

from dataclasses import dataclass

from pointsman.live.world import Ask


@dataclass(frozen=True)
class Job:
    """As its user asked for it."""

    ask: Ask
    limit_ms: int | None = None
    """How long one attempt of it may run."""
    requeues: bool = False
    """It waits again if an attempt is lost through no fault of its own; else it has failed."""
    uid: int = 0
    request_key: str | None = None
    """A submission by the same user with the same key is the same job."""
