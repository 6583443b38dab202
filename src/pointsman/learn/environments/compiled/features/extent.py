"""How large a cluster is, of which the shapes of some observations depend."""

from typing import NamedTuple

from pointsman.engine.sdk.environments import State


class Extent(NamedTuple):
    """So many nodes, GPUs and schedulers; zeros stand for any number."""

    nodes: int = 0
    gpus: int = 0
    schedulers: int = 0


def extent_of(state: State) -> Extent:
    """That of the cluster of this state."""
    return Extent(len(state.nodes), len(state.gpus), int(state.g[0]["schedulers"]))
