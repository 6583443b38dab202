"""Nodes on which Slurm counts more GPUs than its jobs have: a controller that was killed may go on doing so."""

from collections import Counter
from typing import Final

from pointsman.live.backends.facts import Phase
from pointsman.live.backends.slurm.records import Snapshot

SURELY_S: Final = 60.0
"""For so long each look must show it: nodes are asked a moment after jobs, which begin and end."""


class Miscounts:
    """Those that the looks so far have shown."""

    def __init__(self) -> None:
        self._since_s: dict[str, float] = {}

    def look(self, snapshot: Snapshot, now_s: float) -> list[str]:
        """The nodes of which it is sure by now."""
        has: Counter[str] = Counter()
        for job in snapshot.jobs:
            if job.phase == Phase.RUNNING:
                has.update(job.gpus_by_node)
        odd = [node.name for node in snapshot.nodes if node.gpus_in_use > has[node.name]]
        self._since_s = {name: self._since_s.get(name, now_s) for name in odd}
        return [name for name, since_s in self._since_s.items() if now_s - since_s >= SURELY_S]
