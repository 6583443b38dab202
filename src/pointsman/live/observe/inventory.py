"""The nodes that another scheduler has, beside those for which the world was made."""

from collections.abc import Mapping, Sequence

from pointsman.live.control.alarms import Alarms
from pointsman.live.observe.sight import Sight
from pointsman.live.world.live_world import LiveWorld
from pointsman.types import NodeState

_MOST_NAMED = 3
"""Nodes that an alarm names."""


class Inventory:
    """A world cannot have other nodes while it goes on: that they have changed is told, and what else is odd."""

    def __init__(self, alarms: Alarms) -> None:
        self._alarms = alarms
        self._told: set[str] = set()

    def states(self, seen: Sight, world: LiveWorld, names: Sequence[str], now_ms: int) -> dict[str, NodeState]:
        """Those of the nodes that are seen; what is not there any more takes no jobs. Within a turn of the store."""
        told = {describe_changes(seen.gpus, world, names), *seen.odd} - {""}
        for said in sorted(told - self._told):
            self._alarms.sound(said, now_ms)
        self._told = told
        gone = {name for name in names if name not in seen.nodes} if seen.nodes else set()
        return {**seen.nodes, **dict.fromkeys(gone, NodeState.DRAIN)}


def describe_changes(gpus: Mapping[str, int], world: LiveWorld, names: Sequence[str]) -> str:
    """Which nodes are not those of the world any more, by how many GPUs each has now, and what to do; nothing if none
    has changed, or none is known.
    """
    if not (changed := _changes(gpus, world, names) if gpus else []):
        return ""
    more = len(changed) - _MOST_NAMED
    told = "; ".join(changed[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
    return f"nodes have changed since the daemon was started: {told}; start it again"


def _changes(gpus: Mapping[str, int], world: LiveWorld, names: Sequence[str]) -> list[str]:
    """What has another number of GPUs than in the world, a phrase a node."""
    had = dict(zip(names, world.simulation.handle.state.nodes["gpus"].tolist(), strict=True))
    odd = sorted(name for name in had.keys() | gpus.keys() if had.get(name, 0) != gpus.get(name, 0))
    return [f"{name} has {gpus.get(name, 0)} GPUs, not {had.get(name, 0)}" for name in odd]
