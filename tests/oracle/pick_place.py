"""Sections 7 and 12, `pick-place` and `pick-place-sjf`: a job picker and a GPU picker.

What is left to chance (the job picker `random`, the GPU picker `random`) is taken from what another program did, if it
was one of the choices.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .gpu_pickers import PICKERS, Edges, offer_of
from .model import Gpu, LogEntry, Place
from .placement import alternatives, has_enough
from .policies import Pass
from .world import Life, World

PARAMS = {"picker", "gpus", "strict"}
KEYS = {
    "fcfs": lambda life: 0,
    "sjf": lambda life: life.job.told_ms,
    "tetris": lambda life: -life.job.gpus,
    "drf": lambda life: life.job.gpus,
}


@dataclass
class PickPlaceWorld(World):
    picker: str = "fcfs"
    gpus: str = "nearest"
    strict: bool = True
    edges: Edges = field(default_factory=Edges)
    told: list[LogEntry] = field(default_factory=list)
    """What another program did and is yet to be done here; looked at where something is left to chance."""

    @property
    def by_chance(self) -> bool:
        return "random" in (self.picker, self.gpus)

    def offered(self, life: Life) -> set[Gpu]:
        """The free GPUs of the first alternative that has enough; none if none has."""
        for eligible in alternatives(self.nodes, life.job):
            found = {gpu for gpu in self.free() if gpu[0] in eligible}
            if has_enough(self.nodes, eligible, life.job, found):
                return found
        return set()

    def choose(self, life: Life) -> Place:
        if life.job.per_node:
            found = self.find_place(life, self.free())
            assert found is not None
            return found
        if self.gpus == "random":
            chosen = self.next_told(life)
            assert chosen is not None, f"at {self.now} ms the other program does not start job {life.row}"
            return chosen
        for eligible in alternatives(self.nodes, life.job):
            offer = offer_of(self.nodes, eligible, self.free(), self.edges)
            if sum(map(len, offer.free.values())) >= life.job.gpus:
                return PICKERS[self.gpus](offer, life.job.gpus).place()
        raise AssertionError("it does not fit")

    def next_told(self, life: Life) -> Place | None:
        """Where the other program starts this job next, if it does and may."""
        if not self.told or self.told[0][0] != self.now or self.told[0][2] != life.row:
            return None
        masks = self.told[0][3]
        chosen = frozenset((node, gpu) for node, mask in masks for gpu in range(mask.bit_length()) if mask >> gpu & 1)
        return chosen if len(chosen) == life.job.gpus and chosen <= self.offered(life) else None

    def start(self, life: Life, chosen: Place) -> None:
        super().start(life, chosen)
        if self.by_chance:
            assert self.told.pop(0) == self.log[-1]


def settings_of(policy: str, params: Mapping[str, Any]) -> dict[str, Any]:
    picker = "sjf" if policy == "pick-place-sjf" else params.get("picker", "fcfs")
    strict = params.get("strict", "fcfs")
    return {
        "picker": picker,
        "gpus": params.get("gpus", "nearest"),
        "strict": strict == "always" or (strict == "fcfs" and picker == "fcfs"),
    }


def pick_place(world: World) -> None:
    assert isinstance(world, PickPlaceWorld)
    this = Pass(world)
    if world.picker == "random":
        follow(this, world)
        return
    for life in this.waiting_in_order(KEYS[world.picker]):
        if this.is_closed(life):
            continue
        if world.offered(life):
            if not this.over_limit(life):
                this.start_on(life, world.choose(life))
        elif world.strict:
            return


def follow(this: Pass, world: PickPlaceWorld) -> None:
    """Any of the first priority may be next; a job that was drawn and found above its queue's limit leaves no trace
    but that its queue is closed, so its queue may be.
    """
    may_be_closed: set[str] = set()
    while True:
        first, drawn = may_be_drawn(world, may_be_closed)
        above = {life.job.queue for life in drawn if world.offered(life) and above_limit(world, life)}
        if not above <= may_be_closed:
            may_be_closed |= above
            continue
        chosen = [life for life in drawn if is_next(world, life) and not above_limit(world, life)]
        if not chosen:
            stops = world.strict and any(not world.offered(life) for life in drawn)
            left = [life.row for life in drawn if life.job.queue not in may_be_closed and life.job.priority == first]
            assert stops or not left, f"at {world.now} ms one of {left} could be started"
            return
        this.start_on(chosen[0], world.choose(chosen[0]))


def is_next(world: PickPlaceWorld, life: Life) -> bool:
    """Whether the other program starts it next; on other GPUs than it gets now, that is in a later pass of the
    instant.
    """
    place = world.next_told(life)
    return place is not None and place == world.choose(life)


def may_be_drawn(world: PickPlaceWorld, may_be_closed: set[str]) -> tuple[int | None, list[Life]]:
    """The priority of which one is drawn if those queues are closed, and all that may be drawn if they are or not."""
    looked_at = [life for life in world.having("PENDING") if world.strict or world.offered(life)]
    surely = [life.job.priority for life in looked_at if life.job.queue not in may_be_closed]
    first = max(surely, default=None)
    return first, [life for life in looked_at if first is None or life.job.priority >= first]


def above_limit(world: World, life: Life) -> bool:
    limit = world.rules.queue_limits.get(life.job.queue)
    return limit is not None and world.queue_held(life.job.queue) + life.job.gpus > limit
