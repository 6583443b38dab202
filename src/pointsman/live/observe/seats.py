"""Which GPUs a job has, where it is only shown how many of a node."""

from collections.abc import Iterable, Sequence

from pointsman.live.world.live_world import LiveWorld
from pointsman.live.world.plan import ALL_GPUS


def free_gpus(
    world: LiveWorld, gpus: Iterable[tuple[str, int]], node_names: Sequence[str]
) -> list[tuple[int, int]] | None:
    """(node, mask) of the lowest free GPUs, as many of each node as asked for; None if the world does not have them, or
    others do. Which of a node's they really are makes no difference to any policy.
    """
    masks, parts = world.simulation.handle.state.nodes["free_mask"], []
    for name, many in gpus:
        if name not in node_names:
            return None
        node = node_names.index(name)
        mask = _lowest(int(masks[node]) & ALL_GPUS, many)
        if mask is None:
            return None
        parts.append((node, mask))
    return parts


def _lowest(free: int, many: int) -> int | None:
    if free.bit_count() < many:
        return None
    while free.bit_count() > many:
        free &= ~(1 << (free.bit_length() - 1))
    return free
