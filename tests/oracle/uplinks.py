"""Section 8: who sends over which uplinks, and what each gets of them; worked out anew at every instant."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import floor

from .model import Job, Place
from .speeds import ALONE, CLUSTER, POD, RACK, Felt, Link, Speeds

Uplink = tuple[str, int]
"""``node``, ``rack`` or ``pod``, and which; or ``first card`` or ``second card``, and of which node."""
OF_NODES = ("node", "first card", "second card")


@dataclass(frozen=True)
class Contention:
    how: str
    penalty: float = 0.2745
    """Of node-link."""


@dataclass(frozen=True)
class Ring:
    wants: float
    crosses: tuple[Uplink, ...]


def widened(speeds: Speeds, contention: Contention | None) -> Speeds:
    """POD and CLUSTER are no narrower than RACK: what is missing there is shared out."""
    if contention is None or contention.how == "node-link":
        return speeds

    def wide(links: Sequence[Link]) -> tuple[Link, ...]:
        return tuple(
            replace(link, bytes_per_s=links[RACK].bytes_per_s, sharers=links[RACK].sharers)
            if level in (POD, CLUSTER) and link.bytes_per_s < links[RACK].bytes_per_s
            else link
            for level, link in enumerate(links)
        )

    return replace(speeds, networks={kind: wide(links) for kind, links in speeds.networks.items()})


def ring_of(job: Job, place: Place, steps: int, speeds: Speeds, contention: Contention) -> Ring | None:
    """None of jobs on one node, whose model is not known, or that have nothing to send."""
    nodes = sorted({node for node, _ in place})
    if len(nodes) < 2 or job.model not in speeds.models or speeds.models[job.model].gradient_bytes == 0:
        return None
    gpu_type, shape = speeds.type_of_gang(nodes), speeds.shape_of(place)
    gradient = speeds.models[job.model].gradient_bytes
    _, seconds = speeds.all_reduce_s(gradient, shape, speeds.networks[gpu_type])
    if contention.how == "duty-cycle":
        seconds = speeds.iteration_s(job, gpu_type, shape, steps)
    crosses = cards_of(nodes, speeds) if speeds.bcube else uplinks_of(nodes, speeds)
    return Ring(max(1, floor(2 * (len(nodes) - 1) / len(nodes) * gradient / seconds)), crosses)


def uplinks_of(nodes: Sequence[int], speeds: Speeds) -> tuple[Uplink, ...]:
    racks = sorted({speeds.nodes[node].rack for node in nodes})
    pods = sorted({speeds.nodes[node].pod for node in nodes})
    crosses = [("node", node) for node in nodes]
    crosses += [("rack", rack) for rack in racks if len(racks) > 1]
    crosses += [("pod", pod) for pod in pods if len(pods) > 1]
    return tuple(crosses)


def cards_of(nodes: Sequence[int], speeds: Speeds) -> tuple[Uplink, ...]:
    """Of a BCube: the cards by which any of these nodes reaches any other."""
    crosses: set[Uplink] = set()
    for one, other in permutations(nodes, 2):
        if speeds.nodes[one].rack != speeds.nodes[other].rack:
            crosses.add(("second card", one))
        if one % speeds.bcube != other % speeds.bcube:
            crosses.add(("first card", one))
    return tuple(sorted(crosses))


def shares(rings: Sequence[Ring | None], speeds: Speeds, contention: Contention) -> list[Felt]:
    """What each feels of the others."""
    if contention.how == "node-link":
        return [ALONE if ring is None else Felt(wire=by_rings(ring, rings, contention.penalty)) for ring in rings]
    room = capacities(speeds)
    if contention.how == "level":
        return [ALONE if ring is None else Felt(wire=by_level(ring, rings, room)) for ring in rings]
    lacks = [ring and ring.wants / share for ring, share in zip(rings, max_min(rings, room), strict=True)]
    whole = contention.how == "duty-cycle"
    return [ALONE if lack is None else Felt(whole=lack) if whole else Felt(wire=lack) for lack in lacks]


def capacities(speeds: Speeds) -> dict[Uplink, float]:
    """Of every uplink, whole bytes per second: of all its GPUs together at the level it leads to."""
    if speeds.bcube:
        levels = (("first card", RACK), ("second card", POD))
        cards = [(name, i, level, node) for name, level in levels for i, node in enumerate(speeds.nodes)]
        return {
            (name, i): float(floor(speeds.links_of(node)[level].bytes_per_s * node.gpus))
            for name, i, level, node in cards
        }
    nodes, room = speeds.nodes, {}
    in_rack = {node.rack: [n for n in nodes if n.rack == node.rack] for node in nodes}
    in_pod = {node.pod: {n.rack for n in nodes if n.pod == node.pod} for node in nodes}
    for index, node in enumerate(nodes):
        links = speeds.links_of(node)
        beyond = CLUSTER if len(in_pod[node.pod]) == 1 else POD
        leads_to = {
            ("node", index): beyond if len(in_rack[node.rack]) == 1 else RACK,
            ("rack", node.rack): beyond,
            ("pod", node.pod): CLUSTER,
        }
        for uplink, level in leads_to.items():
            room[uplink] = room.get(uplink, 0.0) + links[level].bytes_per_s * node.gpus
    return {uplink: float(floor(wide)) for uplink, wide in room.items()}


def by_rings(ring: Ring, rings: Sequence[Ring | None], penalty: float) -> float:
    nodes = [uplink for uplink in ring.crosses if uplink[0] in OF_NODES]
    most = max(sum(other is not None and node in other.crosses for other in rings) for node in nodes)
    return most + (most - 1) * penalty


def by_level(ring: Ring, rings: Sequence[Ring | None], room: dict[Uplink, float]) -> float:
    worst = 1.0
    for level in {uplink[0] for uplink in ring.crosses}:
        every = [uplink for uplink in room if uplink[0] == level]
        wanted = sum(other.wants for other in rings if other for uplink in other.crosses if uplink in every)
        worst = max(worst, wanted / sum(room[uplink] for uplink in every))
    return worst


def max_min(rings: Sequence[Ring | None], room: dict[Uplink, float]) -> list[float]:
    """All rise together; who has what it wants, or whose uplink is full, stops there."""
    share, left = [0.0] * len(rings), dict(room)
    rising = {i: ring for i, ring in enumerate(rings) if ring is not None}
    while rising:
        on = {uplink: sum(uplink in ring.crosses for ring in rising.values()) for uplink in left}
        full = {uplink: floor(left[uplink] / many * 1024) / 1024 for uplink, many in on.items() if many}
        stops = {i: min([ring.wants, *(full[uplink] for uplink in ring.crosses)]) for i, ring in rising.items()}
        level = min(stops.values())
        for i in [i for i, stop in stops.items() if stop == level]:
            share[i] = level
            for uplink in rising.pop(i).crosses:
                left[uplink] -= level
    return share
