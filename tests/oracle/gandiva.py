"""Section 7, `gandiva`: time slices and moves."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .model import Place
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
    slice_ends_ms: dict[int, int] = field(default_factory=dict)
    """Of running jobs, by row, as last counted."""
    made_way: set[int] = field(default_factory=set)
    """Rows of jobs that last became PENDING by a preemption."""

    def turn_ms(self, life: Life) -> int:
        """When it may have its like make way."""
        return life.pending_since_ms + (self.slice_ms if life.row in self.made_way else 0)

    def preempt(self, life: Life) -> None:
        self.made_way.add(life.row)
        super().preempt(life)

    def start(self, life: Life, chosen: Place) -> None:
        self.made_way.discard(life.row)
        super().start(life, chosen)

    def fail_jobs_of(self, node: int) -> None:
        on_node = {life.row for life in self.lives if any(at == node for at, _ in life.place)}
        super().fail_jobs_of(node)
        self.made_way -= on_node

    def began_ms(self, life: Life) -> int:
        """When it last began to run."""
        return life.running_from_ms

    def begin_to_run(self, life: Life) -> None:
        super().begin_to_run(life)
        self.had_slice.discard(life.row)
        self.count_slice(life)

    def count_slice(self, life: Life) -> None:
        self.slice_ends_ms[life.row] = self.protected_until_ms(life, self.began_ms(life), self.slice_ms)

    def due(self, life: Life) -> Iterator[int]:
        yield from super().due(life)
        if life.state == "RUNNING" and life.row not in self.had_slice:
            yield self.slice_ends_ms[life.row]
        if life.state == "PENDING" and self.turn_ms(life) > max(self.now, life.pending_since_ms):
            yield self.turn_ms(life)

    def apply_level(self) -> bool:
        for life in self.having("RUNNING"):
            if life.row not in self.had_slice and self.slice_ends_ms[life.row] <= self.now:
                self.count_slice(life)
                if self.slice_ends_ms[life.row] <= self.now:
                    self.had_slice.add(life.row)
                    self.changed = True
                return True
        return False

    def may_make_way(self, life: Life) -> bool:
        return life.row in self.had_slice

    def may_be_evicted(self, life: Life) -> bool:
        return self.may_make_way(life)

    def rank(self, life: Life) -> tuple[int, int, int]:
        return -life.job.priority, -self.began_ms(life), life.row


def params_of(params: Mapping[str, Any]) -> dict[str, int]:
    return {name.removesuffix("_s") + "_ms": max(1, to_ms(value)) for name, value in params.items()}


def gandiva(world: World) -> None:
    slices(world, lambda this, life: False)


def slices(world: World, pack: Callable[[Pass, Life], bool]) -> None:
    """`pack` may start a job that has no place on free GPUs."""
    assert isinstance(world, GandivaWorld)
    this = Pass(world)
    for life in this.waiting_in_order(world.turn_ms):
        if not this.is_closed(life) and not this.start(life) and not pack(this, life):
            early = world.turn_ms(life) > world.now
            this.evict_for(
                life,
                world.turn_ms,
                worse=lambda v, least=life.job.priority - early: world.may_be_evicted(v) and v.job.priority <= least,
                worst_first=world.began_ms,
            )
    improve_places(this, world, world.round_ms)
