"""A cluster with fewer or more nodes."""

from collections.abc import Sequence

from pointsman.cluster.cluster import Cluster
from pointsman.cluster.parts import NodeGroup, Rack
from pointsman.cluster.spec import ClusterSpec
from pointsman.errors import UsageError


def size_of(cluster: Cluster) -> int:
    """All its nodes, those without GPUs included."""
    return sum(piece.count for piece in cluster.spec.pieces())


def scaled(cluster: Cluster, nodes: int) -> Cluster:
    """Scales `cluster` to `nodes` nodes in all, in its proportions; the nodes of a smaller one are among those of a
    larger.

    Kinds of racks, or groups of nodes, get their shares by the method of Sainte-Laguë; the last rack of a kind may be
    short. Names of nodes are left out.

    Raises:
        UsageError: it is of a topology that says itself how many nodes there are.
    """
    if nodes == size_of(cluster):
        return cluster
    if cluster.spec.topology is not None:
        fix = "describe it as racks of nodes"
        raise UsageError(f"{cluster.name}: a {cluster.spec.topology.name} has a fixed number of nodes; {fix}")
    metadata = cluster.metadata.model_copy(update={"name": f"{cluster.name}-{nodes}-nodes"})
    return cluster.model_copy(update={"metadata": metadata, "spec": _scale(cluster.spec, nodes)})


def _scale(spec: ClusterSpec, nodes: int) -> ClusterSpec:
    if spec.nodes:
        return spec.model_copy(update={"nodes": _groups(spec.nodes, nodes)})
    in_rack = [sum(group.nodes for group in kind.nodes) for kind in spec.racks]
    shares = divide(nodes, [kind.count * one for kind, one in zip(spec.racks, in_rack, strict=True)])
    racks: list[Rack] = []
    for kind, one, share in zip(spec.racks, in_rack, shares, strict=True):
        full, rest = divmod(share, one)
        if full:
            racks.append(Rack(count=full, nodes=_groups(kind.nodes, one)))
        if rest:
            racks.append(Rack(nodes=_groups(kind.nodes, rest)))
    return spec.model_copy(update={"racks": tuple(racks)})


def _groups(groups: Sequence[NodeGroup], nodes: int) -> tuple[NodeGroup, ...]:
    shares = divide(nodes, [group.nodes for group in groups])
    return tuple(
        NodeGroup(type=group.type, count=share, partitions=group.partitions)
        for group, share in zip(groups, shares, strict=True)
        if share
    )


def divide(whole: int, weights: Sequence[int]) -> list[int]:
    """`whole` in whole parts in proportion to `weights`, by Sainte-Laguë: no part of a larger whole is smaller."""
    parts = [0] * len(weights)
    for _ in range(whole):
        parts[max(range(len(weights)), key=lambda k: weights[k] / (2 * parts[k] + 1))] += 1
    return parts
