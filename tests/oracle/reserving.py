"""Section 7: jobs that have waited longer than their limits get reservations, in policies without preemption."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from .model import Place
from .placement import alternatives
from .policies import Key, Pass, reserve
from .world import Life, World, to_ms

PARAMS = {"patience_s", "run_time_quantile"}
ONE = 2**16
BUCKETS = 640


@dataclass
class Head:
    nodes: set[int]
    shadow_ms: float
    place: Place


@dataclass
class ReservingWorld(World):
    reserving: Mapping[str, Any] = field(default_factory=dict)
    crowding: dict[int, float] = field(default_factory=dict)
    pended_ms: dict[int, int] = field(default_factory=dict)
    """Before it waits now, by row."""
    calls_ms: dict[int, int] = field(default_factory=dict)
    """When a waiting job is overdue, by row."""
    overdue: list[int] = field(default_factory=list)
    """Rows of waiting jobs."""
    shadows_ms: dict[int, float] = field(default_factory=dict)
    ratios: list[int] = field(default_factory=list)
    """Of run times to estimates, of the jobs that have finished: buckets."""

    @property
    def patience_ms(self) -> int:
        return to_ms(self.reserving.get("patience_s", 0))

    # -- what is predicted --------------------------------------------------------------------------------

    def finish(self, life: Life) -> None:
        super().finish(life)
        self.ratios.append(bucket_of(life.executed_ms, life.job.told_ms))

    def ratio(self, ran_ms: int, told_ms: float) -> float:
        """How many times its estimate a job runs that has run for so long."""
        least = bucket_of(ran_ms, told_ms)
        longer = sorted(bucket for bucket in self.ratios if bucket >= least)
        if not longer or least == BUCKETS - 1:
            return max(1.0, 2.0 * ran_ms / max(1.0, told_ms))
        enough = self.reserving["run_time_quantile"] * len(longer)
        return end_of(next(bucket for many, bucket in enumerate(longer, 1) if many >= enough))

    def predict(self, life: Life) -> None:
        ran_ms, told_ms = self.executed(life), life.job.told_ms
        left_ms = max(1, math.ceil(self.ratio(ran_ms, told_ms) * max(1, told_ms)) - ran_ms)
        life.estimated_end_ms = max(self.now, life.running_from_ms if life.state == "STARTING" else 0) + left_ms

    def start(self, life: Life, chosen: Place) -> None:
        super().start(life, chosen)
        self.pended_ms[life.row] = self.pended_ms.get(life.row, 0) + self.now - life.pending_since_ms
        self.forget_wait(life)
        self.shadows_ms.pop(life.row, None)
        if self.patience_ms:
            self.predict(life)

    def begin_to_run(self, life: Life) -> None:
        super().begin_to_run(life)
        if self.patience_ms:
            self.predict(life)

    def apply_level(self) -> bool:
        for life in self.having("RUNNING"):
            if self.patience_ms and life.estimated_end_ms <= self.now:
                self.predict(life)
                return True
        return super().apply_level()

    # -- waits --------------------------------------------------------------------------------------------

    def become_pending(self, life: Life) -> None:
        if life.row not in self.crowding:
            queued = sum(other.job.gpus for other in self.having("PENDING"))
            first = next(nodes for nodes in self.alternatives_of(life) if nodes)
            width = min(1.0, max(self.nodes[node].gpus for node in first) / life.job.gpus)
            self.crowding[life.row] = (1.0 + queued / sum(node.gpus for node in self.nodes)) * math.sqrt(width)
        super().become_pending(life)
        self.calls_ms[life.row] = max(self.overdue_from_ms(life), self.now + 1)

    def alternatives_of(self, life: Life) -> list[list[int]]:
        return [list(nodes) for nodes in alternatives(self.nodes, life.job)]

    def overdue_from_ms(self, life: Life) -> int:
        limit_ms = math.floor(self.patience_ms * self.crowding[life.row])
        return life.pending_since_ms + limit_ms - self.pended_ms.get(life.row, 0)

    def join_overdue(self, life: Life) -> bool:
        due = self.patience_ms > 0 and self.calls_ms.get(life.row, inf) <= self.now
        if due:
            del self.calls_ms[life.row]
            self.overdue.append(life.row)
        return due

    def forget_wait(self, life: Life) -> None:
        self.overdue = [row for row in self.overdue if row != life.row]
        self.calls_ms.pop(life.row, None)

    def cancel(self, life: Life) -> None:
        super().cancel(life)
        self.forget_wait(life)

    def due(self, life: Life) -> Iterator[int]:
        yield from super().due(life)
        if self.patience_ms:
            if life.row in self.calls_ms:
                yield self.calls_ms[life.row]
            if life.state == "RUNNING":
                yield life.estimated_end_ms

    def apply_timer(self) -> bool:
        return any(self.join_overdue(life) for life in self.having("PENDING")) or super().apply_timer()

    # -- heads --------------------------------------------------------------------------------------------

    def head_of(self, life: Life) -> Head:
        """Of an overdue job without a place."""
        shadow_ms, chosen = reserve(self, life)
        if shadow_ms < inf:
            kept_ms = self.shadows_ms.get(life.row, inf)
            if self.now > kept_ms + 2 * self.patience_ms:
                kept_ms = inf
            shadow_ms = self.shadows_ms[life.row] = min(kept_ms, shadow_ms)
        return Head(self.eligible_nodes(life), shadow_ms, chosen)

    def ends_in_time(self, life: Life, heads: list[Head]) -> bool:
        """Whether it is predicted to end by the shadow times of the heads that could use its nodes, of which there are
        some.
        """
        mine = [head.shadow_ms for head in heads if head.nodes & self.eligible_nodes(life)]
        if not mine:
            return False
        return life.job.told_ms <= (min(mine) - self.now - self.rules.start_ms) / self.ratio(0, 1)


def bucket_of(ran_ms: int, told_ms: float) -> int:
    ratio = max(1.0, ONE * ran_ms / max(1.0, told_ms))
    mantissa, power = math.frexp(ratio)
    return min(16 * (power - 1) + math.floor(16 * (2 * mantissa - 1)), BUCKETS - 1)


def end_of(bucket: int) -> float:
    power, part = divmod(bucket + 1, 16)
    return (16 + part) * 2.0**power / (16 * ONE)


def serve_overdue(this: Pass, start: Callable[[Life], bool | None]) -> list[Head]:
    """Try the jobs that have waited too long; those without a place are heads. `start` says whether it had a place;
    None: it is neither.
    """
    world = this.world
    assert isinstance(world, ReservingWorld)
    heads: list[Head] = []
    for row in list(world.overdue):
        life = world.lives[row]
        if any(head.nodes & world.eligible_nodes(life) for head in heads) or this.is_closed(life):
            continue
        if start(life) is False:
            heads.append(world.head_of(life))
    return heads


def reserved_for(heads: list[Head]) -> Place:
    return frozenset().union(*(head.place for head in heads))


def backfill(world: World, key: Key) -> None:
    """fifo-backfill and sjf-backfill: who has no place is passed over, or is a head."""
    assert isinstance(world, ReservingWorld)
    if not world.free():
        return
    this = Pass(world)
    heads = serve_overdue(this, lambda life: this.over_limit(life) or this.start(life))
    reserved = reserved_for(heads)
    if reserved:
        for life in this.waiting_in_order(key):
            if not this.is_closed(life) and world.ends_in_time(life, heads):
                this.start(life)
    for life in this.waiting_in_order(key):
        if not this.is_closed(life):
            this.start(life, not_on=reserved)
