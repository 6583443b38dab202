"""The fat-tree of switches with k ports (Al-Fares et al., SIGCOMM 2008)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from pointsman.cluster.parts import fault
from pointsman.cluster.topologies.contract import RACK, Link, PooledTopology, Rates, Shape, Tier, Wiring

AGGREGATION, CORE = 2, 3


class FatTree(PooledTopology):
    """k pods of k/2 edge and k/2 aggregation switches under k²/4 core switches; k/2 nodes under an edge switch.

    The i-th aggregation switch of every pod leads to the i-th k/2 core switches. A rack is what an edge switch joins.
    """

    FORM: ClassVar = "fat-tree:K"
    SIZES: ClassVar = ("k",)
    EXAMPLE: ClassVar = "fat-tree:8/gpus=4,nic=10Gbps,oversubscription=4"

    k: Annotated[int, Field(strict=True, ge=2)]
    """Ports of a switch, an even number."""

    @field_validator("k")
    @classmethod
    def _even(cls, k: int) -> int:
        if k % 2:
            raise fault((), f"half of the k ports of a switch lead up, so k is even, not {k}; try {k - 1} or {k + 1}")
        return k

    @property
    def shape(self) -> Shape:
        half = self.k // 2
        return Shape(racks=self.k * half, rack_nodes=half, pod_racks=half)

    def wiring(self, nodes: Rates, racks: Rates, pods: Rates) -> Wiring:
        half = self.k // 2
        tiers = Tier("edge", self.k * half, half), Tier("aggregation", self.k * half, half), Tier("core", half * half)
        return Wiring(tiers, self._links(racks, pods, half))

    def _links(self, racks: Rates, pods: Rates, half: int) -> Iterator[Link]:
        for edge, rate in enumerate(racks):
            for i in range(half):
                yield Link((RACK, edge), (AGGREGATION, edge // half * half + i), rate / half)
        for pod, rate in enumerate(pods):
            for i in range(half):
                for j in range(half):
                    yield Link((AGGREGATION, pod * half + i), (CORE, i * half + j), rate / half**2)
