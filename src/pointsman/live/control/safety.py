"""What keeps one bad job, or one bad node, from costing all others: pauses after failed starts, and drains."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field


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
