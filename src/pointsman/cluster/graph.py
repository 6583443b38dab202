"""A cluster as a graph of nodes, switches and links, for pages and for graph networks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout, uplink_bandwidths
from pointsman.cluster.topologies.contract import NODE, RACK, Link, Rates, Tier, TopologyKind, Wiring

ABOVE = -1
"""The rack, or the pod, of a switch that is in none."""


@dataclass(frozen=True)
class ClusterGraph:
    """V vertices and L links. First the nodes, in the order of `Layout`, then one switch a rack, then the others by
    tier: vertex i < M is node i, and vertex M + r the switch of rack r.
    """

    names: tuple[str, ...]
    """(V) node names as in the cluster, and switches such as ``edge 3``, whose space no node name has."""
    tiers: tuple[str, ...]
    """(V) ``node``, or the kind of switch."""
    rack: NDArray[np.int64]
    """(V) of a node or a rack's switch; -1 of the other switches."""
    pod: NDArray[np.int64]
    """(V) -1 of switches that belong to no pod."""
    gpus: NDArray[np.int64]
    """(V) 0 of switches."""
    gpu_types: tuple[str, ...]
    """(V) empty of switches."""
    links: NDArray[np.int64]
    """(L, 2) the lower vertex and the upper one. Where a level does not say how many links it has, they are one."""
    gbps: NDArray[np.float64]
    """(L) bandwidth in Gb/s, one direction."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data in networkx's node-link form: ``networkx.node_link_graph(data, edges="links")`` reads it."""
        columns = zip(
            self.names,
            self.tiers,
            self.rack.tolist(),
            self.pod.tolist(),
            self.gpus.tolist(),
            self.gpu_types,
            strict=True,
        )
        return {
            "directed": False,
            "multigraph": False,
            "graph": {},
            "nodes": [
                {"id": name, "tier": tier}
                | {key: value for key, value in (("rack", rack), ("pod", pod)) if value != ABOVE}
                | ({"gpus": gpus, "gpu_type": gpu_type} if gpus else {})
                for name, tier, rack, pod, gpus, gpu_type in columns
            ],
            "links": [
                {"source": self.names[lower], "target": self.names[upper], "gbps": rate}
                for (lower, upper), rate in zip(self.links.tolist(), self.gbps.tolist(), strict=True)
            ],
        }


def cluster_graph(layout: Layout, topology: TopologyKind | None) -> ClusterGraph:
    """The graph of a cluster with this layout; without a topology, one switch joins the nodes of each rack, one the
    racks of each pod, and one the pods.
    """
    nodes, racks, pods = (rates.tolist() for rates in uplink_bandwidths(layout))
    rack_pod = layout.node_pod[np.unique(layout.node_rack, return_index=True)[1]]
    wiring = topology.wiring(nodes, racks, pods) if topology else _tree(racks, pods, rack_pod.tolist())
    rack_of = layout.node_rack.tolist()
    links = [Link((NODE, i), (RACK, r), rate) for i, (r, rate) in enumerate(zip(rack_of, nodes, strict=True))]
    links += wiring.links
    first = np.cumsum([0, len(nodes), *(tier.count for tier in wiring.tiers)])
    above = first[-1] - first[2]
    higher = [
        number // tier.per_pod if tier.per_pod else ABOVE for tier in wiring.tiers[1:] for number in range(tier.count)
    ]
    switches = [(tier.name, number) for tier in wiring.tiers for number in range(tier.count)]
    return ClusterGraph(
        names=(*layout.node_names, *(f"{name} {number}" for name, number in switches)),
        tiers=("node",) * len(nodes) + tuple(name for name, _ in switches),
        rack=np.concatenate([layout.node_rack, np.arange(len(racks)), np.full(above, ABOVE)]).astype(np.int64),
        pod=np.concatenate([layout.node_pod, rack_pod, higher]).astype(np.int64),
        gpus=np.concatenate([layout.node_gpus, np.zeros(len(switches))]).astype(np.int64),
        gpu_types=tuple(layout.gpu_types[t] for t in layout.node_gpu_type.tolist()) + ("",) * len(switches),
        links=np.array([[first[tier] + i for tier, i in (link.lower, link.upper)] for link in links], np.int64),
        gbps=np.array([link.bytes_per_s for link in links], np.float64) * 8 / 1e9,
    )


def _tree(racks: Rates, pods: Rates, rack_pod: list[int]) -> Wiring:
    """A level that joins one thing only is left out."""
    tiers = [Tier("rack", len(racks))]
    if len(racks) > 1:
        tiers.append(Tier("pod", len(pods), 1))
    if len(pods) > 1:
        tiers.append(Tier("cluster", 1))
    return Wiring(tuple(tiers), _tree_links(racks, pods, rack_pod))


def _tree_links(racks: Rates, pods: Rates, rack_pod: list[int]) -> Iterator[Link]:
    if len(racks) > 1:
        yield from (
            Link((RACK, r), (RACK + 1, pod), rate) for r, (pod, rate) in enumerate(zip(rack_pod, racks, strict=True))
        )
    if len(pods) > 1:
        yield from (Link((RACK + 1, pod), (RACK + 2, 0), rate) for pod, rate in enumerate(pods))
