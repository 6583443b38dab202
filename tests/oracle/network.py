"""Section 7, what policies that look at the network share: levels, places within a level, when to look for moves."""

from dataclasses import dataclass
from typing import Any

from .model import Gpu, Job, Place
from .placement import alternatives, locality, place_among
from .world import Life, World

NODE, RACK, NETWORK = range(3)


@dataclass
class NetworkWorld(World):
    changed: bool = False
    """Something happened since moves were last looked for that can make one possible."""
    look_ms: int | None = None
    """When there will be a pass to look for moves."""

    # -- levels of the network --------------------------------------------------------------------------

    def level_of(self, chosen: Place) -> int:
        return {0: NODE, 1: NODE, 2: RACK}.get(locality(self.nodes, chosen), NETWORK)

    def best_level(self, life: Life) -> int:
        first = next(filter(None, alternatives(self.nodes, life.job)))
        racks = [(self.nodes[node].pod, self.nodes[node].rack) for node in first]
        largest_node = max(self.nodes[node].gpus for node in first)
        largest_rack = max(
            sum(self.nodes[n].gpus for n, at in zip(first, racks, strict=True) if at == rack) for rack in racks
        )
        if life.job.per_node:
            return self.best_level_of_shape(life.job, first)
        return NODE if life.job.gpus <= largest_node else RACK if life.job.gpus <= largest_rack else NETWORK

    def best_level_of_shape(self, job: Job, admitted: list[int]) -> int:
        roomy = [n for n in admitted if self.nodes[n].gpus >= job.per_node]
        racks = [(self.nodes[n].pod, self.nodes[n].rack) for n in roomy]
        most = max((racks.count(rack) for rack in racks), default=0)
        return NODE if job.gpus == job.per_node else RACK if most * job.per_node >= job.gpus else NETWORK

    def rate_at(self, life: Life, level: int) -> float:
        anywhere = 3 if len({node.pod for node in self.nodes}) == 1 else 4
        return self.rules.rate(life.job, {NODE: 1, RACK: 2, NETWORK: anywhere}[level])

    def is_slower_beyond(self, life: Life, level: int, share: float) -> bool:
        return level < NETWORK and self.rate_at(life, level) > (1 + share) * self.rate_at(life, level + 1)

    def find_within(self, life: Life, free: set[Gpu], loosest: int) -> Place | None:
        """The tightest place under the first alternative that has one no looser than that."""
        for eligible in alternatives(self.nodes, life.job):
            chosen = place_among(self.nodes, eligible, life.job, free, "tightest")
            if chosen is not None and self.level_of(frozenset(chosen)) <= loosest:
                return frozenset(chosen)
        return None

    def find_anywhere(self, life: Life, free: set[Gpu]) -> Place | None:
        return self.find_within(life, free, NETWORK)

    # -- moves ------------------------------------------------------------------------------------------

    def may_make_way(self, life: Life) -> bool:
        """Whether this running job may be evicted and moved."""
        raise NotImplementedError

    def may_be_moved(self, life: Life) -> bool:
        """Whether it may be moved, if it may make way and would be faster elsewhere."""
        return True

    def rank(self, life: Life) -> tuple[Any, ...]:
        """Its place in the order in which moves are looked for."""
        raise NotImplementedError

    def become_pending(self, life: Life) -> None:
        self.changed |= bool(life.place)
        super().become_pending(life)

    def begin_to_run(self, life: Life) -> None:
        self.changed |= life.held_since_ms < self.now
        super().begin_to_run(life)

    def finish(self, life: Life) -> None:
        self.changed = True
        super().finish(life)

    def cancel(self, life: Life) -> None:
        self.changed |= bool(life.place)
        super().cancel(life)

    def end_claim(self, life: Life) -> None:
        self.changed |= self.has_claim(life)
        super().end_claim(life)

    def apply_script(self) -> None:
        self.changed = True
        super().apply_script()

    def next_event_ms(self) -> int | None:
        due = [at for at in (super().next_event_ms(), self.look_ms) if at is not None]
        return min(due, default=None)

    def apply_timer(self) -> bool:
        if super().apply_timer():
            return True
        if self.look_ms is not None and self.look_ms <= self.now:
            self.look_ms = None
            return True
        return False
