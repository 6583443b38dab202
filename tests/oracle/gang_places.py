"""Section 7, the placers: which free GPUs a gang gets."""

import math
from collections.abc import Callable

from .model import Gpu, Place
from .schedulers import Free, PlacerWorld
from .world import Life

Counts = dict[int, int]
"""How many GPUs each node gives."""
Score = Callable[[int], float]
"""Of a node, the less the better."""


def on_sockets(world: PlacerWorld, free: Free, counts: Counts) -> Place:
    """On each node the GPUs of as few sockets as there need be."""
    chosen: set[Gpu] = set()
    for node, k in counts.items():
        left = list(free[node])
        while k > 0:
            every = range(world.sockets(node))
            socket = min(every, key=lambda s: suits(len(of_socket(world, node, left, s)), k, s))
            taken = of_socket(world, node, left, socket)[:k]
            left = [gpu for gpu in left if gpu not in taken]
            chosen |= set(taken)
            k -= len(taken)
    return frozenset(chosen)


def of_socket(world: PlacerWorld, node: int, gpus: list[Gpu], socket: int) -> list[Gpu]:
    return [gpu for gpu in gpus if gpu[1] * world.sockets(node) // world.nodes[node].gpus == socket]


def suits(free: int, wanted: int, index: int) -> tuple[bool, int, int]:
    """The least is best: the fewest free that is enough, else the most."""
    return (free < wanted, free if free >= wanted else -free, index)


# -- worker by worker ----------------------------------------------------------------------------------


def one_by_one(free: Free, gpus: int, good: Callable[[int, int], tuple[float, ...]]) -> Counts:
    """Each worker on the node that is best (the most of `good`, of the node and its workers so far), lowest index."""
    counts = dict.fromkeys(free, 0)
    for _ in range(gpus):
        open_nodes = [node for node in free if counts[node] < len(free[node])]
        best = max(open_nodes, key=lambda node: (*good(node, counts[node]), -node))
        counts[best] += 1
    return counts


def lb(world: PlacerWorld, life: Life, free: Free) -> Counts:
    return one_by_one(free, life.job.gpus, lambda node, workers: (len(free[node]) - workers,))


def tetris(world: PlacerWorld, life: Life, free: Free) -> Counts:
    def shares(node: int, workers: int) -> tuple[float]:
        gpus = (len(free[node]) - workers) / world.nodes[node].gpus
        return (gpus + world.idle_share(node, life, workers),)

    return one_by_one(free, life.job.gpus, shares)


def lif(world: PlacerWorld, life: Life, free: Free) -> Counts:
    def calm(node: int, workers: int) -> tuple[float, int]:
        slowed = world.slowed(life, on_sockets(world, free, {node: workers + 1}))
        return -slowed * math.sqrt(world.overload(node)), len(free[node]) - workers

    return one_by_one(free, life.job.gpus, calm)


def hashed(*numbers: int) -> int:
    """A number below 2^32."""
    h = 0x9E3779B9
    for x in numbers:
        h = ((h ^ x % 2**32) * 73244475) % 2**32
        h = ((h ^ h >> 16) * 73244475) % 2**32
        h ^= h >> 16
    return h


def random_place(world: PlacerWorld, life: Life, free: Free) -> Place:
    world.draws += 1
    chosen: set[Gpu] = set()
    gpus = sorted(gpu for own in free.values() for gpu in own)
    for left, gpu in zip(range(len(gpus), 0, -1), gpus, strict=True):
        if hashed(world.random_seed, world.draws, left) * left < (life.job.gpus - len(chosen)) * 2**32:
            chosen.add(gpu)
    return frozenset(chosen)


# -- on few nodes --------------------------------------------------------------------------------------


def racks_of(world: PlacerWorld, free: Free) -> list[Free]:
    """In their order, what each has of the eligible nodes."""
    racks: dict[tuple[int, int], Free] = {}
    for node in sorted(free):
        racks.setdefault((world.nodes[node].pod, world.nodes[node].rack), {})[node] = free[node]
    return list(racks.values())


def in_all(free: Free) -> int:
    return sum(map(len, free.values()))


def fewest(free: Free, gpus: int, score: Score = lambda node: 0.0) -> Counts:
    """Node by node: of those with room for the rest the least score, then the fewest free; else the most free, then the
    least score.
    """
    counts: Counts = {}
    while gpus > 0:

        def rank(node: int, wanted: int = gpus) -> tuple[float, ...]:
            has = len(free[node])
            return (0, score(node), has, node) if has >= wanted else (1, -has, score(node), node)

        node = min((n for n in free if n not in counts), key=rank)
        counts[node] = min(gpus, len(free[node]))
        gpus -= counts[node]
    return counts


def packed(world: PlacerWorld, life: Life, free: Free, score: Score = lambda node: 0.0) -> Counts:
    gpus = life.job.gpus
    if max(map(len, free.values())) >= gpus:
        return fewest(free, gpus, score)
    fitting = [rack for rack in racks_of(world, free) if in_all(rack) >= gpus]
    return fewest(min(fitting, key=in_all, default=free), gpus, score)


def packed_lif(world: PlacerWorld, life: Life, free: Free) -> Counts:
    def suffers(node: int) -> float:
        workers = min(life.job.gpus, len(free[node]))
        return world.slowed(life, on_sockets(world, free, {node: workers})) if workers else math.inf

    return packed(world, life, free, suffers)


def compact(world: PlacerWorld, life: Life, free: Free) -> Counts | None:
    """On as few nodes as could hold it, in one rack if a rack could."""
    gpus = life.job.gpus
    most = most_nodes(world, gpus, free)
    within = [free] if most == 1 or gpus > widest_rack(world, free) else racks_of(world, free)
    fitting = [some for some in within if in_all(some) >= gpus]
    chosen = [some for some in fitting if len(fewest(some, gpus)) <= most]
    return fewest(min(chosen, key=in_all), gpus) if chosen else None


def most_nodes(world: PlacerWorld, gpus: int, free: Free) -> int:
    """Of a compact place."""
    return math.ceil(gpus / max(world.nodes[node].gpus for node in free))


def widest_rack(world: PlacerWorld, free: Free) -> int:
    """The GPUs, free or not, of the rack that has most."""
    return max(sum(world.nodes[node].gpus for node in rack) for rack in racks_of(world, free))


def compact_or_packed(world: PlacerWorld, life: Life, free: Free) -> Counts:
    return compact(world, life, free) or packed(world, life, free)
