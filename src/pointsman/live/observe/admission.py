"""Which of the jobs that are seen are taken in, and as which kinds."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from pointsman.live.control.alarms import Alarms
from pointsman.live.observe.sight import SeenJob
from pointsman.live.records.job import Job
from pointsman.live.records.store import Store
from pointsman.live.world.kind import Kind
from pointsman.live.world.live_world import ROOM
from pointsman.live.world.roster import Roster

MOST_JOBS: Final = ROOM // 2
"""That have not ended."""
_ROUGHER: Final[tuple[Callable[[Kind], Kind], ...]] = (
    lambda kind: kind,
    lambda kind: kind._replace(partition=None, gpu_type=None),
    lambda kind: Kind(kind.gpus),
)
"""What may be left out of a kind, so that the cluster could run it."""
NO_LIMIT_MS: Final = 365 * 86_400_000
"""What Slurm's backfilling counts for a job without a time limit (YEAR_MINUTES in its sched/backfill)."""
_IS_KNOWN: Final = "SELECT 1 FROM jobs WHERE uid = ? AND request_key = ?"


class Admission:
    """Jobs that the cluster could not run are left out, and those of which the end was told already."""

    def __init__(self, store: Store, alarms: Alarms) -> None:
        self._store, self._alarms = store, alarms
        self.kinds: dict[Kind, Kind | None] = {}
        """As which kind one counts here; None: the cluster could not run it."""
        self._over: set[str] = set()
        """Keys of jobs that have ended, and are still shown."""
        self._is_full = False

    def admit(self, roster: Roster, jobs: Iterable[SeenJob]) -> None:
        """The roster has the kinds of all these jobs."""
        kinds = [kind for kind in dict.fromkeys(job.kind for job in jobs) if kind not in self.kinds]
        for rougher in _ROUGHER:  # where our cluster could not run it there
            roster.admit_all(rougher(kind) for kind in kinds)
            found = {kind: rougher(kind) for kind in kinds if rougher(kind) in roster.numbers}
            self.kinds |= found
            kinds = [kind for kind in kinds if kind not in found]
        self.kinds |= dict.fromkeys(kinds)

    def job_of(self, seen: SeenJob, roster: Roster) -> Job | None:
        """A job as it counts here, whose kind the roster has; None if the cluster could not run it."""
        if (kind := self.kinds[seen.kind]) is None:
            return None
        limit_ms, number = seen.limit_ms or NO_LIMIT_MS, roster.numbers[kind]
        ask = roster.ask(number, limit_ms=limit_ms, pinned=not seen.requeues)
        return Job(
            ask, kind, number, seen.name, limit_ms, requeues=seen.requeues, uid=seen.uid, request_key=seen.key,
            shown=seen.shown,
        )  # fmt: skip

    def is_changed(self, job: Job, seen: SeenJob) -> bool:
        """Whether it asks for something else than before, as far as is shown: of what has begun meanwhile, partitions
        in which it could have begun, too, are not.
        """
        if seen.ended is not None and seen.run is None:
            return False
        kind = self.kinds[seen.kind]
        if kind is None:
            return False
        if seen.run is not None and (seen.ended is not None or seen.run.end_unix_ms is None):
            return kind.gpus != job.kind.gpus
        limit_ms = seen.limit_ms or NO_LIMIT_MS
        return (kind, limit_ms, seen.name, seen.requeues) != (job.kind, job.limit_ms, job.name, job.requeues)

    def taken_in(self, seen: Mapping[str, SeenJob], known: Collection[str], now_ms: int) -> dict[str, SeenJob]:
        """Those that are known, and those that may come now; within a turn of the store."""
        new = [job for key, job in seen.items() if key not in known and self.kinds[job.kind] is not None]
        new = sorted((job for job in new if not self._is_over(job)), key=lambda job: job.run is None)
        room = max(0, MOST_JOBS - len(known))
        if len(new) > room and not self._is_full:
            self._alarms.sound(f"{MOST_JOBS:,} jobs have not ended: others are taken in when some have", now_ms)
        self._is_full = len(new) > room
        self._over = {key for key, job in seen.items() if job.ended is not None}
        taken = {*known} | {job.key for job in new[:room]}
        return {key: job for key, job in seen.items() if key in taken}

    def _is_over(self, job: SeenJob) -> bool:
        """Whether its end was told already, be it that it is shown again as if it had not ended."""
        if job.key in self._over:
            return True
        return self._store.connection.execute(_IS_KNOWN, (job.uid, job.key)).fetchone() is not None
