"""What the tables say of living jobs, as the seats that they take in a new world where nothing else is left of the one
before: it was killed, and was of another version, policy or cluster file.
"""

from collections.abc import Sequence
from typing import Any, Final

from pointsman.live.records.book import Attempt, Cause, Stage
from pointsman.live.records.job import Job
from pointsman.live.records.store import Store
from pointsman.types import JobState

_LAST: Final = """
SELECT max(ifnull((SELECT max(max(submit_ms), ifnull(max(end_ms), 0)) FROM jobs), 0), ifnull((SELECT max(max(
  intended_ms, ifnull(started_ms, 0), ifnull(stopping_ms, 0), ifnull(ended_ms, 0))) FROM attempts), 0))
"""
_STATES: Final = {
    Stage.INTENDED: JobState.STARTING,
    Stage.SENT: JobState.STARTING,
    Stage.RUNNING: JobState.RUNNING,
    Stage.STOPPING: JobState.STOPPING,
}


def seats_of_book(store: Store) -> dict[str, Any]:
    """Derives from the book what `keep_seats` keeps. Service is what attempts ran; rates and learnt estimates are not
    known.
    """
    (now_ms,) = store.connection.execute(_LAST).fetchone()
    (last,) = store.connection.execute("SELECT ifnull(max(id), 0) FROM jobs").fetchone()
    jobs = store.alive_jobs()
    held = store.held_jobs() | {job for job, (_, release_ms) in store.pauses().items() if release_ms is not None}
    alive = {attempt.id.job: attempt for attempt in store.alive_attempts()}
    rows = store.archive.attempts_of([*jobs])
    submits_ms = dict(store.connection.execute("SELECT id, submit_ms FROM jobs WHERE end_ms IS NULL").fetchall())
    seats = [
        {
            "row": id_,
            "submit_ms": submits_ms[id_],
            "state": _state(alive.get(id_), held=id_ in held).name,
            "parts": [] if (attempt := alive.get(id_)) is None else list(attempt.parts),
            "past": _past(job, submits_ms[id_], rows[id_], now_ms),
        }
        for id_, job in jobs.items()
    ]
    return {"now_ms": now_ms, "rows": last + 1, "seats": seats}


def _state(attempt: Attempt | None, *, held: bool) -> JobState:
    if attempt is not None:
        return _STATES[attempt.stage]
    return JobState.HELD if held else JobState.PENDING


def _past(job: Job, submit_ms: int, attempts: Sequence[Any], now_ms: int) -> dict[str, float]:
    """What has happened to a job, by all of its attempts."""
    begun = [one for one in attempts if one["started_ms"] is not None]
    ran = [(one["started_ms"], one["stopping_ms"] or one["ended_ms"] or now_ms) for one in begun]
    had = [(one["intended_ms"], one["ended_ms"]) for one in attempts]
    executed = sum(max(0, end - start) for start, end in ran)
    gpus = job.kind.gpus
    waits_since = submit_ms if not had else now_ms if had[-1][1] is None else had[-1][1]
    pended = waits_since - submit_ms - sum((now_ms if end is None else end) - start for start, end in had)
    starts = bool(had) and had[-1][1] is None and attempts[-1]["started_ms"] is None
    past: dict[str, float] = {
        "done": executed,
        "restored": executed,
        "executed": executed,
        "attained": gpus * executed,
        "attempt": attempts[-1]["attempt"] if attempts else 0,
        "preempts": sum(one["cause"] == Cause.PREEMPT for one in attempts),
        "held": gpus * sum(end - start for start, end in had if end is not None),
        "pend_since": waits_since,
        "pended": max(0, pended),
        "settled": had[-1][0] if starts else now_ms,
    }
    if had:
        past |= {"first_start": had[0][0], "held_since": had[-1][0]}
    if ran:
        past["started"] = ran[-1][0]
    return past
