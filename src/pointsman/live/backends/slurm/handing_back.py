"""Slurm starts what waits, in its own order, as it did before."""

import time
from typing import Final

from pointsman.live.backends.facts import Phase, Refused, Unsure
from pointsman.live.backends.slurm.array_tasks import target_of
from pointsman.live.backends.slurm.changes import leave, let_start, move
from pointsman.live.backends.slurm.commands import Commands
from pointsman.live.backends.slurm.marks import Marks, Partitions
from pointsman.live.backends.slurm.reader import Reader
from pointsman.live.backends.slurm.records import SlurmJob

HAND_BACK_S: Final = 90.0
"""After so long nothing more is asked of Slurm, and jobs that are being requeued are not waited for."""
QUIET_LOOKS: Final = 4
_LOOK_S: Final = 0.5


class HandingBack:
    """Hands back all jobs that wait at the gate, or were launched for the store of `marks`."""

    def __init__(self, commands: Commands, partitions: Partitions, marks: Marks) -> None:
        self._commands, self._partitions, self._marks = commands, partitions, marks
        self._reader = Reader(commands)
        self._until_s = time.monotonic() + HAND_BACK_S

    def run(self) -> list[str]:
        """All jobs that wait are Slurm's to start, and those that are being requeued once they wait. Which could not
        be handed back, and why.

        Raises:
            Unsure: Slurm does not answer.
        """
        quiet = 0
        while True:  # until nothing is left in several looks: what was asked last may not show yet
            jobs = self._reader.look().jobs
            left = [job for job in jobs if self._waits_for_us(job)]
            with self._commands.together():
                failed = {job.id: said for job in left if (said := self._hand_back(job)) is not None}
            stopping = [job.id for job in jobs if job.phase == Phase.RUNNING and self._marks.is_requeued(job)]
            quiet = 0 if left or stopping else quiet + 1
            if quiet == QUIET_LOOKS or self._is_late():
                return [f"{id_} ({said})" for id_, said in failed.items()] + [f"{id_} (it stops)" for id_ in stopping]
            time.sleep(_LOOK_S)

    def _is_late(self) -> bool:
        return time.monotonic() > self._until_s

    def _waits_for_us(self, job: SlurmJob) -> bool:
        waits = job.phase == Phase.ACCEPTED
        return waits and (self._marks.of(job) is not None or self._partitions.has_at_gate(job))

    def _hand_back(self, job: SlurmJob) -> str | None:
        """Why a job that waits could not be handed back."""
        if self._is_late():
            return "Slurm is slow"
        try:
            was_requeued = self._marks.is_requeued(job)
            if self._marks.of(job) is None:
                leave(self._commands, target_of(job.id), self._partitions.target)
            else:
                move(self._commands, job.id, self._partitions.target, [], "")
            if was_requeued and job.priority == 0:
                let_start(self._commands, job)
        except (Refused, Unsure) as error:
            return str(error)
        self._marks.put(job.id, None)
        return None
