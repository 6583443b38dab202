"""Section 7: `conservative`, whose plan outlives the cycle."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .model import Gpu, Place
from .placement import every_gpu
from .policies import Key, Pass, by_row
from .world import Life, World

PARAMS = {"depth"}
NEVER = float("inf")


@dataclass
class Reservation:
    life: Life
    begin_ms: float
    end_ms: float
    place: Place


@dataclass
class PlanWorld(World):
    settings: Mapping[str, Any] = field(default_factory=dict)
    plan: list[Reservation] = field(default_factory=list)
    broken: bool = False
    """Something happened that the plan did not foresee."""

    def finish(self, life: Life) -> None:
        self.broken |= self.now != life.estimated_end_ms
        super().finish(life)

    def cancel(self, life: Life) -> None:
        self.broken |= life.end_ms is None
        super().cancel(life)

    def apply_level(self) -> bool:
        overran = super().apply_level()
        self.broken |= overran
        return overran

    def apply_script(self) -> None:
        self.broken = True
        super().apply_script()

    def start(self, life: Life, chosen: Place) -> None:
        length_ms = self.length_ms(life)
        super().start(life, chosen)
        self.broken |= life.estimated_end_ms != self.now + length_ms

    def length_ms(self, life: Life) -> int:
        """How long a waiting job is expected to hold its GPUs."""
        return self.delay_ms(life) + max(1, math.ceil(self.remaining(life)))

    def open_gpus(self, life: Life, time_ms: float) -> set[Gpu]:
        """Those open to the job from then on."""
        end_ms = time_ms + self.length_ms(life)
        reserved = [r.place for r in self.plan if r.begin_ms < end_ms and r.end_ms > time_ms]
        held = [h.place for h in self.having("STARTING", "RUNNING", "STOPPING") if h.estimated_end_ms > time_ms]
        return self.up(every_gpu(self.nodes)).difference(*reserved, *held)

    def first_opening(self, life: Life) -> tuple[float, Place]:
        ends_ms = {h.estimated_end_ms for h in self.having("STARTING", "RUNNING", "STOPPING")}
        for time_ms in sorted(ends_ms | {r.end_ms for r in self.plan if r.end_ms < NEVER}):
            chosen = self.find_place(life, self.open_gpus(life, time_ms))
            if chosen is not None:
                return time_ms, chosen
        return NEVER, frozenset()


class Cycle(Pass):
    def __init__(self, world: PlanWorld, key: Key, depth: int, backfills_rest: bool) -> None:
        super().__init__(world)
        self.planned, self.key, self.depth, self.backfills_rest = world, key, depth, backfills_rest
        self.blocked: set[int] = set()
        """Nodes of jobs behind which others start in order alone."""

    def rank(self, life: Life) -> tuple[float, ...]:
        return -life.job.priority, self.key(life), life.row

    def holds_no_longer(self) -> bool:
        world = self.planned
        if world.broken or any(r.begin_ms < world.now for r in world.plan):
            return True
        ours = [r.life for r in world.plan]
        return any(self.rank(w) < self.rank(ours[-1]) for w in world.having("PENDING") if ours and w not in ours)

    def start_planned(self) -> bool:
        """Whether all could be started that were to start now."""
        for reservation in [r for r in self.planned.plan if r.begin_ms == self.world.now]:
            if not reservation.place <= self.world.free() or self.over_limit(reservation.life):
                return False
            self.start_on(reservation.life, reservation.place)
            self.planned.plan.remove(reservation)
        return True

    def opening_now(self, life: Life) -> Place | None:
        """Where it could start, whatever the limit of its queue."""
        return self.world.find_place(life, self.planned.open_gpus(life, self.world.now) & self.world.free())

    def some_could_start(self, untried: list[Life]) -> bool:
        return any(not self.is_closed(w) and self.opening_now(w) for w in untried)

    def run(self) -> None:
        if self.holds_no_longer():
            self.planned.plan, self.planned.broken = [], False
        if not self.start_planned():
            self.planned.plan, self.planned.broken = [], False
        self.planned.broken |= bool(self.world.rules.queue_limits)
        last = [self.rank(self.planned.plan[-1].life)] if self.planned.plan else []
        untried = sorted(self.world.having("PENDING"), key=self.rank)
        untried = [w for w in untried if not last or self.rank(w) > last[0]]
        while self.some_could_start(untried):
            life = untried.pop(0)
            if not self.is_closed(life):
                self.attempt(life)

    def attempt(self, life: Life) -> None:
        full = len(self.planned.plan) >= self.depth
        if full and not self.backfills_rest:
            self.attempt_in_order(life)
            return
        if not full and self.over_limit(life):
            return
        chosen = self.opening_now(life)
        if chosen is not None and not self.over_limit(life):
            self.start_on(life, chosen)
        elif not full:
            begin_ms, place = self.planned.first_opening(life)
            end_ms = begin_ms + self.planned.length_ms(life)
            self.planned.plan.append(Reservation(life, begin_ms, end_ms, place))

    def attempt_in_order(self, life: Life) -> None:
        """As `fifo`, behind the jobs of the plan."""
        for reservation in self.planned.plan:
            self.blocked |= self.world.eligible_nodes(reservation.life)
        nodes = self.world.eligible_nodes(life)
        if nodes <= self.blocked or self.over_limit(life):
            return
        if nodes & self.blocked or not self.start(life):
            self.blocked |= nodes


def conservative(world: PlanWorld) -> None:
    Cycle(world, by_row, world.settings.get("depth", 100), True).run()
