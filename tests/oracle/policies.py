"""Sections 4 and 7: one pass of each policy."""

import math
from collections.abc import Callable, Iterator

from .model import Gpu, Place
from .placement import alternatives
from .waiting import TurnsWorld
from .world import Life, World

Key = Callable[[Life], float]
FindPlace = Callable[[Life, set[Gpu]], Place | None]


class Pass:
    """One call of a policy: what it has closed and started so far."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.closed_queues: set[str] = set()
        self.started_rows: set[int] = set()
        world.end_free_claims()

    def waiting_in_order(self, key: Key) -> Iterator[Life]:
        """Each waiting job once; who becomes waiting meanwhile is found if his turn is yet to come."""
        last: tuple[float, ...] = ()
        while True:
            turns = {(-life.job.priority, key(life), life.row): life for life in self.world.waiting()}
            ahead = [turn for turn in turns if turn > last]
            if not ahead:
                return
            last = min(ahead)
            yield turns[last]

    def is_closed(self, life: Life) -> bool:
        return life.job.queue in self.closed_queues

    def over_limit(self, life: Life) -> bool:
        """Section 4: whether this job's start would take its queue above its limit; if so, the queue closes."""
        queue = life.job.queue
        limit = self.world.rules.queue_limits.get(queue)
        more = 0 if self.world.has_claim(life) else life.job.gpus
        over = limit is not None and self.world.queue_held(queue) + more > limit
        if over:
            self.closed_queues.add(queue)
        return over

    def find_place(self, life: Life, not_on: Place = frozenset()) -> Place | None:
        """A place on the free GPUs that are not in `not_on`."""
        return self.world.find_place(life, self.world.free() - not_on)

    def start(self, life: Life, not_on: Place = frozenset()) -> bool:
        """Start the job if it has a place and its queue has room; False if it has no place."""
        chosen = self.find_place(life, not_on)
        if chosen is not None and not self.over_limit(life):
            self.start_on(life, chosen)
        return chosen is not None

    def start_on(self, life: Life, chosen: Place) -> None:
        self.world.start(life, chosen)
        self.started_rows.add(life.row)

    def evict_for(
        self, life: Life, key: Key, worse: Callable[[Life], bool], worst_first: Key, find: FindPlace | None = None
    ) -> bool:
        """The eviction by a waiting job that has no place on the free GPUs; False if it has none then either. Waiting
        jobs are in the order of `key`.
        """
        world = self.world
        if world.has_claim(life):
            return True
        find = find or world.find_place
        candidates = [v for v in world.having("RUNNING") if v.row not in self.started_rows and worse(v)]
        candidates.sort(key=lambda v: (v.job.priority, worst_first(v), -v.row))
        released: list[Life] = []
        turn = (-life.job.priority, key(life))
        later = [(other, place) for other, place in world.claims if (-other.job.priority, key(other)) > turn]
        promised = {gpu for _, place in later for gpu in place}
        open_gpus, chosen = world.free(), None
        for more in (promised - world.taken(), world.stopping(), promised):
            open_gpus |= more
            chosen = chosen or find(life, open_gpus)
        while chosen is None and candidates:
            released.append(candidates.pop(0))
            open_gpus |= world.up(released[-1].place)
            chosen = find(life, open_gpus)
        if chosen is None or self.over_limit(life):
            return chosen is not None
        for victim in released:
            if victim.place & chosen:
                world.preempt(victim)
        for other, place in later:
            if place & chosen:
                world.end_claim(other)
        if chosen <= world.free():
            self.start_on(life, chosen)
        else:
            world.claim(life, chosen)
        return True


def by_row(life: Life) -> float:
    return life.row


def by_estimate(life: Life) -> float:
    return life.job.told_ms


def strict(world: World, key: Key) -> None:
    """fifo and sjf: no job overtakes one that could use the same nodes; limits are looked at first."""
    this = Pass(world)
    blocked: set[int] = set()
    for life in this.waiting_in_order(key):
        nodes = world.eligible_nodes(life)
        if this.is_closed(life) or nodes <= blocked or this.over_limit(life):
            continue
        if nodes & blocked or not this.start(life):
            blocked |= nodes


def backfill(world: World, key: Key) -> None:
    """fifo-backfill and sjf-backfill: who has no place is passed over."""
    this = Pass(world)
    for life in this.waiting_in_order(key):
        if not this.is_closed(life):
            this.start(life)


def easy(world: World, key: Key = by_row) -> None:
    this = Pass(world)
    heads: list[tuple[set[int], float, Place]] = []
    for life in this.waiting_in_order(key):
        nodes = world.eligible_nodes(life)
        mine = [head for head in heads if head[0] & nodes]
        if this.is_closed(life) or (not mine and this.over_limit(life)):
            continue
        if mine:
            ends_ms = world.now + world.delay_ms(life) + world.remaining(life)
            ends_in_time = all(ends_ms <= shadow_ms for _, shadow_ms, _ in mine)
            reserved = frozenset().union(*(gpus for _, _, gpus in heads))
            this.start(life, not_on=frozenset() if ends_in_time else reserved)
        elif not this.start(life):
            heads.append((nodes, *reserve(world, life)))


def reserve(world: World, head: Life) -> tuple[float, Place]:
    """The shadow time of the head and the GPUs reserved for it then."""
    holders = world.having("STARTING", "RUNNING", "STOPPING")
    free = world.free()
    for end_ms in sorted({life.estimated_end_ms for life in holders}):
        for life in holders:
            if life.estimated_end_ms == end_ms:
                free |= world.up(life.place)
        chosen = world.find_place(head, free)
        if chosen is not None:
            return end_ms, chosen
    return float("inf"), frozenset()


def srtf(world: World) -> None:
    assert isinstance(world, TurnsWorld)
    in_turn(world, world.remaining, world.bar_left, world.remaining)


def tiresias(world: World) -> None:
    """tiresias and las: they differ in their thresholds."""
    assert isinstance(world, TurnsWorld)
    in_turn(world, world.level, world.bar_level, world.level_as_victim)


def in_turn(world: TurnsWorld, key: Key, bar: Key, key_as_victim: Key) -> None:
    """Waiting jobs by `key` evict running ones whose key exceeds their bar."""
    world.grant()
    this = Pass(world)
    refused: dict[object, int] = {}
    """By all but the width of a demand: the least width that was passed over."""
    held_back: set[int] = set()
    """Nodes on which no other job starts than one that goes first and has no place."""
    for life in this.waiting_in_order(world.turn(key)):
        nodes, others = world.eligible_nodes(life), demand_but_width(world, life)
        if this.is_closed(life) or nodes & held_back or life.job.gpus >= refused.get(others, math.inf):
            continue
        if this.start(life) or evict_in_turn(this, world, life, key, bar, key_as_victim):
            continue
        if world.goes_first(life):
            held_back |= nodes
        else:
            refused[others] = life.job.gpus


def demand_but_width(world: World, life: Life) -> object:
    job = life.job
    queue = job.queue if job.queue in world.rules.queue_limits else None
    return tuple(tuple(nodes) for nodes in alternatives(world.nodes, job) if nodes), job.per_node, queue


def evict_in_turn(
    this: Pass, world: TurnsWorld, life: Life, key: Key, bar: Key, key_as_victim: Key, find: FindPlace | None = None
) -> bool:
    rank = (-life.job.priority, -math.inf if world.goes_first(life) else bar(life))
    keys = {v.row: -math.inf if world.goes_first(v) else key_as_victim(v) for v in world.having("RUNNING")}
    return this.evict_for(
        life,
        world.turn(key),
        worse=lambda v: (-v.job.priority, keys[v.row]) > rank,
        worst_first=lambda v: -keys[v.row],
        find=find,
    )
