"""Leaf-spine: every leaf switch joined to every spine switch."""

from collections.abc import Iterator
from typing import ClassVar

from pointsman.cluster.parts import Count
from pointsman.cluster.topologies.contract import RACK, Link, PooledTopology, Rates, Shape, Tier, Wiring

SPINE = 2


class LeafSpine(PooledTopology):
    """A rack under each leaf, and one link from each leaf to each spine."""

    FORM: ClassVar = "leaf-spine:LEAVESxSPINES"
    SIZES: ClassVar = ("leaves", "spines")
    EXAMPLE: ClassVar = "leaf-spine:16x4/rack=8,gpus=4,nic=100Gbps,oversubscription=2"

    leaves: Count
    """Leaf switches, each of one rack."""
    spines: Count
    """Spine switches."""
    nodes_per_rack: Count
    """Nodes under a leaf."""

    @property
    def shape(self) -> Shape:
        return Shape(racks=self.leaves, rack_nodes=self.nodes_per_rack, pod_racks=self.leaves)

    def wiring(self, nodes: Rates, racks: Rates, pods: Rates) -> Wiring:
        return Wiring((Tier("leaf", self.leaves), Tier("spine", self.spines)), self._links(racks))

    def _links(self, racks: Rates) -> Iterator[Link]:
        for leaf, rate in enumerate(racks):
            for spine in range(self.spines):
                yield Link((RACK, leaf), (SPINE, spine), rate / self.spines)
