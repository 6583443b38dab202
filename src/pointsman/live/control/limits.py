"""How often jobs may be preempted: those that were often enough, or have waited long enough, are preempted no more."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pointsman.live.records.job import Job
from pointsman.live.records.store import Store
from pointsman.live.world.live_world import LiveWorld

DAY_MS: Final = 86_400_000
_SINCE: Final = "SELECT count(*) FROM attempts WHERE cause = 'preempt' AND stopping_ms > ?"


@dataclass(frozen=True)
class Limits:
    """What a policy may not exceed."""

    a_day: int | None = None
    """Preemptions within 24 hours; one decision may exceed it, and none follows. None: no limit."""
    a_job: int | None = None
    """Preemptions of one job."""
    wait_ms: int | None = None
    """For how long, in all, a job has waited that may still be preempted."""

    def __bool__(self) -> bool:
        return any(limit is not None for limit in (self.a_day, self.a_job, self.wait_ms))

    def changes(
        self, world: LiveWorld, store: Store, jobs: Mapping[int, Job], now_ms: int
    ) -> Iterator[tuple[int, bool]]:
        """(row, whether it may not be preempted from now on) of the jobs for which that is another than before."""
        spent = self.a_day is not None and _preemptions_since(store, now_ms - DAY_MS) >= self.a_day
        records = world.simulation.handle.jobs
        for row, job in jobs.items():
            slot = world.slots.get(row)
            if slot is not None and not job.ask.pinned:
                record = records[slot]
                often = self.a_job is not None and int(record["preempts"]) >= self.a_job
                long = self.wait_ms is not None and int(record["pended"]) >= self.wait_ms
                if bool(record["pinned"]) != (spent or often or long):
                    yield row, spent or often or long


def _preemptions_since(store: Store, at_ms: int) -> int:
    return int(store.connection.execute(_SINCE, (at_ms,)).fetchone()[0])
