"""What a daemon needs of whatever runs its jobs: local processes, Slurm, Kubernetes, or a simulated cluster."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from pointsman.cluster import Cluster
from pointsman.live.backends.facts import AttemptId, Launch, Observation, Stop


@dataclass(frozen=True)
class Patience:
    """How long a backend may take, ms, before something is thought to have gone wrong."""

    start_ms: int = 60_000
    """From a launch until it runs."""
    lost_ms: int = 30_000
    """From when a running attempt is first missing until it counts as lost."""
    stop_ms: int = 60_000
    """From a request to stop until it is made again, harder."""
    blames: bool = True
    """Whether nodes on which starts fail again and again are to be drained."""


class Backend(Protocol):
    """Each method may be called again after any failure: all are idempotent by the attempt."""

    patience: Patience

    def describe(self) -> Cluster:
        """The nodes and their GPUs."""
        ...

    def observe(self) -> Observation:
        """All nodes, and every attempt that bears our mark, now.

        Raises:
            Unsure: it cannot be reached. Nothing follows from that.
        """
        ...

    def launch(self, launch: Launch) -> None:
        """Have it run; returns once it is accepted. An attempt that is there, or has ended, is not run again.

        Raises:
            Refused: it surely does not run, and will not. Unsure: it may, or may not.
        """
        ...

    def stop(self, attempt: AttemptId, how: Stop) -> None:
        """Have it end; returns once that is accepted. Of what has ended, or never was, nothing remains to be done.

        Raises:
            Unsure: it may not have been heard.
        """
        ...

    def forget(self, attempts: Iterable[AttemptId], jobs: Iterable[int]) -> None:
        """What became of these attempts is kept elsewhere, and these jobs have ended: their records are not needed any
        more.
        """
        ...

    def progress(self, job: int) -> float | None:
        """How much of its work a job says is done, from 0 to 1; None if it says nothing."""
        ...

    def close(self) -> None:
        """Let go of everything but the attempts."""
        ...
