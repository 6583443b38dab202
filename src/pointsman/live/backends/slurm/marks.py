"""Which jobs of Slurm were launched, and for which attempts: marks in AdminComment, which name the store."""

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pointsman.live.backends.facts import AttemptId, Phase
from pointsman.live.backends.slurm.as_facts import Mark
from pointsman.live.backends.slurm.records import SlurmJob

_MARK: Final = re.compile(r"pointsman:(?P<store>[0-9a-f]+):(?P<job>\d+):(?P<attempt>\d+):(?P<restarts>\d+)")


@dataclass(frozen=True)
class Partitions:
    """Where jobs wait, and where they run."""

    gate: str = "inbox"
    """Its State is DOWN."""
    target: str = "gpu"

    def has_at_gate(self, job: SlurmJob) -> bool:
        """Whether a job waits to be launched."""
        return job.phase == Phase.ACCEPTED and job.partitions == (self.gate,)


def store_of(job: SlurmJob) -> str | None:
    """The name of the store by whose daemon a job was launched last; None if it never was."""
    found = _MARK.fullmatch(job.admin_comment)
    return None if found is None else found["store"]


class Marks:
    """Those of the store in `folder`, and what is known besides of jobs whose marks are gone."""

    def __init__(self, folder: Path, partitions: Partitions) -> None:
        self._partitions = partitions
        self.store = _name_of(folder / "slurm-mark")
        self._launched: dict[str, Mark] = {}
        """By their ids, jobs that this process has launched, or another of which it was told."""
        self._recalled: dict[str, AttemptId] = {}

    def of(self, job: SlurmJob) -> Mark | None:
        """That of the attempt for which a job was launched last; None if it never was, or by another store."""
        found = _MARK.fullmatch(job.admin_comment)
        if found is None or found["store"] != self.store:
            return None if self._partitions.has_at_gate(job) else self._launched.get(job.id)
        return Mark(AttemptId(int(found["job"]), int(found["attempt"])), int(found["restarts"]))

    def is_requeued(self, job: SlurmJob) -> bool:
        """Whether the attempt for which a job was launched last is over, and it waits again or will."""
        mark = self.of(job)
        return mark is not None and job.restarts > mark.restarts

    def comment(self, mark: Mark) -> str:
        """What AdminComment is to say."""
        return f"pointsman:{self.store}:{mark.attempt.job}:{mark.attempt.attempt}:{mark.restarts}"

    def put(self, id_: str, mark: Mark | None) -> Mark | None:
        """A job has this mark from now on, if any; that which it had before."""
        before = self._launched.pop(id_, None)
        if mark is not None:
            self._launched[id_] = mark
        return before

    def remember(self, id_: str, attempt: AttemptId) -> None:
        """Another process has launched a job, which is known even if its mark is gone: how often it had been requeued
        before is not known then, and is taken to be as often as when it is seen first.
        """
        self._recalled[id_] = attempt

    def recall(self, jobs: Iterable[SlurmJob]) -> None:
        """These jobs are seen."""
        for job in jobs if self._recalled else ():
            if (attempt := self._recalled.pop(job.id, None)) is not None:
                self._launched.setdefault(job.id, Mark(attempt, job.restarts))


def _name_of(place: Path) -> str:
    """A name of a store that no other has."""
    if not place.exists():
        place.write_text(secrets.token_hex(4))
    return place.read_text().strip()
