"""What observes a cluster that Slurm runs: a thread looks, and whoever asks gets what was seen last."""

import traceback
from collections.abc import Mapping
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import Final

from pointsman.errors import PointsmanError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.array_tasks import target_of, unit_of
from pointsman.live.backends.slurm.changes import set_nice
from pointsman.live.backends.slurm.commands import Commands
from pointsman.live.backends.slurm.reader import Reader, ask_jobs
from pointsman.live.backends.slurm.records import Snapshot
from pointsman.live.backends.slurm.states import COMPLETING
from pointsman.live.observe.sight import Cost, Present, Sight
from pointsman.live.observe.slurm.accounts import with_ends
from pointsman.live.observe.slurm.sighting import Sighting


class SlurmPriorities:
    """The nice values of Slurm's jobs."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def present(self) -> list[Present]:
        """Those of all jobs that have not ended, as it is asked now.

        Raises:
            Unsure: Slurm did not answer. UsageError, BackendError: a person must mend it.
        """
        jobs = [job for job in ask_jobs(self._commands)[0] if job.state != COMPLETING]
        return [Present(unit_of(job.id), target_of(job.id), job.nice) for job in jobs]

    def set_nice(self, target: str, nice: int) -> None:
        """Lower the priority of a job, or of tasks of an array, compared with what it has of its own.

        Raises:
            Refused: it is not changed: it has ended, or this user may not. Unsure: it may be, or not.
        """
        set_nice(self._commands, target, nice)


class SlurmWatch(SlurmPriorities):
    """Looks again and again, at the pace that the controller bears."""

    title: Final = "Slurm"

    def __init__(self, reader: Reader, commands: Commands) -> None:
        """It has looked once; changes are made by `commands`.

        Raises:
            Unsure: Slurm did not answer. UsageError, BackendError: a person must mend it.
        """
        super().__init__(commands)
        self._reader, self._sighting = reader, Sighting()
        self._latest: Sight | None = None
        self.trouble = ""
        """Why the last look showed nothing; empty if it did."""
        self._lock, self._stop = Lock(), Event()
        self.first = reader.look()
        self._thread = Thread(target=self._look_on, daemon=True)

    def begin(self, keys: Mapping[str, bool]) -> None:
        """Look from now on; `keys` are those of jobs that were seen lately by another, and whether they have ended."""
        self._sighting.recall(keys)
        self._latest = self._sight(self.first)
        self._thread.start()

    def latest(self) -> Sight | None:
        """What was seen since the last time; None: nothing."""
        with self._lock:
            seen, self._latest = self._latest, None
        return seen

    def costs(self) -> dict[str, Cost]:
        """What looking costs Slurm's controller, by the command."""
        return {kind: Cost(load.rpcs_a_minute, load.last_s) for kind, load in self._reader.load().items()}

    def progress(self, job: int) -> float | None:
        """Slurm's jobs do not say how far they are."""
        return None

    @property
    def interval_s(self) -> float:
        """Between two looks, now."""
        return self._reader.pace.interval_s

    def close(self) -> None:
        """Look no more."""
        self._stop.set()

    def _look_on(self) -> None:
        while not self._stop.wait(self._reader.pace.interval_s):
            try:
                self._keep(self._sight(self._reader.look()))
                self.trouble = ""
            except (Unsure, PointsmanError) as error:  # it may pass: commands are being replaced, rights are given
                self.trouble = str(error)
            except Exception as error:  # what nobody has thought of ends no looks
                if self.trouble != repr(error):
                    traceback.print_exc()
                self.trouble = repr(error)

    def _sight(self, snapshot: Snapshot) -> Sight:
        return with_ends(self._sighting.sight(snapshot), self._reader.ended)

    def _keep(self, seen: Sight) -> None:
        with self._lock:
            self._latest = seen if self._latest is None else _joined(self._latest, seen)


def _joined(before: Sight, seen: Sight) -> Sight:
    """Nothing that ended before is lost, if nobody asked meanwhile."""
    ended = {key: job for key, job in before.jobs.items() if job.ended is not None}
    return replace(seen, jobs=ended | dict(seen.jobs))
