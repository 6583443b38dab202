"""VL2, a Clos network of aggregation and intermediate switches (Greenberg et al., SIGCOMM 2009)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field, field_validator, model_validator

from pointsman.cluster.parts import Count, fault
from pointsman.cluster.topologies.contract import RACK, Link, PooledTopology, Rates, Shape, Tier, Wiring

AGGREGATION, INTERMEDIATE = 2, 3
TOR_UPLINKS = 2


class Vl2(PooledTopology):
    """d_i aggregation switches of d_a ports, each joined to all d_a/2 intermediate switches of d_i ports.

    The other d_a/2 ports lead to racks: d_a·d_i/4 switches at their tops have two uplinks each. All traffic between
    racks is spread over all intermediate switches, so there are no pods.
    """

    FORM: ClassVar = "vl2:DAxDI"
    SIZES: ClassVar = ("d_a", "d_i")
    EXAMPLE: ClassVar = "vl2:8x8/rack=8,gpus=4,nic=10Gbps"

    d_a: Annotated[int, Field(strict=True, ge=2)]
    """Ports of an aggregation switch, an even number."""
    d_i: Annotated[int, Field(strict=True, ge=2)]
    """Ports of an intermediate switch, which is the number of aggregation switches; d_a·d_i is a multiple of 4."""
    nodes_per_rack: Count = 20
    """Nodes of a rack; 20 in the paper."""

    @field_validator("d_a")
    @classmethod
    def _even(cls, d_a: int) -> int:
        if d_a % 2:
            raise fault((), f"half of the d_a ports lead up, so d_a is even, not {d_a}; try {d_a - 1} or {d_a + 1}")
        return d_a

    @model_validator(mode="after")
    def _whole_racks(self) -> "Vl2":
        if self.d_a * self.d_i % 4:
            sizes = f"{self.d_a}x{self.d_i}"
            raise fault(("d_i",), f"d_a·d_i/4 racks are no whole number with {sizes}; try d_i = {self.d_i + 1}")
        return self

    @property
    def shape(self) -> Shape:
        racks = self.d_a * self.d_i // 4
        return Shape(racks=racks, rack_nodes=self.nodes_per_rack, pod_racks=racks)

    def wiring(self, nodes: Rates, racks: Rates, pods: Rates) -> Wiring:
        tiers = Tier("tor", self.shape.racks), Tier("aggregation", self.d_i), Tier("intermediate", self.d_a // 2)
        return Wiring(tiers, self._links(racks))

    def _links(self, racks: Rates) -> Iterator[Link]:
        for rack, rate in enumerate(racks):
            for i in range(TOR_UPLINKS):
                yield Link((RACK, rack), (AGGREGATION, (TOR_UPLINKS * rack + i) % self.d_i), rate / TOR_UPLINKS)
        above = self.d_a // 2
        rate = sum(racks) / (self.d_i * above)
        for aggregation in range(self.d_i):
            for i in range(above):
                yield Link((AGGREGATION, aggregation), (INTERMEDIATE, i), rate)
