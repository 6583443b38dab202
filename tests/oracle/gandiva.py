"""Section 7, `gandiva`: time slices and moves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .moving import improve_places
from .network import NetworkWorld
from .policies import Pass
from .world import Life, World, to_ms

PARAMS = {"slice_s", "round_s"}


@dataclass
class GandivaWorld(NetworkWorld):
    slice_ms: int = 60_000
    round_ms: int = 60_000
    had_slice: set[int] = field(default_factory=set)
    """Rows of running jobs whose slice has ended."""
    told: set[int] = field(default_factory=set)
    """Rows of waiting jobs that may evict."""

    def slice_ends_ms(self, life: Life) -> int:
        return life.running_from_ms + self.slice_ms

    def begin_to_run(self, life: Life) -> None:
        super().begin_to_run(life)
        self.had_slice.discard(life.row)

    def due(self, life: Life) -> Iterator[int]:
        yield from super().due(life)
        if life.state == "RUNNING" and life.row not in self.had_slice:
            yield self.slice_ends_ms(life)
        if life.state == "PENDING" and life.row not in self.told:
            yield self.may_evict_from_ms(life)

    def apply_level(self) -> bool:
        for life in self.having("RUNNING"):
            if life.row not in self.had_slice and self.slice_ends_ms(life) <= self.now:
                self.had_slice.add(life.row)
                self.changed = True
                return True
        return False

    def may_evict_from_ms(self, life: Life) -> int:
        return life.pending_since_ms + (self.slice_ms if life.preemptions else 0)

    def apply_timer(self) -> bool:
        for life in self.having("PENDING"):
            if life.row not in self.told and self.may_evict_from_ms(life) <= self.now:
                self.told.add(life.row)
                return True
        return super().apply_timer()

    def become_pending(self, life: Life) -> None:
        super().become_pending(life)
        self.told.discard(life.row)
        if self.may_evict_from_ms(life) <= self.now:
            self.told.add(life.row)

    def may_make_way(self, life: Life) -> bool:
        return life.row in self.had_slice

    def rank(self, life: Life) -> tuple[int, int, int]:
        return -life.job.priority, -life.running_from_ms, life.row


def params_of(params: Mapping[str, Any]) -> dict[str, int]:
    return {name.removesuffix("_s") + "_ms": max(1, to_ms(value)) for name, value in params.items()}


def gandiva(world: World) -> None:
    assert isinstance(world, GandivaWorld)
    this = Pass(world)
    looked_at: set[int] = set()
    while waiting := [life for life in world.having("PENDING") if life.row not in looked_at]:
        life = min(waiting, key=lambda life: (-life.job.priority, life.pending_since_ms, life.row))
        looked_at.add(life.row)
        running = world.having("RUNNING")
        if not this.is_closed(life) and not this.start(life) and world.may_evict_from_ms(life) <= world.now:
            this.evict_for(
                life,
                worse=lambda v, j=life: world.may_make_way(v) and v.job.priority <= j.job.priority,
                worst_first=lambda v: v.running_from_ms,
            )
        looked_at -= {victim.row for victim in running if victim.state == "PENDING"}
    improve_places(this, world, world.round_ms)
