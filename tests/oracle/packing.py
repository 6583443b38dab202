"""Section 10, `gandiva-packing`: Gandiva's slices and moves where two jobs may be on a GPU."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from . import gandiva
from .gandiva import GandivaWorld
from .model import Place
from .network import NETWORK
from .placement import alternatives
from .policies import Pass
from .sharing import SharedLife, SharingWorld
from .speeds import CLUSTER, NODE, POD, RACK
from .world import Life, World


@dataclass
class PackingWorld(SharingWorld, GandivaWorld):
    pack_gain: float = 1.0
    began: dict[int, int] = field(default_factory=dict)
    """By row. (`running_from_ms` is when it got its rate.)"""

    def __post_init__(self) -> None:
        self.rules.knows_work = False

    def began_ms(self, life: Life) -> int:
        return self.began[life.row]

    def begin_to_run(self, life: Life) -> None:
        self.began[life.row] = self.now
        super().begin_to_run(life)

    def have_other_rate(self, life: Life) -> None:
        if life.row not in self.had_slice:
            self.count_slice(life)

    def rate_at(self, life: Life, level: int) -> float:
        first = next(filter(None, alternatives(self.nodes, life.job)))
        anywhere = POD if len({node.pod for node in self.nodes}) == 1 else CLUSTER
        locality = anywhere if level == NETWORK else NODE if level == 0 else RACK
        return self.speeds.rate_at(life.job, self.speeds.type_of_gang(first), locality)

    def shares(self, life: Life) -> bool:
        return any(len(self.on(gpu)) > 1 for gpu in life.place)

    def may_be_evicted(self, life: Life) -> bool:
        return super().may_be_evicted(life) and not self.shares(life)

    def may_be_moved(self, life: Life) -> bool:
        return not self.shares(life)


def world_of(params: Mapping[str, Any]) -> Callable[..., PackingWorld]:
    """With this policy's parameters."""
    ms = gandiva.params_of({name: value for name, value in params.items() if name != "pack_gain"})
    return partial(PackingWorld, **ms, pack_gain=params.get("pack_gain", 1.0))


def gandiva_packing(world: World) -> None:
    assert isinstance(world, PackingWorld)
    gandiva.slices(world, partial(pack, world))


def pack(world: PackingWorld, this: Pass, life: Life) -> bool:
    """Start the job on the GPUs of another, if its queue has room; one above its limit is not closed by this."""
    limit = world.rules.queue_limits.get(life.job.queue)
    if limit is not None and world.queue_held(life.job.queue) + life.job.gpus > limit:
        return False
    if life.job.per_node:
        return False
    shared = world.lives[life.row]
    for eligible in alternatives(world.nodes, life.job):
        gains = {row: gain for row, gain in partners(world, shared, eligible) if gain > world.pack_gain}
        if gains:
            best = min(gains, key=lambda row: (-gains[row], row))
            this.start_on(life, world.lives[best].place)
            return True
    return False


def partners(world: PackingWorld, life: SharedLife, eligible: list[int]) -> Iterator[tuple[int, float]]:
    """Rows of the jobs that it may be packed with in an alternative, and what is gained."""
    speeds = world.speeds
    for other in world.lives:
        alike = other.state == "RUNNING" and len(other.place) == life.job.gpus and not world.shares(other)
        if alike and fits(world, life, other.place, eligible):
            kind, a, b = speeds.type_of_gang(eligible), life.job.model, other.job.model
            yield other.row, 1 / speeds.xi(kind, a, b) + 1 / speeds.xi(kind, b, a)


def fits(world: PackingWorld, life: SharedLife, chosen: Place, eligible: list[int]) -> bool:
    before, life.steps = life.steps, 1
    found = all(node in eligible for node, _ in chosen) and world.has_room(life, chosen)
    life.steps = before
    return found
