"""Jobs that wait for a while because a start of theirs has failed."""

from pointsman.live.control.safety import BackOff
from pointsman.live.records.store import Store


class Pauses:
    """How often starts of a job have failed in a row, and when it is tried again; the store keeps it."""

    def __init__(self, store: Store, back_off: BackOff) -> None:
        self._store, self._back_off = store, back_off
        self._by_job = store.pauses()

    def of(self, job: int) -> tuple[int, int] | None:
        """Failed starts, and when it is tried again; None if it does not wait for that."""
        failures, until_ms = self._by_job.get(job, (0, None))
        return None if until_ms is None else (failures, until_ms)

    def ends_ms(self) -> dict[int, int]:
        """When the pause of each job ends."""
        return {job: until_ms for job, (_, until_ms) in self._by_job.items() if until_ms is not None}

    def begin(self, job: int, now_ms: int) -> None:
        """Another start of it has failed."""
        failures = self._by_job.get(job, (0, None))[0] + 1
        self._set(job, failures, now_ms + self._back_off.pause_ms(failures))

    def lift(self, job: int) -> None:
        """It is tried again, and its failures still count."""
        self._set(job, self._by_job[job][0], None)

    def ending(self, now_ms: int) -> list[int]:
        """The jobs whose pauses are over by now."""
        return [job for job, until_ms in self.ends_ms().items() if until_ms <= now_ms]

    def forget(self, job: int) -> None:
        """A start of it has succeeded, or it has ended."""
        if self._by_job.pop(job, None) is not None:
            self._store.end_pause(job)

    def _set(self, job: int, failures: int, until_ms: int | None) -> None:
        self._by_job[job] = failures, until_ms
        self._store.keep_pause(job, failures, until_ms)
