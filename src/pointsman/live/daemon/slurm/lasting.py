"""What each look at Slurm has shown for a while, and a person should know."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from pointsman.live.backends.facts import Phase
from pointsman.live.backends.slurm.records import Snapshot

SURELY_S: Final = 60.0
"""For so long each look must show it."""


class Lasting:
    """What the looks so far have shown."""

    def __init__(self) -> None:
        self._since_s: dict[str, float] = {}

    def look(self, found: Iterable[str], now_s: float) -> list[str]:
        """What of it lasts by now."""
        self._since_s = {one: self._since_s.get(one, now_s) for one in found}
        return [one for one, since_s in self._since_s.items() if now_s - since_s >= SURELY_S]


def miscounted(snapshot: Snapshot) -> list[str]:
    """Nodes on which Slurm counts more GPUs than its jobs have: a controller that was killed may go on doing so. It may
    seem so for a moment, because nodes are asked after jobs, which begin and end.
    """
    has: Counter[str] = Counter()
    for job in snapshot.jobs:
        if job.phase == Phase.RUNNING:
            has.update(job.gpus_by_node)
    return [node.name for node in snapshot.nodes if node.gpus_in_use > has[node.name]]
