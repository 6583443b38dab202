"""When attempts that run have run for as long as they may, and from when on they may be preempted."""

from collections.abc import Mapping

from pointsman.live.backends.facts import AttemptId
from pointsman.live.records.book import Attempt, Stage
from pointsman.live.records.job import Job
from pointsman.types import NEVER_MS


class Deadlines:
    """Deadlines of the attempts that run; an attempt runs for `min_run_ms` before its job may be preempted."""

    def __init__(self, min_run_ms: int) -> None:
        self._min_run_ms = min_run_ms
        self._limits_ms: dict[AttemptId, int] = {}
        self._protected_ms: dict[AttemptId, int] = {}

    def know(self, attempt: Attempt, jobs: Mapping[int, Job], decided_ms: int) -> None:
        """An attempt is so from now on; all is decided up to `decided_ms`, also what an end of protection brings."""
        self._limits_ms.pop(attempt.id, None)
        self._protected_ms.pop(attempt.id, None)
        if attempt.stage != Stage.RUNNING or attempt.started_ms is None:
            return
        job = jobs[attempt.id.job]
        if job.limit_ms is not None:
            ask_ms = round(1000 * job.stop.checkpoint_s)  # it is asked before
            self._limits_ms[attempt.id] = attempt.started_ms + job.slack_ms + max(0, job.limit_ms - ask_ms)
        until_ms = attempt.started_ms + self._min_run_ms
        if job.requeues and self._min_run_ms > 0 and until_ms > decided_ms:
            self._protected_ms[attempt.id] = until_ms

    def next_ms(self) -> int:
        """When the first of them is due; NEVER_MS if none is."""
        return min([*self._limits_ms.values(), *self._protected_ms.values()], default=NEVER_MS)

    def over_limit(self, now_ms: int) -> list[AttemptId]:
        """Those that have run for as long as they may."""
        return [id_ for id_, at_ms in self._limits_ms.items() if at_ms <= now_ms]

    def unprotected(self, now_ms: int) -> list[AttemptId]:
        """Those that may be preempted since the last time that this was asked."""
        due = [id_ for id_, at_ms in self._protected_ms.items() if at_ms <= now_ms]
        for id_ in due:
            del self._protected_ms[id_]
        return due
