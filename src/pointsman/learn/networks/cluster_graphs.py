"""The two graphs of MARL's network: what is inside the nodes, and what joins them (``docs/papers/marl.md`` §5).

The lower graph has a component for each node: its GPUs, a PCIe switch and the cores of each socket, the link between
its sockets and its network card. The upper graph is the cluster's (`Cluster.graph`) with a vertex for each scheduler,
joined to the racks it owns and to the other schedulers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pointsman.cluster.cluster import Cluster
from pointsman.cluster.layout import Host, Layout, uplink_bandwidths
from pointsman.learn.networks.message_passing import Edges, Mapped, both_ways

GPU, PCIE, SOCKET, SOCKET_LINK, CARD, PARTS = range(6)
"""Kinds of vertices of the lower graph."""
NODE, SWITCH, SCHEDULER, KINDS = range(4)
"""Kinds of vertices of the upper graph."""
EDGE_FEATURES: Final = 2
"""Bandwidth, and whether the edge is one of management, which has none."""
GB_PER_S: Final = 1e3
"""In MB/s: bandwidths are told as log2(1 + GB/s) / 8."""


@dataclass(frozen=True)
class ClusterGraphs:
    """Both graphs of a cluster of M nodes with G GPUs under P schedulers."""

    inside: Edges
    parts: Tensor
    """(V) the kind of each vertex of the lower graph; the first G are the GPUs, in order."""
    node_of: Tensor
    """(V) its node."""
    among: Edges
    """The edges of the upper graph: first the M nodes, then the switches, then the P schedulers."""
    kinds: Tensor
    """(U) the kind of each vertex of the upper graph."""
    owner: Tensor
    """(M) the scheduler of each node."""
    gpus: Tensor
    """(M) GPUs of each node."""

    def mapped(self, to: Mapped) -> "ClusterGraphs":
        """Copies the graphs to another device, or converts them to another type."""
        rest = {name: to(getattr(self, name)) for name in ("parts", "node_of", "kinds", "owner", "gpus")}
        return ClusterGraphs(inside=self.inside.mapped(to), among=self.among.mapped(to), **rest)


def graphs_of(cluster: Cluster, owner: NDArray[np.int64]) -> ClusterGraphs:
    """The graphs of a cluster whose nodes belong to the schedulers `owner` (M)."""
    layout = cluster.layout()
    inside, parts, node_of = _inside(layout)
    among, kinds = _among(cluster, owner)
    return ClusterGraphs(
        inside, _whole(parts), _whole(node_of), among, _whole(kinds), _whole(owner), _whole(layout.node_gpus)
    )


def of_own_racks(cluster: Cluster, owner: NDArray[np.int64]) -> ClusterGraphs:
    """Makes the graphs with less of the upper one: only what joins the nodes of a rack to its switch, and that to its
    scheduler: nothing joins the racks of one scheduler to those of another.
    """
    whole = graphs_of(cluster, owner)
    graph, many = cluster.graph(), len(owner)
    mine = [max(pair) == many + graph.rack[min(pair)] if min(pair) < many else False for pair in graph.links.tolist()]
    racks = np.unique(np.stack([many + graph.rack[:many], len(graph.names) + owner], 1), axis=0)
    links = np.concatenate([graph.links[mine], racks])
    told = np.concatenate([_features_of_links(graph.gbps[mine] * GB_PER_S / 8), np.tile([0.0, 1.0], (len(racks), 1))])
    return replace(whole, among=both_ways(links, told, len(whole.kinds)))


def _whole(numbers: Sequence[int] | NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(np.array(numbers, np.int64))


def _inside(layout: Layout) -> tuple[Edges, list[int], list[int]]:
    """The lower graph: its edges, and the kind and the node of each vertex."""
    parts = [GPU] * int(layout.node_gpus.sum())
    node_of = np.repeat(np.arange(len(layout.node_gpus)), layout.node_gpus).tolist()
    cards_mb_per_s = uplink_bandwidths(layout)[0] / 1e6
    links: list[tuple[int, int]] = []
    mb_per_s: list[float] = []
    gpu0 = 0
    for node, gpus in enumerate(layout.node_gpus.tolist()):
        host, first = layout.hosts[layout.node_type[node]], len(parts)
        for lower, upper, rate in _links_of_node(host, gpus, float(cards_mb_per_s[node])):
            links.append((gpu0 + lower if lower < gpus else first + lower - gpus, first + upper - gpus))
            mb_per_s.append(rate)
        parts += [PCIE, SOCKET] * host.sockets + [SOCKET_LINK, CARD]
        node_of += [node] * (2 * host.sockets + 2)
        gpu0 += gpus
    return both_ways(np.array(links, np.int64), _features_of_links(mb_per_s), len(parts)), parts, node_of


def _links_of_node(host: Host, gpus: int, card_mb_per_s: float) -> Iterator[tuple[int, int, float]]:
    """GPU - PCIe switch - cores - link between the sockets - network card, with MB/s. Vertices are counted from the
    first GPU of the node; behind the GPUs come switch and cores of each socket, the link and the card.
    """
    link = gpus + 2 * host.sockets
    for g in range(gpus):
        yield g, gpus + 2 * (g * host.sockets // gpus), host.pcie_mb_per_s
    for socket in range(host.sockets):
        switch = gpus + 2 * socket
        yield switch, switch + 1, host.memory_mb_per_s
        yield switch + 1, link, host.link_mb_per_s
    yield link, link + 1, card_mb_per_s


def _among(cluster: Cluster, owner: NDArray[np.int64]) -> tuple[Edges, list[int]]:
    """The upper graph: its edges, and the kind of each vertex. A scheduler is joined to the switches of its racks."""
    graph = cluster.graph()
    nodes, switches, schedulers = len(owner), len(graph.names) - len(owner), int(owner.max()) + 1
    first = nodes + switches
    racks = dict(zip((nodes + graph.rack[:nodes]).tolist(), (first + owner).tolist(), strict=True))
    manages = [*racks.items(), *combinations(range(first, first + schedulers), 2)]
    links = np.concatenate([graph.links, np.array(manages, np.int64)])
    told = np.zeros((len(links), EDGE_FEATURES))
    told[: len(graph.links)] = _features_of_links(graph.gbps * GB_PER_S / 8)
    told[len(graph.links) :, 1] = 1.0
    kinds = [NODE] * nodes + [SWITCH] * switches + [SCHEDULER] * schedulers
    return both_ways(links, told, len(kinds)), kinds


def _features_of_links(mb_per_s: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """(L, 2) features of links with these bandwidths."""
    rates = np.log2(1.0 + np.asarray(mb_per_s) / GB_PER_S) / 8.0
    return np.stack([rates, np.zeros(len(rates))], 1)
