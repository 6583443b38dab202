"""What a daemon knows of its jobs' attempts, beside the world: the store keeps it, and `reconcile` reads it."""

from dataclasses import dataclass, replace
from enum import StrEnum

from pointsman.live.backends.facts import AttemptId, Exit, Parts
from pointsman.live.records.job import Job


class Stage(StrEnum):
    """How far an attempt has come, as far as the daemon knows."""

    INTENDED = "INTENDED"
    """It was decided, and is written down; nobody may have been told."""
    SENT = "SENT"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"
    ENDED = "ENDED"


class Cause(StrEnum):
    """Why an attempt is to stop."""

    PREEMPT = "preempt"
    CANCEL = "cancel"
    REQUEUE = "requeue"
    TIME_LIMIT = "time_limit"
    START_TIMEOUT = "start_timeout"
    LOST = "lost"
    """The backend has forgotten that it runs, and may run it again."""


@dataclass(frozen=True)
class Attempt:
    """One start of a job."""

    id: AttemptId
    parts: Parts
    stage: Stage
    intended_ms: int
    sent_ms: int | None = None
    started_ms: int | None = None
    stopping_ms: int | None = None
    """When it was decided that it stops."""
    stop_ms: int | None = None
    """When its backend was last heard to have been asked to stop it."""
    missing_ms: int | None = None
    """Since when complete observations have lacked it."""
    ended_ms: int | None = None
    real_start_ms: int | None = None
    """When it really began, if its backend knows better than by looking."""
    real_end_ms: int | None = None
    cause: Cause | None = None
    exit: Exit | None = None
    zero_is_done: bool = False
    requeues: bool = True
    """Whether its job waits again if the attempt is lost through no fault of its own."""

    def as_promised(self, job: Job) -> "Attempt":
        """With what its job promises."""
        return replace(self, requeues=job.requeues, zero_is_done=job.zero_is_done)

    def stopping(self, cause: Cause, at_ms: int) -> "Attempt":
        """As it is once it was decided that it stops."""
        return replace(self, stage=Stage.STOPPING, cause=cause, stopping_ms=at_ms, stop_ms=None)
