"""The `Cluster` document: what a cluster file may say, and what it means.

A level of locality that says nothing of its bandwidth inherits from the level inside it.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from pointsman.cluster.gpu_catalogue import GPU_MODELS, known_gpu
from pointsman.cluster.parts import (
    MAX_NODES,
    Count,
    GpuType,
    Level,
    Name,
    Network,
    NodeGroup,
    NodeType,
    Part,
    Partition,
    Queue,
    Rack,
    fault,
)
from pointsman.cluster.topologies.topology import Topology
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.gpu_names import plain_name
from pointsman.inputs.messages import counted

Fault = tuple[tuple[str | int, ...], str]
"""Where below the spec, and what."""


class Piece(NamedTuple):
    """Nodes of one group that stand in one rack."""

    rack: int
    group: NodeGroup
    start: int
    """The first of them, counted within the group."""
    count: int


class ClusterSpec(Part):
    """The hardware, and the queues in front of it."""

    gpu_types: dict[Name, GpuType] = Field(default_factory=dict)
    """GPU types the catalogue does not know, or knows differently."""
    node_types: Annotated[dict[Name, NodeType], Field(min_length=1)]
    """Node types by name."""
    nodes: tuple[NodeGroup, ...] = ()
    """All nodes in order; `nodes_per_rack` cuts them into racks. Give this or `racks`."""
    nodes_per_rack: Count | None = None
    """Nodes of a rack, the last may be short; default: one rack holds all."""
    racks: tuple[Rack, ...] = ()
    """Racks in order, each with its nodes. Give this or `nodes`."""
    racks_per_pod: Count | None = None
    """Racks of a pod, the last may be short; default: one pod holds all."""
    topology: Topology | None = None
    """A data-centre network by its definition, with one rack after another of `nodes`; instead of `nodes_per_rack`,
    `racks_per_pod` and the bandwidths of `network`."""
    network: Network = Network()
    """Bandwidth and latency between nodes."""
    queues: dict[Name, Queue] = Field(default_factory=dict)
    """Queues with their limits; a queue that is not named has none."""
    partitions: dict[Name, Partition] = Field(default_factory=dict)
    """What holds for the jobs of partitions; those that are not named are like any other."""

    def pieces(self) -> Iterator[Piece]:
        """All nodes in order, cut where the group or the rack changes."""
        rack = 0
        for kind in self.racks:
            for _ in range(kind.count):
                yield from (Piece(rack, group, 0, group.nodes) for group in kind.nodes)
                rack += 1
        shape = self.topology.kind.shape if self.topology else None
        placed, capacity = 0, (shape.rack_nodes if shape else self.nodes_per_rack) or MAX_NODES
        for group in self.nodes:
            start = 0
            while start < group.nodes:
                count = min(group.nodes - start, capacity - placed % capacity)
                yield Piece(placed // capacity, group, start, count)
                placed, start = placed + count, start + count

    @property
    def pod_racks(self) -> int:
        """Racks of a pod; more than there can be where one pod holds all."""
        return self.topology.kind.shape.pod_racks if self.topology else self.racks_per_pod or MAX_NODES

    @property
    def levels(self) -> Network:
        """Bandwidth and latency between nodes, with what the topology says of them."""
        return self.topology.kind.network(self.network) if self.topology else self.network

    @model_validator(mode="after")
    def _whole(self) -> "ClusterSpec":
        for at, message in self._faults():
            raise fault(at, message)
        return self

    def _faults(self) -> Iterator[Fault]:
        yield from self._structure_faults()
        yield from self._topology_faults()
        yield from self._type_faults()
        yield from self._reference_faults()
        yield from self._size_faults()

    def _structure_faults(self) -> Iterator[Fault]:
        if bool(self.nodes) == bool(self.racks):
            yield (), "give 'nodes' or 'racks'" + (", not both" if self.nodes else "")
        if self.racks and self.nodes_per_rack:
            yield ("nodes_per_rack",), "nodes_per_rack goes with 'nodes'; 'racks' says itself what is in a rack"

    def _topology_faults(self) -> Iterator[Fault]:
        if self.topology is None:
            return
        name, expected = self.topology.name, self.topology.kind.shape.nodes
        for key in ("racks", "nodes_per_rack", "racks_per_pod"):
            if getattr(self, key):
                yield (key,), f"topology {name} says itself what is in a rack and in a pod; leave {key} out"
        for key in Network.model_fields:
            level: Level = getattr(self.network, key)
            if level.bandwidth is not None or level.oversubscription != 1:
                fix = f"give network.{key} no more than a latency"
                yield ("network", key), f"topology {name} says itself how wide its links are; {fix}"
        given = sum(group.nodes for group in self.nodes)
        if given != expected:
            has = counted(expected, "node")
            yield ("topology", name), f"this {name} has {has}, and 'nodes' {given:,}; make them equal"
        for i, group in enumerate(self.nodes):
            rule = group.type in self.node_types and self.topology.kind.cannot_have(self.node_types[group.type])
            if rule:
                yield ("nodes", i), f"{group.type!r} cannot be in it: each node of a {name} {rule}"

    def _type_faults(self) -> Iterator[Fault]:
        for name, node in self.node_types.items():
            at = ("node_types", name)
            if node.gpus and node.gpu_type is None:
                yield at, f"node type {name!r} has {counted(node.gpus, 'GPU')} and no gpu_type"
            elif node.gpu_type is not None and not self._is_known(node.gpu_type):
                hint = did_you_mean(node.gpu_type, {*self.gpu_types, *GPU_MODELS})
                yield (*at, "gpu_type"), f"unknown GPU type {node.gpu_type!r}; declare it in gpu_types ({hint})"
            elif node.gpus > 1 and node.interconnect is None and known_gpu(node.gpu_type or "") is None:
                yield at, f"say how the GPUs {node.gpu_type!r} reach each other: interconnect with kind and bandwidth"
        used = sorted({node.gpu_type for node in self.node_types.values() if node.gpu_type})
        used.sort(key=self._meant)
        for one, other in pairwise(used):
            if self._meant(one) == self._meant(other):
                yield ("node_types",), f"{one!r} and {other!r} are one GPU type; spell them alike"

    def declared(self, gpu_type: str) -> GpuType | None:
        """What `gpu_types` says of a type, whatever the case; None if it leaves the type to the catalogue."""
        folded = {name.casefold(): declared for name, declared in self.gpu_types.items()}
        return self.gpu_types.get(gpu_type) or folded.get(gpu_type.casefold())

    def _meant(self, gpu_type: str) -> str:
        """Types with a memory of their own are kept apart, such as `a100-40gb` and `a100-80gb`."""
        declared = self.declared(gpu_type)
        return gpu_type.casefold() if declared and declared.memory else plain_name(gpu_type)

    def _is_known(self, gpu_type: str) -> bool:
        declared = self.declared(gpu_type)
        return known_gpu(gpu_type) is not None or (declared is not None and declared.memory is not None)

    def _reference_faults(self) -> Iterator[Fault]:
        groups: list[tuple[tuple[str | int, ...], NodeGroup]] = [(("nodes", i), g) for i, g in enumerate(self.nodes)]
        for i, rack in enumerate(self.racks):
            groups += [(("racks", i, "nodes", j), group) for j, group in enumerate(rack.nodes)]
            if rack.count > 1 and any(group.names for group in rack.nodes):
                yield ("racks", i, "count"), "nodes with names cannot be in several racks; list each rack"
        named = {name for _, group in groups for name in group.partitions}
        for name in self.partitions:
            if name not in named:
                yield ("partitions", name), f"no node is in partition {name!r} ({did_you_mean(name, named)})"
        for at, group in groups:
            if group.type not in self.node_types:
                yield (*at, "type"), f"unknown node type {group.type!r} ({did_you_mean(group.type, self.node_types)})"

    def _size_faults(self) -> Iterator[Fault]:
        in_racks = sum(rack.count * sum(group.nodes for group in rack.nodes) for rack in self.racks)
        if in_racks + sum(group.nodes for group in self.nodes) > MAX_NODES:
            yield (), f"more than {MAX_NODES:,} nodes"
        elif not any(self.node_types[piece.group.type].gpus for piece in self.pieces()):
            yield (), "the cluster has no GPUs"
        elif any(piece.group.names for piece in self.pieces()):
            name, times = Counter(self.node_names()).most_common(1)[0]
            if times > 1:
                yield (), f"{times} nodes are called {name!r:.60}"

    def node_names(self) -> list[str]:
        """Names of all nodes in order (nodes without GPUs too): given ones, else ``n0000`` by position."""
        width = max(4, len(str(sum(piece.count for piece in self.pieces()) - 1)))
        names: list[str] = []
        for _, group, start, count in self.pieces():
            given = group.given_names[start : start + count]
            names += given or [f"n{i:0{width}d}" for i in range(len(names), len(names) + count)]
        return names
