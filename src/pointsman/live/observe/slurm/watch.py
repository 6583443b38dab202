"""What observes a cluster that Slurm runs: a thread looks, and whoever asks gets what was seen last."""

import traceback
from collections.abc import Mapping
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import Final

from pointsman.errors import PointsmanError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.answers.scontrol import read_controller
from pointsman.live.backends.slurm.array_tasks import is_named, target_of, unit_of
from pointsman.live.backends.slurm.changes import hold, set_nice
from pointsman.live.backends.slurm.commands import Commands
from pointsman.live.backends.slurm.reader import Reader, ask_jobs
from pointsman.live.backends.slurm.records import Snapshot
from pointsman.live.backends.slurm.states import COMPLETING
from pointsman.live.observe.sight import Cost, Present, Sight
from pointsman.live.observe.slurm.accounts import with_ends
from pointsman.live.observe.slurm.sighting import Sighting

BASIC: Final = "priority/basic"
LEAST_BASIC: Final = 2**31
"""It gives higher priorities. A job that was held has a lower one, if it lets it go for a nice value."""
HOLDS: Final[Mapping[str, bool]] = {"JobHeldUser": True, "JobHeldAdmin": False}
"""Reasons of jobs that are held, and whether by their users."""


class SlurmPriorities:
    """The nice values of Slurm's jobs."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self._priority: str | None = None
        """PriorityType; None: not asked yet."""

    def present(self) -> list[Present]:
        """Those of all jobs that have not ended, as it is asked now.

        Raises:
            Unsure: Slurm did not answer. UsageError, BackendError: a person must mend it.
        """
        jobs = ask_jobs(self._commands)[0]
        return [Present(unit_of(job.id), target_of(job.id), job.nice, job.state == COMPLETING) for job in jobs]

    def keep_held(self) -> None:
        """What is held is held again, if a nice value has let it go: under priority/basic it does.

        Raises:
            Refused, Unsure, UsageError, BackendError: some may not be.
        """
        if self._priority is None:
            self._priority = read_controller(self._commands.ask("scontrol", "--local", "show", "config").text).priority
        for job in ask_jobs(self._commands, "--states=PENDING")[0] if self._priority == BASIC else ():
            if 0 < job.priority < LEAST_BASIC and job.reason in HOLDS:
                hold(self._commands, target_of(job.id), by_user=HOLDS[job.reason])

    def set_nice(self, target: str, nice: int) -> None:
        """Lower the priority of a job, or of tasks of an array, compared with what it has of its own.

        Raises:
            Refused: it is not changed: it has ended, or this user may not. Unsure: it may be, or not.
        """
        set_nice(self._commands, target, nice)


class SlurmWatch(SlurmPriorities):
    """Looks again and again, at the pace that the controller bears."""

    title: Final = "Slurm"

    def __init__(self, reader: Reader, commands: Commands, partitions: frozenset[str] = frozenset()) -> None:
        """It has looked once; changes are made by `commands`, of jobs in these partitions, if any.

        Raises:
            Unsure: Slurm did not answer. UsageError, BackendError: a person must mend it.
        """
        super().__init__(commands)
        self._reader, self._sighting = reader, Sighting(partitions)
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

    def why_left(self, id_: str) -> str:
        """Why a job that is there is not observed; empty if none is called so."""
        left = any(is_named(id_, name) for name in self._sighting.without_gpus)
        return f"job {id_} has no GPUs, and is not observed" if left else ""

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
