"""Section 7, the placers: the order of fifo-backfill, which scheduler a job belongs to, and which GPUs each gang gets.

Nodes have two sockets; nothing slows jobs on nodes, so no cores are counted and every node interferes as little.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .model import Gpu, Node, Place
from .placement import alternatives
from .policies import Pass, by_row
from .world import Life, World

Free = dict[int, list[Gpu]]
"""The free GPUs of each eligible node."""
Counts = dict[int, int]
"""How many GPUs each node gives."""
SOCKETS = 2


@dataclass
class PlacerWorld(World):
    """Of the placers, which are called when the patience of a waiting job ends."""

    patience: float = 0.0
    schedulers: int = 1
    forward: bool = True
    seed: int = 0
    belongs_to: dict[int, int] = field(default_factory=dict)
    """The scheduler of each job, by row."""
    forwarded: list[tuple[int, int, int]] = field(default_factory=list)
    """Rows, and from which scheduler to which."""

    def __post_init__(self) -> None:
        drawn = np.random.default_rng([self.seed, 0x686F6D65]).random(len(self.lives))
        for life, chance in zip(self.lives, drawn.tolist(), strict=True):
            able = [p for p in range(self.schedulers) if self.could_hold(p, life)]
            self.belongs_to[life.row] = able[math.floor(chance * len(able))]

    def could_hold(self, scheduler: int, life: Life) -> bool:
        mine = owned_nodes(tuple(self.nodes), scheduler, self.schedulers)
        sets = [[n for n in eligible if n in mine] for eligible in alternatives(self.nodes, life.job)]
        return any(sum(self.nodes[n].gpus for n in eligible) >= life.job.gpus for eligible in sets)

    def patient_until_ms(self, life: Life) -> int:
        return life.job.submit_ms + math.ceil(self.patience * max(0, life.job.told_ms))

    def is_patient(self, life: Life) -> bool:
        return self.patient_until_ms(life) > self.now

    def next_event_ms(self) -> int | None:
        ends = [self.patient_until_ms(life) for life in self.having("PENDING") if self.is_patient(life)]
        return min((at for at in (super().next_event_ms(), *ends) if at is not None), default=None)


@lru_cache(maxsize=64)
def owned_nodes(nodes: tuple[Node, ...], scheduler: int, schedulers: int) -> set[int]:
    """The nodes of a scheduler: whole racks."""
    names = list(dict.fromkeys((node.pod, node.rack) for node in nodes))
    racks = [names.index((node.pod, node.rack)) for node in nodes]
    gpus = [sum(node.gpus for node, of in zip(nodes, racks, strict=True) if of == r) for r in range(len(names))]
    owners = owners_of_racks(gpus, schedulers)
    return {n for n, rack in enumerate(racks) if owners[rack] == scheduler}


def owners_of_racks(gpus: list[int], schedulers: int) -> list[int]:
    """One cut after another, where the GPUs so far are nearest to their share, and a rack is left for each."""
    owners, cut = [], 0
    for k in range(1, schedulers + 1):
        possible = range(cut + 1, len(gpus) - (schedulers - k) + 1)
        share = Fraction(k * sum(gpus), schedulers)
        following = min(possible, key=lambda c: abs(sum(gpus[:c]) - share)) if k < schedulers else len(gpus)
        owners += [k - 1] * (following - cut)
        cut = following
    return owners


def offered(world: PlacerWorld, life: Life, scheduler: int) -> Free | None:
    """Of the first alternative that has enough, on the scheduler's nodes."""
    mine = owned_nodes(tuple(world.nodes), scheduler, world.schedulers)
    everywhere = world.free()
    for eligible in alternatives(world.nodes, life.job):
        free: Free = {node: [] for node in eligible if node in mine}
        for gpu in sorted(gpu for gpu in everywhere if gpu[0] in free):
            free[gpu[0]].append(gpu)
        if sum(map(len, free.values())) >= life.job.gpus:
            return free
    return None


Choose = Callable[[World, Life, Free], Counts]


def in_order(choose: Choose) -> Callable[[World], None]:
    """The first job that takes what is free, again and again."""

    def decide(world: World) -> None:
        assert isinstance(world, PlacerWorld)
        this = Pass(world)
        while any(
            start(this, world, life, choose) for life in this.waiting_in_order(by_row) if not this.is_closed(life)
        ):
            pass

    return decide


def start(this: Pass, world: PlacerWorld, life: Life, choose: Choose) -> bool:
    """Whether it takes what is free; it is started then, unless its queue is full and closed for it."""
    mine = world.belongs_to[life.row]
    found = found_by(world, life, mine, choose)
    to = mine
    if found is None and world.forward and life.row not in [row for row, _, _ in world.forwarded]:
        others = [p for p in range(world.schedulers) if found_by(world, life, p, choose) is not None]
        to = min(others, key=lambda p: -sum(map(len, (offered(world, life, p) or {}).values())), default=mine)
        found = found_by(world, life, to, choose)
    if found is None:
        return False
    if not this.over_limit(life):
        if to != mine:
            world.forwarded.append((life.row, mine, to))
            world.belongs_to[life.row] = to
        this.start_on(life, found)
    return True


def found_by(world: PlacerWorld, life: Life, scheduler: int, choose: Choose) -> Place | None:
    """Where a scheduler would place it now."""
    free = offered(world, life, scheduler)
    if free is None:
        return None
    counts = compact(world, life, free) if world.is_patient(life) else choose(world, life, free)
    return None if counts is None else on_sockets(world, free, counts)


def on_sockets(world: World, free: Free, counts: Counts) -> Place:
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


def one_by_one(free: Free, gpus: int, good: Callable[[int, int], float]) -> Counts:
    """Each worker on the node that is best (the most of `good`, of the node and its workers so far), lowest index."""
    counts = dict.fromkeys(free, 0)
    for _ in range(gpus):
        open_nodes = [node for node in free if counts[node] < len(free[node])]
        counts[min(open_nodes, key=lambda node: (-good(node, counts[node]), node))] += 1
    return counts


def lb(world: World, life: Life, free: Free) -> Counts:
    return one_by_one(free, life.job.gpus, lambda node, workers: len(free[node]) - workers)


def tetris(world: World, life: Life, free: Free) -> Counts:
    return one_by_one(free, life.job.gpus, lambda node, workers: (len(free[node]) - workers) / world.nodes[node].gpus)


def packed(world: World, life: Life, free: Free) -> Counts:
    gpus = life.job.gpus
    if max(map(len, free.values())) >= gpus:
        return fewest(free, gpus)
    racks: dict[tuple[int, int], Free] = {}
    for node, own in free.items():
        racks.setdefault((world.nodes[node].pod, world.nodes[node].rack), {})[node] = own
    fitting = [nodes for nodes in racks.values() if sum(map(len, nodes.values())) >= gpus]
    return fewest(min(fitting, key=lambda nodes: sum(map(len, nodes.values())), default=free), gpus)


def fewest(free: Free, gpus: int) -> Counts:
    counts: Counts = {}
    while gpus > 0:
        node = min((n for n in free if n not in counts), key=lambda n: suits(len(free[n]), gpus, n))
        counts[node] = min(gpus, len(free[node]))
        gpus -= counts[node]
    return counts


def compact(world: World, life: Life, free: Free) -> Counts | None:
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


def compact_or_packed(world: World, life: Life, free: Free) -> Counts:
    return compact(world, life, free) or packed(world, life, free)


PLACERS: dict[str, Callable[[World], None]] = {
    "lb": in_order(lb),
    "tetris-place": in_order(tetris),
    "lif": in_order(lb),  # where no node is calmer than another
    "packed": in_order(packed),
    "packed-lif": in_order(packed),
    "packed-patience": in_order(compact_or_packed),
}
