"""What users call jobs: by our own numbers, or by those of the scheduler beside which a daemon runs, never by both."""

import re
from typing import Final

from pointsman.live.daemon.daemon import Daemon, NoSuchJob
from pointsman.live.records.job import Job
from pointsman.live.records.store import job_of

_NUMBER: Final = re.compile("[0-9]{1,15}")
_PLAIN: Final = re.compile("[0-9_+]+")


class JobIds:
    """The only place where ids that users give are looked up."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon

    def number_of(self, id_: str) -> int:
        """Our number of a job.

        Raises:
            NoSuchJob: there is none.
        """
        number = self._beside(id_) if self._daemon.is_beside_another else self._own(id_)
        if number is None:
            why_left = self._daemon.why_left(id_)
            raise NoSuchJob(why_left or f"there is no job {id_ if _PLAIN.fullmatch(id_) else repr(id_)}")
        return number

    def _own(self, id_: str) -> int | None:
        if not _NUMBER.fullmatch(id_):
            return None
        record = self._daemon.store.archive.record_of_job(int(id_))
        return None if record is None else int(record["id"])

    def _beside(self, id_: str) -> int | None:
        alive = {job.shown: number for number, job in self._daemon.loop.jobs.items()}
        if id_ in alive:
            return alive[id_]
        if tasks := [shown for shown in alive if shown.startswith(f"{id_}_")]:
            raise NoSuchJob(f"job {id_} is an array: name one of its tasks, such as {tasks[0]}")
        return self._daemon.store.archive.last_job_shown_as(id_)

    def id_of(self, number: int) -> int | str | None:
        """The id of a job by our number; None: there is none, as of a job that is only asked about."""
        job = self._daemon.loop.jobs.get(number)
        if job is None:
            record = self._daemon.store.archive.record_of_job(number)
            job = None if record is None else job_of(record["spec"])
        return None if job is None else id_of(number, job)


def id_of(number: int, job: Job) -> int | str:
    """What users call a job."""
    return job.shown or number
