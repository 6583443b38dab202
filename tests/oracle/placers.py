"""Section 7, the placers: the order of fifo-backfill, and which GPUs each gang gets.

Nodes have two sockets; nothing slows jobs on nodes, so no cores are counted and every node interferes as little.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from .model import Gpu, Place
from .placement import alternatives
from .policies import Pass, by_row
from .world import Life, World

Free = dict[int, list[Gpu]]
"""The free GPUs of each eligible node."""
SOCKETS = 2


def offered(world: World, life: Life) -> Free | None:
    """Of the first alternative that has enough."""
    for eligible in alternatives(world.nodes, life.job):
        free = {node: sorted(gpu for gpu in world.free() if gpu[0] == node) for node in eligible}
        if sum(map(len, free.values())) >= life.job.gpus:
            return free
    return None


def in_order(world: World, counts: Callable[[World, Free, int], dict[int, int]]) -> None:
    """`counts`: how many GPUs each node gives."""
    this = Pass(world)
    for life in this.waiting_in_order(by_row):
        if this.is_closed(life):
            continue
        free = offered(world, life)
        if free is not None and not this.over_limit(life):
            this.start_on(life, on_sockets(world, free, counts(world, free, life.job.gpus)))


def on_sockets(world: World, free: Free, counts: dict[int, int]) -> Place:
    """On each node the GPUs of as few sockets as there need be."""
    chosen: set[Gpu] = set()
    for node, k in counts.items():
        left = list(free[node])
        while k > 0:
            socket = min(range(SOCKETS), key=lambda s: suits(len(of_socket(world, node, left, s)), k, s))
            taken = of_socket(world, node, left, socket)[:k]
            left = [gpu for gpu in left if gpu not in taken]
            chosen |= set(taken)
            k -= len(taken)
    return frozenset(chosen)


def of_socket(world: World, node: int, gpus: list[Gpu], socket: int) -> list[Gpu]:
    return [gpu for gpu in gpus if gpu[1] * SOCKETS // world.nodes[node].gpus == socket]


def suits(free: int, wanted: int, index: int) -> tuple[bool, int, int]:
    """The least is best: the fewest free that is enough, else the most."""
    return (free < wanted, free if free >= wanted else -free, index)


def one_by_one(free: Free, gpus: int, good: Callable[[int, int], float]) -> dict[int, int]:
    """Each worker on the node that is best (the most of `good`, of the node and its workers so far), lowest index."""
    counts = dict.fromkeys(free, 0)
    for _ in range(gpus):
        open_nodes = [node for node in free if counts[node] < len(free[node])]
        counts[min(open_nodes, key=lambda node: (-good(node, counts[node]), node))] += 1
    return counts


def lb(world: World, free: Free, gpus: int) -> dict[int, int]:
    return one_by_one(free, gpus, lambda node, workers: len(free[node]) - workers)


def tetris(world: World, free: Free, gpus: int) -> dict[int, int]:
    return one_by_one(free, gpus, lambda node, workers: (len(free[node]) - workers) / world.nodes[node].gpus)


def packed(world: World, free: Free, gpus: int) -> dict[int, int]:
    if max(map(len, free.values())) >= gpus:
        return fewest(free, gpus)
    racks: dict[tuple[int, int], Free] = {}
    for node, own in free.items():
        racks.setdefault((world.nodes[node].pod, world.nodes[node].rack), {})[node] = own
    fitting = [nodes for nodes in racks.values() if sum(map(len, nodes.values())) >= gpus]
    return fewest(min(fitting, key=lambda nodes: sum(map(len, nodes.values())), default=free), gpus)


def fewest(free: Free, gpus: int) -> dict[int, int]:
    counts: dict[int, int] = {}
    while gpus > 0:
        node = min((n for n in free if n not in counts), key=lambda n: suits(len(free[n]), gpus, n))
        counts[node] = min(gpus, len(free[node]))
        gpus -= counts[node]
    return counts


@dataclass
class PatientWorld(World):
    """Of `packed-patience`, which is called when the patience of a waiting job ends."""

    patience: float = 0.5

    def patient_until_ms(self, life: Life) -> int:
        return life.job.submit_ms + math.ceil(self.patience * max(0, life.job.told_ms))

    def next_event_ms(self) -> int | None:
        ends = [end for end in map(self.patient_until_ms, self.having("PENDING")) if end > self.now]
        return min((at for at in (super().next_event_ms(), *ends) if at is not None), default=None)


def compact(world: World, life: Life, free: Free) -> dict[int, int] | None:
    """On as few nodes as could hold it, in one rack if a rack could."""
    gpus, nodes = life.job.gpus, world.nodes
    fewest_nodes = math.ceil(gpus / max(nodes[node].gpus for node in free))
    racks: dict[tuple[int, int], Free] = {}
    for node, own in free.items():
        racks.setdefault((nodes[node].pod, nodes[node].rack), {})[node] = own
    room = max(sum(nodes[node].gpus for node in rack) for rack in racks.values())
    within = [free] if fewest_nodes == 1 or gpus > room else list(racks.values())
    fitting = [some for some in within if sum(map(len, some.values())) >= gpus]
    chosen = [some for some in fitting if len(fewest(some, gpus)) <= fewest_nodes]
    return fewest(min(chosen, key=lambda some: sum(map(len, some.values()))), gpus) if chosen else None


def packed_patience(world: World) -> None:
    """The first job that takes what is free, again and again."""
    assert isinstance(world, PatientWorld)
    this = Pass(world)
    while any(start_willing(this, world, life) for life in this.waiting_in_order(by_row) if not this.is_closed(life)):
        pass


def start_willing(this: Pass, world: PatientWorld, life: Life) -> bool:
    """Whether it takes what is free; it is started then, unless its queue is full and closed for it."""
    free = offered(world, life)
    counts = None if free is None else compact(world, life, free)
    if free is not None and counts is None and world.patient_until_ms(life) <= world.now:
        counts = packed(world, free, life.job.gpus)
    if free is None or counts is None:
        return False
    if not this.over_limit(life):
        this.start_on(life, on_sockets(world, free, counts))
    return True


PLACERS: dict[str, Callable[[World], None]] = {
    "lb": lambda world: in_order(world, lb),
    "tetris-place": lambda world: in_order(world, tetris),
    "lif": lambda world: in_order(world, lb),  # where no node is calmer than another
    "packed": lambda world: in_order(world, packed),
    "packed-lif": lambda world: in_order(world, packed),
    "packed-patience": packed_patience,
}
