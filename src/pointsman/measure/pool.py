"""The processes of jobs, kept from one measurement to the next: starting one takes seconds."""

from collections.abc import Sequence
from math import inf
from string import ascii_lowercase
from typing import Self

from pointsman.errors import UsageError
from pointsman.measure.messages import Device, Setting
from pointsman.measure.process import JobFailed, JobProcess, Slot

WARM_UP_STEPS = 3
Place = tuple[Setting, Slot]
"""A training, and where it runs."""


class Pool:
    """Processes of jobs. Those that a measurement does not need hold no memory of their device."""

    def __init__(self, deadline_s: float) -> None:
        self._deadline_s, self._until_s = deadline_s, inf
        self._jobs: list[JobProcess] = []
        self.gradient_bytes: dict[str, int] = {}
        """Size of the gradients of each model that was prepared."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for job in self._jobs:
            job.close()

    def take(self, places: Sequence[Place]) -> list[JobProcess]:
        """A prepared job for each place, in order.

        Raises:
            JobFailed: one could not be prepared; the text says which, if there are several.
        """
        found = self._match(places)
        for job in [job for job in self._jobs if job not in found]:
            self._release(job)
        for i, (job, (setting, slot)) in enumerate(zip(found, places, strict=True)):
            if job.setting != setting:
                if self._release(job):
                    found[i] = job = self.start(slot)
                try:
                    self.gradient_bytes[setting.model] = job.prepare(setting, WARM_UP_STEPS).gradient_bytes
                except JobFailed as failure:
                    raise name_job(failure, found, i) from None
        return found

    def describe(self, slot: Slot) -> Device:
        """The device of a slot."""
        (job,) = self._match([(Setting("", 0), slot)])
        return job.describe()

    def stop_at(self, until_s: float) -> None:
        """From now on what waits for a job raises TimeIsOver at that time of the monotonic clock."""
        self._until_s = until_s
        for job in self._jobs:
            job.until_s = until_s

    def check(self, setting: Setting, slot: Slot) -> None:
        """Build a training of the user's once. A lack of memory and a hang are left to the measurement.

        Raises:
            UsageError: the function is missing, fails, or returns something else.
        """
        (job,) = self._match([(setting, slot)])
        job.release()
        try:
            job.prepare(setting, 0)
            self._release(job)  # it was not warmed up
        except JobFailed as failure:
            self.drop()
            if str(failure).startswith("crash"):
                raise UsageError(f"{setting.model} cannot be trained: {failure}") from None

    def start(self, slot: Slot) -> JobProcess:
        """One more process."""
        self._jobs.append(JobProcess(slot, self._deadline_s, self._until_s))
        return self._jobs[-1]

    def drop(self) -> None:
        """End all processes: after a failure each begins anew."""
        for job in self._jobs:
            job.close()
        self._jobs.clear()

    def _release(self, job: JobProcess) -> bool:
        """Have a process give its memory back. One whose training has left workers is ended, and True returned: they
        would slow the next.
        """
        has_workers = job.release()
        if has_workers:
            self._end(job)
        return has_workers

    def _end(self, job: JobProcess) -> None:
        job.close()
        self._jobs.remove(job)

    def _remove_dead(self) -> None:
        """Forget processes that ended while they were idle."""
        for job in [job for job in self._jobs if not job.is_alive]:
            self._end(job)

    def _match(self, places: Sequence[Place]) -> list[JobProcess]:
        """A process on each slot: one that has the setting, or else any that can serve it, or else a new one."""
        self._remove_dead()
        free, found = list(self._jobs), {}
        for fits in (lambda job, setting: job.setting == setting, JobProcess.can_serve):
            for i, (setting, slot) in enumerate(places):
                job = next((job for job in free if job.slot == slot and fits(job, setting)), None)
                if i not in found and job is not None:
                    free.remove(job)
                    found[i] = job
        for i, (_, slot) in enumerate(places):
            if i not in found:
                for job in [job for job in free if job.slot == slot][:1]:
                    free.remove(job)
                    self._end(job)
                found[i] = self.start(slot)
        return [found[i] for i in range(len(places))]


def name_job(failure: JobFailed, jobs: Sequence[object], i: int) -> JobFailed:
    """The failure of one of several jobs, which says of which."""
    return JobFailed(f"job {letter(i)}: {failure}") if len(jobs) > 1 else failure


def letter(i: int) -> str:
    """What one of several jobs is called: ``a`` to ``z``, then ``27``."""
    return ascii_lowercase[i] if i < len(ascii_lowercase) else str(i + 1)
