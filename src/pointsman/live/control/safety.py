"""What keeps one bad job, or one bad node, from costing all others: pauses after failed starts, and drains."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from pointsman.live.records.store import Store


@dataclass(frozen=True)
class BackOff:
    """How long a job is held after a start of it has failed: twice as long after each further one in a row.

    A job keeps its place in the order of submission, so a pause makes it wait, and no job behind it go first for ever.
    """

    first_ms: int = 30_000
    most_ms: int = 3_600_000

    def pause_ms(self, failures: int) -> int:
        """The pause after `failures` failed starts in a row; 0 after none."""
        return min(self.first_ms << min(failures - 1, 30), self.most_ms) if failures > 0 else 0


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


@dataclass
class NodeFaults:
    """Which nodes are to be drained because starts on them fail: `faults` failures within `window_ms`.

    A start of a gang that fails says nothing of which of its nodes is bad, so it counts for each of them; one that
    succeeds clears them all.
    """

    faults: int = 3
    window_ms: int = 3_600_000
    _seen: dict[str, deque[int]] = field(default_factory=dict)

    def note_failure(self, nodes: tuple[str, ...], now_ms: int) -> list[str]:
        """A start failed on these nodes; those that are to be drained now."""
        bad = []
        for node in nodes:
            seen = self._seen.setdefault(node, deque(maxlen=self.faults))
            seen.append(now_ms)
            if len(seen) == self.faults and now_ms - seen[0] <= self.window_ms:
                bad.append(node)
                del self._seen[node]
        return bad

    def note_start(self, nodes: tuple[str, ...]) -> bool:
        """A start succeeded on these nodes; whether any had failed there."""
        return any([self._seen.pop(node, None) for node in nodes])

    def known(self) -> dict[str, list[int]]:
        """When starts failed, by node."""
        return {node: [*times] for node, times in self._seen.items()}

    def recall(self, known: Mapping[str, list[int]]) -> None:
        """What was known before."""
        self._seen |= {node: deque(times, maxlen=self.faults) for node, times in known.items()}
