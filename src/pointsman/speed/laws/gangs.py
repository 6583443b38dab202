"""What a cluster offers the gangs of one GPU type: sizes, network, and the gangs' usual shapes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster import Layout
from pointsman.speed.laws.allreduce import GangShape, Network
from pointsman.types import Locality


@dataclass(frozen=True)
class Topology:
    """The nodes of one GPU type, as the consolidated placement sees them when all are free."""

    node_gpus: int
    """GPUs of the largest node."""
    rack_nodes: int
    """Nodes of that size in the rack that has most of them."""
    rack_gpus: int
    """GPUs of the type in the rack that has most."""
    pod_gpus: int
    """GPUs of the type in the pod that has most."""
    racks: tuple[tuple[int, ...], ...]
    """GPUs of each node of the type, by rack."""
    pods: tuple[tuple[int, ...], ...]
    """GPUs of each node, by pod."""
    network: Network
    """The network of the node type that most nodes of the largest size have (ties: the lower index)."""

    def best_locality(self, gpus: int, per_node: int = 0) -> Locality:
        """The tightest level with room for `gpus` GPUs of this type; CLUSTER when none has. With `per_node` > 0, each
        node has that many of them.
        """
        if gpus == 1:
            return Locality.GPU
        if per_node:
            groups = {Locality.RACK: self.racks, Locality.POD: self.pods}
            fitting = (level for level, members in groups.items() if _roomy(members, per_node) * per_node >= gpus)
            return Locality.NODE if per_node == gpus else next(fitting, Locality.CLUSTER)
        room = {Locality.NODE: self.node_gpus, Locality.RACK: self.rack_gpus, Locality.POD: self.pod_gpus}
        return next((level for level, size in room.items() if gpus <= size), Locality.CLUSTER)

    def shape(self, gpus: int, locality: Locality, per_node: int = 0) -> GangShape:
        """The shape assumed of a gang of `gpus` GPUs that is placed at `locality`, if it does not ask for one with
        `per_node` GPUs on each node.

        Whole nodes and one node for the remainder, in racks filled one after the other. Where
        that is tighter than `locality`, the gang is cut in two halves (the first gets the odd
        one) at every level from the loosest it fills up to `locality`: a gang that would fit on
        one node is on two nodes at RACK, its two nodes in two racks at POD, and in two pods at CLUSTER.
        """
        if locality <= Locality.NODE or gpus == 1:
            return GangShape((gpus, 1, 1, 1), (gpus, 1, 1, 1))
        nodes = _fill_groups(gpus, self.node_gpus) if per_node in (0, gpus) else (per_node,) * (gpus // per_node)
        if locality == Locality.RACK:
            return _shape(nodes, (len(nodes),), (1,))
        racks = _fill_groups(len(nodes), self.roomy_in_rack(per_node))
        pods = (len(racks),) if locality == Locality.POD else _halves(len(racks))
        return _shape(nodes, racks, pods)

    def roomy_in_rack(self, per_node: int) -> int:
        """Counts nodes with `per_node` GPUs or more in the rack that has most of them, at least 1; with 0, of the
        largest size.
        """
        return max(1, _roomy(self.racks, per_node)) if per_node else self.rack_nodes


def topology(layout: Layout, gpu_type: int) -> Topology:
    """The topology of the GPU type with index `gpu_type` in `layout.gpu_types`."""
    own = np.flatnonzero(layout.node_gpu_type == gpu_type)
    gpus = layout.node_gpus[own]
    largest = own[gpus == gpus.max()]
    node_type = int(np.bincount(layout.node_type[largest]).argmax())
    network = Network(layout.bandwidth_bytes_per_s[node_type], layout.latency_s[node_type], layout.sharers[node_type])
    return Topology(
        node_gpus=int(gpus.max()),
        rack_nodes=int(np.bincount(layout.node_rack[largest]).max()),
        rack_gpus=_most(layout.node_rack[own], gpus),
        pod_gpus=_most(layout.node_pod[own], gpus),
        racks=_group_sizes(layout.node_rack[own], gpus),
        pods=_group_sizes(layout.node_pod[own], gpus),
        network=network,
    )


def _most(group: NDArray[np.int64], gpus: NDArray[np.int64]) -> int:
    return int(np.bincount(group, weights=gpus).max())


def _group_sizes(group: NDArray[np.int64], gpus: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(gpus[group == g].tolist()) for g in np.unique(group))


def _roomy(groups: tuple[tuple[int, ...], ...], per_node: int) -> int:
    """Counts nodes with `per_node` GPUs or more in the group that has most of them."""
    return max(sum(size >= per_node for size in group) for group in groups)


def _fill_groups(members: int, size: int) -> tuple[int, ...]:
    """Groups of `size` and one for the rest; two halves where one group would do."""
    whole, rest = divmod(members, size)
    if whole + (rest > 0) == 1:
        return _halves(members)
    return (size,) * whole + ((rest,) if rest else ())


def _halves(members: int) -> tuple[int, int]:
    return members - members // 2, members // 2


def _shape(nodes: tuple[int, ...], racks: tuple[int, ...], pods: tuple[int, ...]) -> GangShape:
    levels = (nodes, racks, pods)
    n = len(pods)
    a, b, c = map(max, levels)
    x, y, z = map(min, levels)
    return GangShape((a, b, c, n), (x, y, z, n))
