"""BCube, whose nodes have a network card for each level (Guo et al., SIGCOMM 2009)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from pointsman.cluster.parts import NodeType, fault
from pointsman.cluster.topologies.contract import NODE, Link, Rates, Shape, Tier, TopologyKind, Wiring

LEVEL_1 = 2


class BCube(TopologyKind):
    """BCube(n, 1): n groups of n nodes, each a BCube(n, 0), which is a rack here.

    A switch of level 0 joins the first cards of the nodes of a group. The j-th switch of level 1 joins the second cards
    of the j-th nodes of all groups.

    Traffic within a group uses first cards, traffic between nodes of the same number second cards, and all other
    traffic both in full: a relaying node receives on one card and sends on the other.
    """

    FORM: ClassVar = "bcube:Nx1"
    SIZES: ClassVar = ("n", "k")
    EXAMPLE: ClassVar = "bcube:11x1/gpus=4,nic=10Gbps"
    CARDS_APART: ClassVar = True

    n: Annotated[int, Field(strict=True, ge=2)]
    """Ports of a switch."""
    k: Annotated[int, Field(strict=True)] = 1
    """The highest level; only 1, which is two cards a node."""

    @field_validator("k")
    @classmethod
    def _two_levels(cls, k: int) -> int:
        if k != 1:
            raise fault((), f"of BCube(n, k) there is only k = 1 (two cards a node), not {k}; try Nx1")
        return k

    @property
    def shape(self) -> Shape:
        return Shape(racks=self.n, rack_nodes=self.n, pod_racks=self.n)

    def wiring(self, nodes: Rates, racks: Rates, pods: Rates) -> Wiring:
        return Wiring((Tier("level-0", self.n), Tier("level-1", self.n)), self._second_cards(nodes))

    def _second_cards(self, nodes: Rates) -> Iterator[Link]:
        for node, rate in enumerate(nodes):
            yield Link((NODE, node), (LEVEL_1, node % self.n), rate)

    def cannot_have(self, node: NodeType) -> str | None:
        if node.nic.count != 1 or node.nic.per != "node":
            return "has one card of this bandwidth for each level; leave out nic.count and nic.per"
        return super().cannot_have(node)
