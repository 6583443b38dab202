"""What a turn has decided is done, once it is kept: each attempt is launched or stopped, and the answers are noted."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pointsman.live.backends.facts import AttemptId, Launch, Refused, Stop, Unsure
from pointsman.live.backends.protocol import Backend
from pointsman.live.control.reconcile import Change
from pointsman.live.records.book import Attempt, Stage
from pointsman.live.records.job import Job


@dataclass(frozen=True)
class Answer:
    """What a backend said of a request: it was heard, or refused."""

    id: AttemptId
    stops: bool
    refused: str | None = None
    """Why."""


@dataclass
class ToDo:
    """Between two turns it is empty, but for the answers."""

    launches: list[AttemptId] = field(default_factory=list)
    stops: list[AttemptId] = field(default_factory=list)
    ended: list[AttemptId] = field(default_factory=list)
    """Attempts of which the backend may forget all."""
    answers: list[Answer] = field(default_factory=list)

    def add(self, change: Change) -> None:
        """What an observation of one attempt asks for."""
        if change.launch:
            self.launches.append(change.attempt.id)
        if change.stop:
            self.stops.append(change.attempt.id)

    def act(self, backend: Backend, attempts: Mapping[AttemptId, Attempt], jobs: Mapping[int, Job]) -> None:
        """Have the backend do it; what it answers is heard at the next turn."""
        for id_ in dict.fromkeys(self.launches):
            attempt = attempts.get(id_)
            if attempt is not None and attempt.stage in (Stage.INTENDED, Stage.SENT):
                self._launch(backend, attempt, jobs[id_.job])
        for id_ in dict.fromkeys(self.stops):
            self._stop(backend, id_, jobs.get(id_.job))
        self.launches.clear()
        self.stops.clear()
        gone = {id_.job for id_ in self.ended if id_.job not in jobs}
        backend.forget(self.ended, gone)  # the turn in which they ended is kept
        self.ended.clear()

    def _launch(self, backend: Backend, attempt: Attempt, job: Job) -> None:
        asked = (job.command, {**job.environment}, job.folder, job.output, job.uid, job.error)
        try:
            backend.launch(Launch(attempt.id, attempt.parts, *asked))
            self.answers.append(Answer(attempt.id, stops=False))
        except Refused as error:
            self.answers.append(Answer(attempt.id, stops=False, refused=str(error)))
        except Unsure:
            pass  # it is seen whether it was done

    def _stop(self, backend: Backend, id_: AttemptId, job: Job | None) -> None:
        try:
            backend.stop(id_, job.stop if job else Stop())
            self.answers.append(Answer(id_, stops=True))
        except Unsure:
            pass  # it is seen whether it was heard
