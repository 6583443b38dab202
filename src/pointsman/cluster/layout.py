"""The cluster as arrays."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.gpu_catalogue import known_gpu
from pointsman.cluster.parts import Level, NodeType
from pointsman.cluster.quantities import bandwidth_bytes_per_s, latency_s, memory_bytes
from pointsman.cluster.spec import ClusterSpec, Piece
from pointsman.inputs.gpu_names import spelled
from pointsman.types import LOCALITIES, Locality

DEFAULT_LATENCY: Final = {
    Locality.NODE: "1.5 us",
    Locality.RACK: "5 us",
    Locality.POD: "10 us",
    Locality.CLUSTER: "10 us",
}


CORES_PER_GPU: Final = 3
LEAST_CORES: Final = 6
"""Cores of a node whose file does not say how many it has (ours)."""


@dataclass(frozen=True)
class Host:
    """What the GPUs of one node share; 10^6 bytes per second."""

    name: str
    """The name of the node type."""
    sockets: int
    cores: float
    pcie_mb_per_s: float
    """The PCIe bandwidth of each socket."""
    memory_mb_per_s: float
    link_mb_per_s: float
    """Between the sockets."""


@dataclass(frozen=True)
class Layout:
    """What the engine and the speed model need of a cluster of M nodes with GPUs, T GPU types, K node types.

    Nodes without GPUs are left out; racks and pods are counted densely from 0 in node order; GPU types and node types
    are those in use, in the order of first appearance by node index.
    """

    node_names: tuple[str, ...]
    """(M)"""
    node_gpus: NDArray[np.int64]
    """(M) GPUs, 1 to 64."""
    node_rack: NDArray[np.int64]
    """(M)"""
    node_pod: NDArray[np.int64]
    """(M)"""
    node_gpu_type: NDArray[np.int64]
    """(M) index into `gpu_types`."""
    node_type: NDArray[np.int64]
    """(M) index into `node_types`."""
    node_partitions: tuple[tuple[str, ...], ...]
    """(M) an empty tuple means no named partition."""
    gpu_types: tuple[str, ...]
    """(T)"""
    node_types: tuple[str, ...]
    """(K)"""
    gpu_memory_bytes: NDArray[np.float64]
    """(T)"""
    bandwidth_bytes_per_s: NDArray[np.float64]
    """(K, 5) per GPU and direction by `Locality`, network cards shared and oversubscription paid; GPU entry inf."""
    sharers: NDArray[np.float64]
    """(K, 5) GPUs of a node that share the link of each level: all of them where the card is the node's, else 1."""
    latency_s: NDArray[np.float64]
    """(K, 5) of one hop by `Locality`; GPU entry 0."""
    queue_limits: dict[str, int]
    """GPU limit of the queues that have one."""
    hosts: tuple[Host, ...] = ()
    """(K)"""
    cards_apart: bool = False
    """Whether the links of levels are cards of their own of each node, and not uplinks that nodes of a rack share."""
    protected_partitions: frozenset[str] = frozenset()
    """Those whose jobs may not be preempted."""
    gpu_aliases: tuple[tuple[str, ...], ...] = ()
    """(T) what else the site calls each GPU type."""

    def types_called(self, name: str) -> list[int]:
        """Which GPU types ``name`` stands for, however it is spelled; none: the cluster has no such type."""
        by_alias = (i for i, others in enumerate(self.gpu_aliases) if spelled(name, others))
        return spelled(name, self.gpu_types) or list(by_alias)


def lay_out(spec: ClusterSpec, gpu_types: tuple[str, ...]) -> Layout:
    """Arrays of a cluster with these GPU types in use; see `Layout`."""
    pieces = list(spec.pieces())
    gpus = _per_node(pieces, lambda piece: spec.node_types[piece.group.type].gpus)
    used = gpus > 0
    rack = _per_node(pieces, lambda piece: piece.rack)[used]
    node_types = tuple(dict.fromkeys(p.group.type for p in pieces if spec.node_types[p.group.type].gpus))
    gpu_type_of = np.array([gpu_types.index(spec.node_types[name].gpu_type or "") for name in node_types], np.int64)
    index = {name: i for i, name in enumerate(node_types)}
    node_type = _per_node(pieces, lambda piece: index.get(piece.group.type, -1))[used]
    partitions = [piece.group.partitions for piece in pieces for _ in range(piece.count)]
    return Layout(
        node_names=tuple(compress(spec.node_names(), used)),
        node_gpus=gpus[used],
        node_rack=_dense(rack),
        node_pod=_dense(rack // spec.pod_racks),
        node_gpu_type=gpu_type_of[node_type],
        node_type=node_type,
        node_partitions=tuple(compress(partitions, used)),
        gpu_types=gpu_types,
        node_types=node_types,
        gpu_memory_bytes=np.array([_gpu_memory_bytes(spec, name) for name in gpu_types], dtype=np.float64),
        bandwidth_bytes_per_s=np.array([_bandwidths(spec, spec.node_types[name]) for name in node_types], np.float64),
        sharers=np.array([_sharers(spec, spec.node_types[name]) for name in node_types], np.float64),
        latency_s=np.array([_latencies(spec, spec.node_types[name]) for name in node_types], np.float64),
        queue_limits={name: q.gpu_limit for name, q in spec.queues.items() if q.gpu_limit is not None},
        hosts=tuple(_host(name, spec.node_types[name]) for name in node_types),
        cards_apart=spec.topology is not None and spec.topology.kind.CARDS_APART,
        protected_partitions=frozenset(name for name, each in spec.partitions.items() if not each.preemptible),
        gpu_aliases=tuple(_aliases(spec, name) for name in gpu_types),
    )


def _per_node(pieces: list[Piece], value: Callable[[Piece], int]) -> NDArray[np.int64]:
    counts = np.array([piece.count for piece in pieces], dtype=np.int64)
    return np.repeat(np.array([value(piece) for piece in pieces], dtype=np.int64), counts)


def _dense(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Ascending numbers renumbered 0, 1, 2, ... without gaps."""
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def _host(name: str, node: NodeType) -> Host:
    cores = max(CORES_PER_GPU * node.gpus, LEAST_CORES) if node.cpus is None else node.cpus
    paths = (bandwidth_bytes_per_s(text) / 1e6 for text in (node.host.pcie, node.host.memory, node.host.socket_link))
    return Host(name, node.sockets, float(cores), *paths)


def _gpu_memory_bytes(spec: ClusterSpec, gpu_type: str) -> float:
    declared = spec.declared(gpu_type)
    if declared is not None and declared.memory is not None:
        return memory_bytes(declared.memory)
    model = known_gpu(gpu_type)
    assert model is not None  # ClusterSpec has checked it
    return memory_bytes(model.memory)


def _aliases(spec: ClusterSpec, gpu_type: str) -> tuple[str, ...]:
    declared = spec.declared(gpu_type)
    return declared.aliases if declared is not None else ()


def _levels(spec: ClusterSpec) -> dict[Locality, Level]:
    network = spec.levels
    return {Locality.RACK: network.rack, Locality.POD: network.pod, Locality.CLUSTER: network.cluster}


def _bandwidths(spec: ClusterSpec, node: NodeType) -> list[float]:
    """Per GPU by locality; each level above the node starts from the one inside it, the rack from the cards."""
    row = [np.inf] * LOCALITIES
    row[Locality.NODE] = _interconnect_bandwidth(node)
    share = bandwidth_bytes_per_s(node.nic.bandwidth) * node.nic.count
    share /= node.gpus if node.nic.per == "node" else 1
    for locality, level in _levels(spec).items():
        share = share / level.oversubscription if level.bandwidth is None else bandwidth_bytes_per_s(level.bandwidth)
        row[locality] = share
    return row


def _sharers(spec: ClusterSpec, node: NodeType) -> list[float]:
    """By locality: a card of the node is shared by its GPUs, and so is what lies beyond it; a bandwidth that the file
    gives for a level is each GPU's own.
    """
    row = [1.0] * LOCALITIES
    share = float(node.gpus) if node.nic.per == "node" else 1.0
    for locality, level in _levels(spec).items():
        share = share if level.bandwidth is None else 1.0
        row[locality] = share
    return row


def _interconnect_bandwidth(node: NodeType) -> float:
    model = known_gpu(node.gpu_type or "")
    if node.interconnect is not None:
        return bandwidth_bytes_per_s(node.interconnect.bandwidth)
    return bandwidth_bytes_per_s(model.bandwidth) if model is not None else np.inf  # one GPU has none to reach


def _latencies(spec: ClusterSpec, node: NodeType) -> list[float]:
    """By locality; what the file does not say is the default, but never less than the level inside."""
    row = [0.0] * LOCALITIES
    row[Locality.NODE] = latency_s(node.interconnect.latency if node.interconnect else DEFAULT_LATENCY[Locality.NODE])
    for locality, level in _levels(spec).items():
        farther = max(latency_s(DEFAULT_LATENCY[locality]), row[locality - 1])
        row[locality] = farther if level.latency is None else latency_s(level.latency)
    return row


class Uplinks(NamedTuple):
    """Bytes per second, one direction, of all uplinks of each node, rack and pod together."""

    nodes: NDArray[np.float64]
    racks: NDArray[np.float64]
    pods: NDArray[np.float64]


def uplink_bandwidths(layout: Layout) -> Uplinks:
    """The uplinks of a cluster, as wide as the bandwidths of its GPUs at the level they lead to.

    Those of a rack alone in its pod lead to other pods, and have the bandwidth of that level.
    """
    by_node = layout.bandwidth_bytes_per_s[layout.node_type] * layout.node_gpus[:, None]
    racks = np.bincount(layout.node_pod[np.unique(layout.node_rack, return_index=True)[1]])
    beyond_rack = np.where(racks[layout.node_pod] > 1, by_node[:, Locality.POD], by_node[:, Locality.CLUSTER])
    return Uplinks(
        nodes=by_node[:, Locality.RACK],
        racks=np.bincount(layout.node_rack, beyond_rack).astype(np.float64),
        pods=np.bincount(layout.node_pod, by_node[:, Locality.CLUSTER]).astype(np.float64),
    )
