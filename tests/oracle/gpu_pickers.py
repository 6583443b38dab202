"""Section 12: which of the free GPUs a gang gets from each GPU picker of `pick-place`.

Pure functions of the nodes, what is free on each of those of an alternative, and the gang. All know that there are
enough.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .model import Gpu, Node, Place


@dataclass(frozen=True)
class Edges:
    """Of the tree (section 12)."""

    rack: float = 0.5
    node: float = 0.25
    gpu: float = 0.025


@dataclass
class Offer:
    """Free GPUs of UP nodes of an alternative, and what is taken of them."""

    nodes: Sequence[Node]
    free: dict[int, list[Gpu]]
    """By node, of each node of the cluster."""
    size: int
    """GPUs of the alternative's largest node."""
    edges: Edges
    taken: dict[int, int]

    def left(self, node: int) -> int:
        return 0 if node in self.taken else len(self.free[node])

    def rack_of(self, node: int) -> tuple[int, int]:
        return self.nodes[node].pod, self.nodes[node].rack

    def racks(self) -> list[tuple[int, int]]:
        """In the order of their nodes."""
        return list(dict.fromkeys(self.rack_of(node) for node in self.free))

    def of_rack(self, rack: tuple[int, int]) -> list[int]:
        return [node for node in self.free if self.rack_of(node) == rack]

    def free_in(self, rack: tuple[int, int]) -> int:
        return sum(len(self.free[node]) for node in self.of_rack(rack))

    def take_in_order(self, nodes: Sequence[int], need: int) -> int:
        """Of these nodes, as far as nothing is taken of them; what is needed then."""
        for node in nodes:
            if need > 0 and self.left(node) > 0:
                self.taken[node] = min(need, self.left(node))
                need -= self.taken[node]
        return need

    def cost(self) -> float:
        return self.edges.rack * len({self.rack_of(node) for node in self.taken}) + self.edges.node * len(self.taken)

    def place(self) -> Place:
        return frozenset(gpu for node, many in self.taken.items() for gpu in self.free[node][:many])

    def afresh(self) -> "Offer":
        return Offer(self.nodes, self.free, self.size, self.edges, {})


def first_available(offer: Offer, gpus: int) -> Offer:
    offer.take_in_order(list(offer.free), gpus)
    return offer


def load_balance(offer: Offer, gpus: int) -> Offer:
    for rack in sorted(offer.racks(), key=lambda rack: -offer.free_in(rack)):
        gpus = offer.take_in_order(sorted(offer.of_rack(rack), key=lambda node: -offer.left(node)), gpus)
    return offer


def anchor(offer: Offer, gpus: int) -> Offer:
    node = anchor_of(offer, gpus)
    gpus = offer.take_in_order([node], gpus)
    gpus = offer.take_in_order(offer.of_rack(offer.rack_of(node)), gpus)
    offer.take_in_order(list(offer.free), gpus)
    return offer


def anchor_of(offer: Offer, gpus: int) -> int:
    most = max(offer.racks(), key=offer.free_in)
    fewest = min((rack for rack in offer.racks() if offer.free_in(rack) > 0), key=offer.free_in)
    if gpus == 1:
        return max(offer.of_rack(fewest), key=offer.left)
    if gpus <= offer.size:
        for rack in (fewest, most):
            enough = [node for node in offer.of_rack(rack) if offer.left(node) >= gpus]
            if enough:
                return min(enough, key=offer.left)
    return max(offer.of_rack(most), key=offer.left)


def nearest(offer: Offer, gpus: int) -> Offer:
    enough = [node for node in offer.free if offer.left(node) >= gpus]
    if enough:
        offer.take_in_order([min(enough, key=offer.left)], gpus)
        return offer
    plans = [plan(offer.afresh(), gpus) for plan in (rack_by_rack, node_by_node, first_available)]
    return min(plans, key=Offer.cost)


def rack_by_rack(offer: Offer, gpus: int) -> Offer:
    untaken = offer.racks()
    while gpus > 0:
        holds_it = [rack for rack in untaken if offer.free_in(rack) >= gpus]
        rack = min(holds_it, key=lambda rack: suits(offer, rack, gpus)) if holds_it else max(untaken, key=offer.free_in)
        untaken.remove(rack)
        gpus = take_fewest(offer, offer.of_rack(rack), gpus)
    return offer


def suits(offer: Offer, rack: tuple[int, int], gpus: int) -> tuple[int, int, int]:
    tried = offer.afresh()
    take_fewest(tried, tried.of_rack(rack), gpus)
    last = list(tried.taken)[-1]
    return len(tried.taken), len(offer.free[last]) - tried.taken[last], offer.free_in(rack)


def node_by_node(offer: Offer, gpus: int) -> Offer:
    take_fewest(offer, list(offer.free), gpus)
    return offer


def take_fewest(offer: Offer, nodes: list[int], need: int) -> int:
    """One by one; racks already taken matter only where there are several."""
    while need > 0 and any(offer.left(node) for node in nodes):
        on = {offer.rack_of(node) for node in offer.taken}
        elsewhere = {node: offer.rack_of(node) not in on for node in nodes}
        enough = [node for node in nodes if offer.left(node) >= need]
        if enough:
            node = min(enough, key=lambda node: (elsewhere[node], offer.left(node), node))
        else:
            node = min(nodes, key=lambda node: (-offer.left(node), elsewhere[node], node))
        need = offer.take_in_order([node], need)
    return need


PICKERS: dict[str, Callable[[Offer, int], Offer]] = {
    "nearest": nearest,
    "anchor": anchor,
    "first-available": first_available,
    "load-balance": load_balance,
}
"""Those that leave nothing to chance."""


def offer_of(nodes: Sequence[Node], eligible: Sequence[int], free: set[Gpu], edges: Edges) -> Offer:
    """What an alternative has; `free` on UP nodes."""
    by_node = {node: sorted(gpu for gpu in free if gpu[0] == node and node in eligible) for node in range(len(nodes))}
    return Offer(nodes, by_node, max((nodes[node].gpus for node in eligible), default=0), edges, {})
