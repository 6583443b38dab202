"""The widest gang that a cluster could ever hold, as ``--oversized clamp`` narrows jobs to it."""

from typing import NamedTuple

import numpy as np

from pointsman.engine.setup.demand import Pools, sizes_of


class Widest(NamedTuple):
    """A gang that fits the empty cluster; of two, the one of more GPUs is greater."""

    gpus: int
    per_node: int
    """GPUs on each node of a shape; else 0."""


def widest_of(
    pools: Pools, sets: tuple[tuple[int, ...], ...], limit: int, scattered: bool, gpus: int, per_node: int
) -> Widest:
    """The widest that fits under some alternative, and the queue's `limit` (-1: none). With a shape of `per_node` GPUs
    on each node, it has no more nodes than the job, and fewer GPUs on each only if no node has that many.
    """
    nodes = gpus // per_node if per_node else 0
    most = (_shape(pools, s, limit, nodes, per_node) if per_node else _gang(pools, s, limit, scattered) for s in sets)
    return max(most, default=Widest(0, per_node))


def _shape(pools: Pools, members: tuple[int, ...], limit: int, nodes: int, per_node: int) -> Widest:
    sizes = sizes_of(pools, members)
    each = min(per_node, int(sizes.max()), limit if limit >= 0 else per_node)
    if each == 0:
        return Widest(0, per_node)
    within = limit // each if limit >= 0 else nodes
    return Widest(each * min(nodes, int((sizes >= each).sum()), within), each)


def _gang(pools: Pools, members: tuple[int, ...], limit: int, scattered: bool) -> Widest:
    nodes = np.sort(sizes_of(pools, members))[::-1]
    whole = int((nodes == nodes[0]).sum())
    beyond = nodes[nodes < nodes[0]]
    rest = int(beyond[0]) if len(beyond) else 0
    total = int(nodes.sum()) if scattered else whole * int(nodes[0]) + rest
    return Widest(total if limit < 0 else min(total, limit), 0)
