"""What a topology says: how many nodes stand in which racks and pods, and which switches and links join them."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, NamedTuple

from pydantic import model_validator

from pointsman.cluster.parts import MAX_NODES, Network, NodeType, Part, Ratio, fault

NODE: Final = 0
"""The tier of the nodes, whatever the topology. The switches of racks are tier 1, one each; the others follow."""
RACK: Final = 1


Rates = Sequence[float]
"""Bytes per second, one direction."""


class Shape(NamedTuple):
    """Racks of as many nodes each, and pods of as many racks."""

    racks: int
    rack_nodes: int
    pod_racks: int

    @property
    def nodes(self) -> int:
        return self.racks * self.rack_nodes


class Tier(NamedTuple):
    """Switches of one kind."""

    name: str
    count: int
    per_pod: int = 0
    """How many of them belong to each pod, which come one after another; 0: they are above the pods."""


class Link(NamedTuple):
    """A link between two vertices, each a tier and a number in it."""

    lower: tuple[int, int]
    upper: tuple[int, int]
    bytes_per_s: float
    """One direction."""


class Wiring(NamedTuple):
    """The switches from the racks up, and the links, those of the nodes to the switches of their racks left out."""

    tiers: tuple[Tier, ...]
    links: Iterator[Link]


class TopologyKind(Part):
    """A kind of topology with its parameters."""

    FORM: ClassVar[str]
    """How its shorthand begins, such as `fat-tree:K`."""
    SIZES: ClassVar[tuple[str, ...]]
    """The parameters that stand after the colon, joined by `x`."""
    EXAMPLE: ClassVar[str]
    CARDS_APART: ClassVar[bool] = False
    """Whether each node has a card for each level, which are not pooled."""

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """Its racks and pods."""

    @abstractmethod
    def wiring(self, nodes: Rates, racks: Rates, pods: Rates) -> Wiring:
        """Its switches and links, where all uplinks of each node, rack and pod have such rates together."""

    def network(self, given: Network) -> Network:
        """The levels of bandwidth that it stands for; `given` says no more than latencies."""
        return given

    def cannot_have(self, node: NodeType) -> str | None:
        """Why it cannot have such nodes, as the end of a sentence about a node of it; None if it can."""
        return None if node.gpus else "has GPUs"

    @model_validator(mode="after")
    def _small_enough(self) -> "TopologyKind":
        if self.shape.nodes > MAX_NODES:
            raise fault((), f"{self.shape.nodes:,} nodes; a cluster has at most {MAX_NODES:,}, so make it smaller")
        return self


class PooledTopology(TopologyKind):
    """A topology that spreads the traffic of a rack evenly over all uplinks of the rack (ideal multipath).

    Then no link above the racks is full unless all uplinks of some rack, or of some pod, are: they count as one pool.
    """

    oversubscription: Ratio = 1.0
    """What the cards of a rack's nodes carry together over what the uplinks of the rack do; 1 by definition. The links
    are narrower by as much, and no fewer."""

    def network(self, given: Network) -> Network:
        pod = given.pod.model_copy(update={"oversubscription": self.oversubscription})
        return given.model_copy(update={"pod": pod})
