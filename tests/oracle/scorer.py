"""Section 7, `scorer`: the candidates for a gang, what speaks against each, and the one of least cost."""

from .gang_places import (
    Counts,
    compact_or_packed,
    fewest,
    in_all,
    lb,
    lif,
    most_nodes,
    of_socket,
    on_sockets,
    racks_of,
    widest_rack,
)
from .model import Place
from .schedulers import Free, PlacerWorld
from .world import Life

AT_MOST = 30
"""Candidates, but for those of `lb` and `lif`."""
FEATURES = ("slow_down", "harm", "servers", "racks", "gpus_left", "broken_sockets")


def scorer(world: PlacerWorld, life: Life, free: Free) -> Place:
    places = [on_sockets(world, free, counts) for counts in candidates(world, life, free)]
    if world.is_patient(life):
        places = [place for place in places if is_compact(world, free, place)]
    costs = [cost(world, life, place) for place in places]
    return places[costs.index(min(costs))]


def candidates(world: PlacerWorld, life: Life, free: Free) -> list[Counts]:
    gpus = life.job.gpus
    first = [{node: gpus} for node in roomy_nodes(world, gpus, free)] or in_racks(world, life, free)
    if gpus == 1 and len(first) < AT_MOST:
        return first
    return [*first[:AT_MOST], lb(world, life, free), lif(world, life, free)]


def roomy_nodes(world: PlacerWorld, gpus: int, free: Free) -> list[int]:
    """Those with room for all, by free GPUs; of those of a type on which nothing is only the first."""
    found: list[int] = []
    met: set[tuple[str, int]] = set()
    for node in sorted((n for n in free if len(free[n]) >= gpus), key=lambda n: (len(free[n]), n)):
        kind = (world.nodes[node].gpu_type, world.nodes[node].gpus)
        if len(free[node]) < world.nodes[node].gpus or kind not in met:
            found.append(node)
        if len(free[node]) == world.nodes[node].gpus:
            met.add(kind)
    return found


def in_racks(world: PlacerWorld, life: Life, free: Free) -> list[Counts]:
    """As `packed-patience`, and in each rack with room in two ways, as long as both are among the first."""
    gpus = life.job.gpus
    found = [compact_or_packed(world, life, free)]
    for rack in sorted((rack for rack in racks_of(world, free) if in_all(rack) >= gpus), key=in_all):
        if len(found) + 2 <= AT_MOST:
            found.append(fewest(rack, gpus))
            found.append(fewest(rack, gpus, lambda node: -world.idle_share(node, life, 0)))
    return found


def is_compact(world: PlacerWorld, free: Free, place: Place) -> bool:
    nodes = {node for node, _ in place}
    one_rack = len({(world.nodes[node].pod, world.nodes[node].rack) for node in nodes}) == 1
    return len(nodes) <= most_nodes(world, len(place), free) and (one_rack or len(place) > widest_rack(world, free))


# -- what speaks against a place -----------------------------------------------------------------------


def cost(world: PlacerWorld, life: Life, place: Place) -> float:
    return sum(world.weights[name] * value for name, value in zip(FEATURES, features(world, life, place), strict=True))


def features(world: PlacerWorld, life: Life, place: Place) -> tuple[float, ...]:
    """In the order of their names."""
    nodes = {node for node, _ in place}
    racks = {(world.nodes[node].pod, world.nodes[node].rack) for node in nodes}
    left = sum(gpu[0] in nodes and gpu not in place for gpu in world.free())
    rates = world.forecast({life.row: place})
    return (
        1 / rates[life.row] - 1,
        harm(world, life, rates) / left_ms(world, life),
        len(nodes) - 1,
        len(racks) - 1,
        left / 8,
        sum(broken_sockets(world, node, place) for node in nodes) / 4,
    )


def harm(world: PlacerWorld, life: Life, rates: dict[int, float]) -> float:
    """Ms by which others end later."""
    later = 0.0
    for row, before in world.forecast({}).items():
        if rates[row] < before:
            together = min(left_ms(world, life) / rates[life.row], left_ms(world, world.lives[row]) / before)
            later += together * (before - rates[row]) / rates[row]
    return later


def left_ms(world: PlacerWorld, life: Life) -> float:
    return max(1.0, world.remaining(life))


def broken_sockets(world: PlacerWorld, node: int, place: Place) -> int:
    free = [gpu for gpu in world.free() if gpu[0] == node]
    sockets = [set(of_socket(world, node, free, socket)) for socket in range(world.sockets(node))]
    return sum(bool(gpus & place) and bool(gpus - place) for gpus in sockets)
