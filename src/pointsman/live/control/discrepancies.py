"""Where what was seen contradicts the book: said in the audit table, once, when it is seen first."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pointsman.live.backends.facts import AttemptFact, AttemptId
from pointsman.live.control.reconcile import Change, News
from pointsman.live.records.book import Attempt, Cause, Stage
from pointsman.live.records.job import Job
from pointsman.live.records.store import Store, job_of

FOUND: Final = "found"
"""In the audit table."""


class Discrepancies:
    """Those that were there at the last look, so that each is said once as long as it lasts."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: dict[AttemptId, str] = {}

    def note(self, alive: Mapping[AttemptId, Attempt], jobs: Mapping[int, Job], news: News, now_ms: int) -> None:
        """Within a turn of the store, before the book says what is new."""
        found = dict(contradictions(alive, news))
        for id_, said in found.items():
            if self._last.get(id_) != said:
                target = self._name_of(id_.job, jobs)
                self._store.note_order(now_ms, -1, FOUND, target, f"attempt {id_.attempt} {said}")
        self._last = found

    def _name_of(self, job: int, jobs: Mapping[int, Job]) -> str:
        """What users call it, also if it has ended."""
        if job in jobs:
            return jobs[job].shown or str(job)
        record = self._store.archive.record_of_job(job)
        return str(job) if record is None else job_of(record["spec"]).shown or str(job)

    def note_came_again(self, jobs: Iterable[str], now_ms: int) -> None:
        """Jobs came, as they are called. Whether the id of one was another's, or its end is forgotten, is not known: it
        is a job like any.
        """
        if again := [shown for shown in jobs if self._store.archive.last_job_shown_as(shown) is not None]:
            with self._store.turn():
                for shown in again:
                    said = "is listed again as waiting, although it had ended: it counts as another job"
                    self._store.note_order(now_ms, -1, FOUND, shown, said)


def contradictions(alive: Mapping[AttemptId, Attempt], news: News) -> Iterator[tuple[AttemptId, str]]:
    """What was seen of attempts, where `alive` are those in the book that have not ended, and what is done then."""
    for change in news.changes:
        if said := _words_on(alive[change.attempt.id], change):
            yield change.attempt.id, said
    for ghost in news.ghosts:
        yield ghost.id, _words_on_ghost(ghost)


def _words_on(before: Attempt, change: Change) -> str | None:
    now = change.attempt
    if before.stage == Stage.RUNNING and now.cause == Cause.LOST:
        return "ran, and waits again, as if it had not: it is stopped"
    if before.stage == Stage.RUNNING and now.stage == Stage.RUNNING and before.missing_ms != now.missing_ms:
        return "ran, and is not there any more" if before.missing_ms is None else "is there again"
    if before.missing_ms is not None and now.stage == Stage.ENDED:
        return "did not appear again: it counts as lost"
    if before.stage == Stage.SENT and change.launch:
        return "was to start, and is not there: it is asked for again"
    return None


def _words_on_ghost(ghost: AttemptFact) -> str:
    nodes = ",".join(node for node, _ in ghost.parts)
    return f"is there ({ghost.phase.name.lower()} on {nodes or 'no node'}), although it had ended: it is stopped"
