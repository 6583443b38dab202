"""The topology of a cluster: one of several kinds."""

from typing import Final

from pydantic import Field, model_validator

from pointsman.cluster.parts import Part, fault
from pointsman.cluster.topologies.bcube import BCube
from pointsman.cluster.topologies.contract import TopologyKind
from pointsman.cluster.topologies.fat_tree import FatTree
from pointsman.cluster.topologies.leaf_spine import LeafSpine
from pointsman.cluster.topologies.vl2 import Vl2

KINDS: Final[dict[str, type[TopologyKind]]] = {
    "fat-tree": FatTree,
    "vl2": Vl2,
    "leaf-spine": LeafSpine,
    "bcube": BCube,
}
"""By their key in a cluster file, which begins their shorthand too."""


class Topology(Part):
    """A data-centre network by its definition, which cuts the nodes into racks and pods. Give one kind."""

    fat_tree: FatTree | None = Field(None, alias="fat-tree")
    """Switches of k ports in three tiers."""
    vl2: Vl2 | None = None
    """Racks with two uplinks under a Clos network."""
    leaf_spine: LeafSpine | None = Field(None, alias="leaf-spine")
    """Every leaf joined to every spine."""
    bcube: BCube | None = None
    """Nodes with a card for each of two levels of switches."""

    @property
    def name(self) -> str:
        """The key of its kind."""
        return self._given_kinds()[0]

    @property
    def kind(self) -> TopologyKind:
        """The one that is given."""
        return getattr(self, self.name.replace("-", "_"))

    def _given_kinds(self) -> list[str]:
        return [name for name in KINDS if getattr(self, name.replace("-", "_")) is not None]

    @model_validator(mode="after")
    def _one(self) -> "Topology":
        if len(self._given_kinds()) != 1:
            raise fault((), f"give one topology of {', '.join(KINDS)}, not {len(self._given_kinds())}")
        return self
